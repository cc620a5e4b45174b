"""A program's memory outside of its process and folder: saved before the first message, and restored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from memtrace.program.loading import ProgramError
from memtrace.program.protocol import SavedProgram
from memtrace.replay.seams import keep, state

_NAME = "memory of the program"
"""The memory's name among the memories that a replay restores."""


class OutsideMemory:
    """The memory that ``save`` and ``restore`` of a program reach.

    Args:
        program: has both methods.
        result: waits for a coroutine and returns its result; returns other values unchanged.
    """

    def __init__(self, program: SavedProgram, result: Callable[[Any], Any]) -> None:
        self._program = program
        self._result = result
        self._saved: Path | None = None

    @classmethod
    def of(cls, name: str, program: Any, result: Callable[[Any], Any]) -> Self | None:
        """The outside memory of a program; None if the program has neither method.

        Raises:
            ProgramError: the program has only one of the two methods.
        """
        has = {one: callable(getattr(program, one, None)) for one in ("save", "restore")}
        if has["save"] != has["restore"]:
            there, missing = ("save", "restore") if has["save"] else ("restore", "save")
            raise ProgramError(f"{name} has a method {there}() and no {missing}(): both belong together")
        return cls(program, result) if has["save"] else None

    def save(self, path: Path) -> None:
        """Save the memory in a folder."""
        self._result(self._program.save(path))

    def restore(self, path: Path) -> None:
        """Restore the memory from a folder."""
        self._saved = path
        self._result(self._program.restore(path))

    def begin(self, saved: Path | None) -> None:
        """Restore a saved memory, or else save the memory.

        Args:
            saved: the folder of the saved memory; None in a replay, which has another folder.
        """
        if saved is not None and saved.exists():
            self.restore(saved)
        elif saved is not None:
            keep(self, saved)
            self._saved = saved
        state(_NAME, self)

    def put_back(self) -> None:
        """Restore the memory of the beginning, if it is saved."""
        if self._saved is not None:
            self.restore(self._saved)
