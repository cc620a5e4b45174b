"""Starts a program that is recorded: ``memtrace run -- python app.py``, or ``python -m memtrace.instruments ...``.

The program takes the place of this process, so that signals, exit code, input and output are its own. The recorder must
be installed in the program's environment; this is tried before.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from memtrace.instruments.registry import WATCHED
from memtrace.mistakes import MistakeError, meant

_STARTED = "import sys; sys.exit('memtrace.instruments.start' not in sys.modules)"


def environment(instruments: Sequence[str] = (), more: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """The environment in which a program is recorded.

    Args:
        instruments: names of instruments; without names, ``MEMTRACE_INSTRUMENT`` decides, or else all.
        more: further variables; a variable whose value is None stays as it is.

    Raises:
        ValueError: No instrument has the name; the message names the nearest one.
    """
    names = [meant("instrument", name, WATCHED) for name in instruments if name != "all"]
    said = os.environ | {name: value for name, value in (more or {}).items() if value is not None}
    if instruments:
        said["MEMTRACE_INSTRUMENT"] = "all" if "all" in instruments else ",".join(names)
    elif not said.get("MEMTRACE_INSTRUMENT", "").strip():
        said["MEMTRACE_INSTRUMENT"] = "all"
    return said


def start(command: Sequence[str], settings: Mapping[str, str]) -> int:
    """Run a program in the place of this process; on Windows, run a child process and wait.

    Returns:
        The exit code of the child process.

    Raises:
        ValueError: The program does not exist, or the recorder is not installed in its environment.
    """
    path = checked(command, settings)
    if os.name == "posix":
        sys.stdout.flush()
        sys.stderr.flush()
        os.execve(path, list(command), dict(settings))  # noqa: S606 (the user's own command)
    return subprocess.run([path, *command[1:]], env=dict(settings), check=False).returncode


def checked(command: Sequence[str], settings: Mapping[str, str]) -> str:
    """The path of a program that can be run and recorded.

    Raises:
        ValueError: The program does not exist, or the recorder is not installed in its environment.
    """
    if not command:
        raise MistakeError("name the program to run, such as: memtrace run -- python app.py")
    path = shutil.which(command[0], path=settings.get("PATH"))
    if path is None:
        raise MistakeError(f"there is no program {command[0]!r} that can be run")
    interpreter = interpreter_of(path)
    if interpreter is not None:
        _try(interpreter, settings)
    return path


def interpreter_of(path: str) -> str | None:
    """The Python that runs a program: the program itself or the first line of a script; None if unknown."""
    if Path(path).name.startswith(("python", "pypy")):
        return path
    with Path(path).open("rb") as program:
        first = program.readline(1_000)
    if not first.startswith(b"#!"):
        return None
    words = first[2:].decode("utf-8", "replace").split()
    if words and Path(words[0]).name == "env":
        words = [shutil.which(words[-1]) or ""]
    return words[0] if words and Path(words[0]).name.startswith(("python", "pypy")) else None


def _try(interpreter: str, settings: Mapping[str, str]) -> None:
    quiet = {**settings, "MEMTRACE_INSTRUMENT": settings["MEMTRACE_INSTRUMENT"]}
    tried = subprocess.run([interpreter, "-c", _STARTED], env=quiet, capture_output=True, text=True, check=False)
    if tried.returncode:
        why = f" ({tried.stderr.strip().splitlines()[-1]})" if tried.stderr.strip() else ""
        raise MistakeError(
            f"the recorder is not installed in the environment of the program{why}: install memtrace-recorder there, "
            f"with {interpreter} -m pip install and the checkout's folder sdk or its wheel"
        )
