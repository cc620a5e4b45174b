"""The memory of a program that lies outside of it: kept as it was before anything was said, and put back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from memtrace.program.loading import ProgramError
from memtrace.program.protocol import SavedProgram
from memtrace.replay.seams import keep, state

_NAME = "memory of the program"
"""What it is called among the memories that a replay needs."""


class OutsideMemory:
    """What ``save`` and ``restore`` of a program reach.

    Args:
        program: has both methods.
        result: waits for what a coroutine gives.
    """

    def __init__(self, program: SavedProgram, result: Callable[[Any], Any]) -> None:
        self._program = program
        self._result = result
        self._saved: Path | None = None

    @classmethod
    def of(cls, name: str, program: Any, result: Callable[[Any], Any]) -> Self | None:
        """That of a program; None where it has none.

        Raises:
            ProgramError: it has one of the methods without the other.
        """
        has = {one: callable(getattr(program, one, None)) for one in ("save", "restore")}
        if has["save"] != has["restore"]:
            there, missing = ("save", "restore") if has["save"] else ("restore", "save")
            raise ProgramError(f"{name} has a method {there}() and no {missing}(): both belong together")
        return cls(program, result) if has["save"] else None

    def save(self, path: Path) -> None:
        """Write what it holds into a folder."""
        self._result(self._program.save(path))

    def restore(self, path: Path) -> None:
        """Make it hold what a folder has."""
        self._saved = path
        self._result(self._program.restore(path))

    def begin(self, saved: Path | None) -> None:
        """Begin with what is kept, or keep what is there.

        Args:
            saved: where it is kept; None in a replay, which has a place of its own.
        """
        if saved is not None and saved.exists():
            self.restore(saved)
        elif saved is not None:
            keep(self, saved)
            self._saved = saved
        state(_NAME, self)

    def put_back(self) -> None:
        """Make it hold again what it held in the beginning, if that is kept."""
        if self._saved is not None:
            self.restore(self._saved)
