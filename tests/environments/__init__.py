"""Environments with packages that MemTrace itself does not need: made once from a lock, and kept in the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from platformdirs import user_cache_path

REQUIRED = "MEMTRACE_REQUIRE_ENVIRONMENTS"
"""With this set, a test fails if its environment can't be made; otherwise it is skipped."""

_HERE = Path(__file__).parent


def environment(name: str) -> Path:
    """The interpreter of an environment with the packages of ``NAME.txt``, and this checkout's recorder."""
    lock = _HERE / f"{name}.txt"
    digest = sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:16]
    folder = user_cache_path("memtrace", appauthor=False) / "environments" / f"{name}-{digest}"
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
        try:
            _make(unfinished, lock)
            (unfinished / "ready").touch()
            if not ready.exists():
                shutil.rmtree(folder, ignore_errors=True)
                unfinished.rename(folder)
        except (OSError, subprocess.CalledProcessError) as error:
            if os.environ.get(REQUIRED):
                raise
            pytest.skip(f"the environment {name} can't be made: {error}")
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return python


def _make(folder: Path, lock: Path) -> None:
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    python = folder / "bin" / "python"
    if uv is not None:
        _run(uv, "venv", "--quiet", "--python", sys.executable, str(folder))
        _run(uv, "pip", "install", "--quiet", "--python", str(python), "--require-hashes", "-r", str(lock))
    else:
        _run(sys.executable, "-m", "venv", str(folder))
        _run(str(python), "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(lock))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
