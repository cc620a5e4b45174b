"""The protocol of a memory system that can be run over a data set."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Message:
    """Something that was said.

    Attributes:
        id: unique in its conversation.
        speaker: who said it.
        text: what was said; the recorder knows this very object as the message.
        time: when, if that is known.
        session: the sitting of the conversation that it belongs to.
    """

    id: str
    speaker: str
    text: str
    time: datetime | None
    session: str


class Program(Protocol):
    """A memory system for one user. Each method may also be a coroutine."""

    def prompts(self) -> Mapping[str, str] | Awaitable[Mapping[str, str]]:
        """The prompts that may be changed, by name; an empty mapping if there are none."""
        ...

    def add(self, messages: Sequence[Message]) -> object:
        """Remember what was said in one sitting, in order."""
        ...

    def answer(self, question: str) -> str | Awaitable[str]:
        """Answer a question from what is remembered."""
        ...


@runtime_checkable
class SavedProgram(Program, Protocol):
    """A program whose memory lies outside of its process and its folder, such as in a database of its own.

    Both methods are left out by all others. What was there before the first message is saved, and put back in the end,
    and whenever the program begins once more: after it was stopped, with other prompts, or in a replay.
    """

    def save(self, path: Path) -> object:
        """Write what the memory holds of the user into a folder, which exists and is empty."""
        ...

    def restore(self, path: Path) -> object:
        """Make the memory hold of the user what was saved in a folder, and nothing else. The folder stays as it is."""
        ...


class ProgramFactory(Protocol):
    """Makes a program: a class, or a function."""

    def __call__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> Program | Awaitable[Program]:
        """A program with an empty memory.

        Args:
            user: whose memory it is.
            prompts: texts to use in place of the usual ones, by name; a prompt that is not named stays as it is.
            folder: an empty folder of its own, for files of its memory.
        """
        ...
