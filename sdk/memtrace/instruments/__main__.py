"""``python -m memtrace.instruments [--instrument NAMES] [--] python app.py``: ``memtrace run`` without the platform."""

from __future__ import annotations

import argparse
import sys

from memtrace.instruments.run import environment, start


def main() -> int:
    """Run a program and record it; a mistake in the command gives one line and exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m memtrace.instruments", description="Run a program and record it.")
    parser.add_argument("--instrument", default="", metavar="NAMES", help="such as mem0,openai; default: all")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the program with its arguments")
    said = parser.parse_args()
    command = said.command[1:] if said.command[:1] == ["--"] else said.command
    names = [name.strip() for name in said.instrument.split(",") if name.strip()]
    try:
        return start(command, environment(names))
    except ValueError as mistake:
        sys.stderr.write(f"{parser.prog}: {mistake}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
