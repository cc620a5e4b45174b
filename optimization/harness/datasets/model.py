"""The model of a data set: conversations with questions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation.

    Attributes:
        id: unique in the conversation; evidence refers to message ids.
        speaker: name or role of the speaker.
        text: the message.
        time: time of the message; None if the data set has none.
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
        id: unique in the conversation.
        text: the question.
        gold: alternative right answers; empty if the question can't be answered.
        evidence: ids of the messages that contain the answer, as far as the data set names them.
        kind: the data set's own word for the kind of question.
        after: id of the last message before the question; None if the question comes after all messages.
        time: when the question is asked; None if the data set does not say.
    """

    id: str
    text: str
    gold: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    kind: str | None = None
    after: str | None = None
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """One user's sessions, and the questions about them. ``user`` is unique in the data set."""

    user: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """The conversations of a file.

    Attributes:
        form: name of the form, such as ``locomo``.
        conversations: in the order of the file.
        unknown_evidence: questions' references to messages that are not in the file, as ``user question reference``.
    """

    form: str
    conversations: tuple[Conversation, ...]
    unknown_evidence: tuple[str, ...] = ()
