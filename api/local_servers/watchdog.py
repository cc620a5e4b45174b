"""Kills a process when the watchdog's own starter has ended, even by SIGKILL. Run this module as a script.

Arguments: the process id and its creation time (seconds since the epoch). The starter holds the other end of
standard input and never writes: the operating system closes it when the starter ends, even by SIGKILL.
"""

from __future__ import annotations

import sys

import psutil


def main(pid: int, created: float) -> None:
    """Wait for the end of standard input, then kill the process unless another process has its pid by now."""
    sys.stdin.buffer.read()
    try:
        process = psutil.Process(pid)
        if abs(process.create_time() - created) < 2:
            process.kill()
    except psutil.NoSuchProcess:
        return


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
