"""The protocol of a memory system that can be run over a data set."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        id: unique in the conversation.
        speaker: the name of the speaker.
        text: the text; the recorder knows this object as the message.
        time: the time of the message, if known.
        session: the session of the conversation.
    """

    id: str
    speaker: str
    text: str
    time: datetime | None
    session: str


class Program(Protocol):
    """A memory system for one user. Each method may also be a coroutine."""

    def prompts(self) -> Mapping[str, str] | Awaitable[Mapping[str, str]]:
        """The changeable prompts, by name; an empty mapping without changeable prompts."""
        ...

    def add(self, messages: Sequence[Message]) -> object:
        """Remember the messages of one session, in order."""
        ...

    def answer(self, question: str) -> object:
        """Answer a question from the memory: a text, or anything that can be printed.

        If the method has an argument ``time``, or takes any named argument, it is called with ``time=...`` (a
        ``datetime``) for questions that are asked at a known time.
        """
        ...


@runtime_checkable
class SavedProgram(Program, Protocol):
    """A program whose memory lies outside of its process and its folder, such as in a database of its own.

    Other programs have neither method. The memory before the first message is saved. It is restored at the end, and
    whenever the program begins again: after a stop, with other prompts, or in a replay.
    """

    def save(self, path: Path) -> object:
        """Write the user's part of the memory into an empty folder."""
        ...

    def restore(self, path: Path) -> object:
        """Replace the user's part of the memory by the content saved in a folder. The folder does not change."""
        ...


class ProgramFactory(Protocol):
    """Makes a program: a class, or a function."""

    def __call__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> Program | Awaitable[Program]:
        """A program with an empty memory.

        Args:
            user: the owner of the memory.
            prompts: texts in place of the default prompts, by name; other prompts keep their default.
            folder: an empty folder for files of this program's memory.
        """
        ...
