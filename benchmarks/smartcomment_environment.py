"""An environment for smartcomment, which needs a newer Python than MemTrace does: made once, kept in the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.context import UnavailableError, say

VERSION = "0.1.2"
_OLDEST = (3, 12)
_NAMES = ("python3.12", "python3.13", "python3.14", "python3.15", "python3")


def environment(cache: Path) -> tuple[Path, str]:
    """The interpreter of the environment, and its version.

    Raises:
        UnavailableError: no Python is new enough, or smartcomment can't be installed.
    """
    python, version = newest_python()
    folder = cache / f"smartcomment-{VERSION}-python{version}"
    inside = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    ready = folder / "ready"
    if not ready.exists():
        say(f"making an environment for smartcomment {VERSION} with Python {version}")
        shutil.rmtree(folder, ignore_errors=True)
        run_tool(python, "-m", "venv", str(folder))
        run_tool(str(inside), "-m", "pip", "install", "--quiet", f"smartcomment=={VERSION}")
        ready.touch()
    return inside, version


def newest_python() -> tuple[str, str]:
    """A Python that smartcomment runs on, and its version.

    Raises:
        UnavailableError: there is none.
    """
    found = next(((python, version) for python in _candidates() if (version := _version(python)) is not None), None)
    if found is None:
        oldest = ".".join(map(str, _OLDEST))
        raise UnavailableError(f"smartcomment needs Python {oldest} or newer, and none was found")
    return found


def _candidates() -> Iterator[str]:
    if named := os.environ.get("MEMTRACE_BENCH_PYTHON"):
        yield named
    yield sys.executable
    yield from filter(None, map(shutil.which, _NAMES))
    yield from sorted(map(str, (Path.home() / ".pyenv" / "versions").glob("*/bin/python")))


def _version(python: str) -> str | None:
    """The version of a Python, None where it is too old or does not run (a shim without a version behind it)."""
    asked = subprocess.run(
        [python, "-c", "import sys; print(*sys.version_info[:3], sep='.')"], capture_output=True, text=True, check=False
    )
    version = asked.stdout.strip()
    if asked.returncode or tuple(map(int, version.split("."))) < _OLDEST:
        return None
    return version


def run_tool(*arguments: str) -> None:
    """Run a command of an installation; what fails is told.

    Raises:
        UnavailableError: it failed.
    """
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise UnavailableError(f"its environment can't be made: {said[-1] if said else 'no reason given'}")
