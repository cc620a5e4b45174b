"""Virtual environments of applications that are recorded: real packages, in the versions of a lock of this folder.

``NAME.in`` says what is wanted, and ``NAME.lock`` pins it with hashes; ``python -m tests.environments NAME...`` writes
locks anew. The packages are installed once for each lock, in ``~/.cache/memtrace/environments``
(``MEMTRACE_TEST_ENVIRONMENTS``), with ``uv`` where that is installed and else with ``pip``, and used again later.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

HERE = Path(__file__).parent
SDK = HERE.parents[1] / "sdk"


def params_of(*names: str) -> list[ParameterSet]:
    """Parameters of a test, of which the first runs in `make test` and all others only in `make test-all`."""
    return [pytest.param(name, marks=pytest.mark.full if name != names[0] else ()) for name in names]


NEWER: dict[str, str] = {"smartcomment": "3.12"}
"""The oldest Python for packages that need a newer one than MemTrace does."""

ALONE = frozenset({"small-model"})
"""Environments without dependencies: of a package only its files are used, such as the weights of a model."""


def python(name: str, of: str = sys.executable) -> Path:
    """Build an environment if needed, with this checkout's recorder, and return its interpreter.

    Args:
        name: of the environment.
        of: the interpreter that builds the environment.
    """
    lock = HERE / f"{name}.lock"
    packages = _built(f"{name}-{_digest(of, lock.read_bytes())}", lambda home: _install_packages(home, lock, of))
    # That of a checkout has little but the way to both, so that each clone need not install the packages anew.
    home = _built(f"{name}-{_digest(of, lock.read_bytes(), SDK)}", lambda home: _make(home, of))
    pths = {
        "memtrace_a_packages.pth": f"import site; site.addsitedir({str(_site_packages(packages))!r})\n",
        "memtrace_checkout.pth": f"{SDK}\n",
        # What an editable installation of the recorder would leave there.
        "memtrace_recorder.pth": (SDK / "memtrace_recorder.pth").read_text(),
    }
    for file, content in pths.items():
        path = _site_packages(home) / file
        if not path.exists() or path.read_text() != content:
            path.write_text(content)
    return home / "bin" / "python"


def _digest(of: str, lock: bytes, *more: object) -> str:
    made_with = [sys.version, sys.base_prefix] if of == sys.executable else [of]
    return blake2b(lock + " ".join([*made_with, *map(str, more)]).encode(), digest_size=8).hexdigest()


def _built(name: str, build: Callable[[Path], None]) -> Path:
    """A folder of the cache, which is built once."""
    cache = Path(os.environ.get("MEMTRACE_TEST_ENVIRONMENTS") or Path.home() / ".cache" / "memtrace" / "environments")
    cache.mkdir(parents=True, exist_ok=True)
    home = cache / name
    with (cache / f"{name}.building").open("w") as building:
        fcntl.flock(building, fcntl.LOCK_EX)  # several test processes may want it at once
        if not (home / "ready").exists():
            shutil.rmtree(home, ignore_errors=True)
            build(home)
            (home / "ready").touch()
    return home


def _make(home: Path, of: str) -> None:
    subprocess.run([of, "-m", "venv", "--without-pip", home], check=True)


def _install_packages(home: Path, lock: Path, of: str) -> None:
    subprocess.run([of, "-m", "venv", *(["--without-pip"] if _uv() else []), home], check=True)
    # What is imported is compiled then: most of it never is.
    install = (
        [_uv(), "pip", "install", "--python", home / "bin" / "python"]
        if _uv()
        else [home / "bin" / "pip", "install", "--no-compile"]
    )
    alone = ["--no-deps"] if lock.stem in ALONE else []
    done = subprocess.run(
        [str(part) for part in (*install, *alone, "--quiet", "--require-hashes", "-r", lock)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{lock.name} can't be installed:\n{done.stderr[-2000:]}")


def _site_packages(home: Path) -> Path:
    (found,) = home.glob("lib/python*/site-packages")
    return found


def _uv() -> str | None:
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.exists() else shutil.which("uv")


def write_lock(name: str) -> None:
    """Pin the newest versions that ``NAME.in`` allows."""
    uv = _uv()
    if uv is None:
        raise SystemExit("uv is needed to write locks: pip install uv")
    options = ["--universal", "--python-version", NEWER.get(name, "3.11"), "--generate-hashes", "--no-emit-index-url"]
    options += ["--no-emit-find-links", "--no-header", "--upgrade", "--quiet"]
    options += ["--no-deps"] if name in ALONE else []
    wanted, lock = f"tests/environments/{name}.in", f"tests/environments/{name}.lock"
    subprocess.run([uv, "pip", "compile", wanted, *options, "-o", lock], check=True, cwd=HERE.parents[1])
