"""What a data set holds: conversations, each with the questions that are asked about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Message:
    """Something that was said.

    Attributes:
        id: unique in its conversation; evidence refers to it.
        speaker: who said it.
        text: what was said.
        time: when; None where the data set does not say.
    """

    id: str
    speaker: str
    text: str
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting of a conversation. ``id`` is unique in the conversation."""

    id: str
    messages: tuple[Message, ...]
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation.

    Attributes:
        id: unique in its conversation.
        text: the question.
        gold: answers that are right, each by itself; none where the data set holds that it can't be answered.
        evidence: ids of the messages that say so, as far as the data set knows them.
        kind: the data set's own word for what sort of question it is.
        after: the id of the last message that has been said when it is asked; None where all have been said.
    """

    id: str
    text: str
    gold: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    kind: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one user said over time, and what is asked about it. ``user`` is unique in the data set."""

    user: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """The conversations of a file.

    Attributes:
        form: the name of the form, such as ``locomo``.
        conversations: in the order of the file.
        unknown_evidence: references of questions to messages that the file does not have, as ``user question
            reference``.
    """

    form: str
    conversations: tuple[Conversation, ...]
    unknown_evidence: tuple[str, ...] = ()
