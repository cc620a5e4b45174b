"""The protocol of data sets' forms, and their common checks and parsing of times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from optimization.harness.datasets.model import Conversation, Question
from schema.errors import InputError

R = TypeVar("R", bound="Record")


class DatasetForm(Protocol):
    """A published form of data sets."""

    name: str

    def recognises(self, content: Any) -> bool:
        """Whether the parsed content of a file has this form, judged by field names."""
        ...

    def read(self, source: str, content: Any) -> list[Conversation]:
        """The conversations of a file.

        Args:
            source: the file's name in messages.
            content: the file's parsed JSON.

        Raises:
            InputError: the content breaks the rules of the form; the message names the place in the file.
        """
        ...


class Record(BaseModel):
    """A record of a published file: unknown fields are ignored, declared fields must have the right type."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


def record(model: type[R], value: object, source: str, place: str) -> R:
    """Parse a part of a file as a record.

    Raises:
        InputError: a field is missing or has another type; the message names the field.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        inner = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
        raise InputError(source, f"{place}{inner}".lstrip("."), first["msg"]) from None


def listed(value: object, source: str, place: str) -> Sequence[Any]:
    """Check that a part of a file is a list, and return it.

    Raises:
        InputError: the part is no list.
    """
    if not isinstance(value, list):
        raise InputError(source, place, f"must be a list, not {type(value).__name__}")
    return value


def point_in_time(text: str, forms: Iterable[str], source: str, place: str) -> datetime:
    """Parse a time without a zone; it counts as UTC.

    Args:
        text: the time.
        forms: possible formats, for ``strptime``.
        source: the file's name in messages.
        place: the place in the file.

    Raises:
        InputError: no format fits.
    """
    known = list(forms)
    for form in known:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise InputError(source, place, f"{text[:60]!r} is no time of the form {' or '.join(known)}")


def iso_time(text: str | None, source: str, place: str) -> datetime | None:
    """Parse a time in ISO 8601; a time without a zone counts as UTC.

    Raises:
        InputError: ``text`` is no time.
    """
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(source, place, f"{text[:60]!r} is no time in ISO 8601") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def checked(conversation: Conversation, source: str, place: str) -> Conversation:
    """Check a conversation's ids and its questions' positions, and return the conversation.

    Raises:
        InputError: two sessions, messages or questions have the same id; there is no message; or a question comes after
            an unknown message.
    """
    messages = [message.id for session in conversation.sessions for message in session.messages]
    if not messages:
        raise InputError(source, place, f"the conversation of {conversation.user!r} has no message")
    for what, ids in (
        ("sessions", [session.id for session in conversation.sessions]),
        ("messages", messages),
        ("questions", [question.id for question in conversation.questions]),
    ):
        if twice := _first_twice(ids):
            raise InputError(source, place, f"two {what} have the id {twice!r}")
    known = set(messages)
    for question in conversation.questions:
        if not question.text.strip():
            raise InputError(source, place, f"the question {question.id!r} has no text")
        if question.after is not None and question.after not in known:
            raise InputError(
                source,
                place,
                f"the question {question.id!r} comes after the message {question.after!r}, which is not there",
            )
    return conversation


def with_known_evidence(conversation: Conversation) -> tuple[Conversation, list[str]]:
    """The conversation without its references to unknown messages, and the removed references."""
    known = {message.id for session in conversation.sessions for message in session.messages}
    unknown: list[str] = []
    questions: list[Question] = []
    for question in conversation.questions:
        evidence = tuple(dict.fromkeys(one for one in question.evidence if one in known))
        unknown += [f"{conversation.user} {question.id} {one}" for one in question.evidence if one not in known]
        questions.append(replace(question, evidence=evidence))
    return Conversation(conversation.user, conversation.sessions, tuple(questions)), unknown


def _first_twice(ids: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            return one
        seen.add(one)
    return None
