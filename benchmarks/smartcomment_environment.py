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
    found = next(((python, version) for python in _candidates() if (version := _version(python)) is not None), None)
    if found is None:
        oldest = ".".join(map(str, _OLDEST))
        raise UnavailableError(f"smartcomment needs Python {oldest} or newer, and none was found")
    python, version = found
    folder = cache / f"smartcomment-{VERSION}-python{version}"
    inside = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    ready = folder / "ready"
    if not ready.exists():
        say(f"making an environment for smartcomment {VERSION} with Python {version}")
        shutil.rmtree(folder, ignore_errors=True)
        _run(python, "-m", "venv", str(folder))
        _run(str(inside), "-m", "pip", "install", "--quiet", f"smartcomment=={VERSION}")
        ready.touch()
    return inside, version


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


def _run(*arguments: str) -> None:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise UnavailableError(f"smartcomment {VERSION} can't be installed: {said[-1] if said else 'no reason given'}")
