"""Conversations, the questions about them, and the faults that can be put into an agent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .model import words


@dataclass(frozen=True)
class Message:
    """One message: ``D<session>:<turn>``, both counted from 1."""

    name: str
    text: str


@dataclass(frozen=True)
class Question:
    """What is asked when a session is over.

    Attributes:
        name: what the variable of the question is called.
        gold: the answer that counts as right.
        evidence: names of the messages that tell it.
    """

    name: str
    text: str
    gold: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Session:
    """One conversation, followed by questions."""

    name: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Fault:
    """A step that goes wrong once.

    Attributes:
        name: the option of ``--fault``.
        operation: the faulty step.
        at: words in the input of the step that trigger the fault.
        breaks: name of the question that the fault makes wrong.
        error_type: the error type that attribution should find.
        says: a description of the fault.
    """

    name: str
    operation: str
    at: str
    breaks: str
    error_type: str
    says: str

    def hits(self, name: str, given: str) -> bool:
        """Whether this fault has the given name, and the step's input triggers it."""
        return name == self.name and self.at in given


NO_FAULT = Fault("none", "", "", "", "", "nothing")


@dataclass(frozen=True)
class Reply:
    """The answer to a question."""

    question: Question
    text: str

    @property
    def is_right(self) -> bool:
        """Whether it says every word of the gold answer."""
        return set(words(self.question.gold)) <= set(words(self.text))


def sessions(*sittings: tuple[Iterable[str], Iterable[Question]]) -> tuple[Session, ...]:
    """Sessions of texts and questions, with the names of the messages."""
    return tuple(
        Session(
            f"session {number}",
            tuple(Message(f"D{number}:{turn}", text) for turn, text in enumerate(texts, 1)),
            tuple(questions),
        )
        for number, (texts, questions) in enumerate(sittings, 1)
    )
