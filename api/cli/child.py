"""Runs a program as a child process that behaves as if it had been started by itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import FrameType

_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")


def run_child(path: str, command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program with this process's input and output; signals to this process go on to the program.

    Returns:
        The exit code, or 128 and the number of the signal that ended the program, as shells say it.

    Raises:
        OSError: the program can't be started.
    """
    child: subprocess.Popen[bytes] | None = None
    waiting: list[int] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if child is None:
            waiting.append(number)
        elif not (number in _TYPED and _is_in_foreground()):  # the terminal itself tells all of its foreground
            child.send_signal(number)

    numbers = [getattr(signal, name) for name in _PASSED_ON if hasattr(signal, name)]
    before = {number: signal.signal(number, pass_on) for number in numbers if _is_heard(number)}
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        child = subprocess.Popen(list(command), executable=path, env=dict(environment))
        for number in waiting:
            child.send_signal(number)
        code = child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


_TYPED = {signal.SIGINT, getattr(signal, "SIGQUIT", signal.SIGINT)}
"""Signals of keys."""


def _is_heard(number: int) -> bool:
    """Whether the signal is not ignored: a program under nohup goes on ignoring the end of its terminal."""
    return signal.getsignal(number) is not signal.SIG_IGN


def _is_in_foreground() -> bool:
    """Whether keys of the terminal, such as Ctrl-C, reach this process and its child."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
