"""The wire events, version 1: one JSON object for each event, several events as lines (NDJSON).

Programs that read events use these models; ``python -m memtrace.events`` prints the JSON Schema. The recorder does not
use the models: it builds the same objects as plain dictionaries, ten times faster.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import datetime
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel

from memtrace.kinds import (
    MAX_ID_CHARACTERS,
    MAX_NAME_CHARACTERS,
    MAX_SAID,
    MAX_SAID_CHARACTERS,
    DerivationKind,
    EndStatus,
    OperationKind,
    VariableKind,
)

EVENT_VERSION = 1

_SHOWN_CHARACTERS = 80
_HALF = re.compile("[\\ud800-\\udfff]")
_WRITTEN = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
"""Halves of surrogate pairs: JSON may contain them, but UTF-8 has no bytes for a half, so the text can't be stored."""


_TIME_PATTERN = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$"
_TIME = re.compile(_TIME_PATTERN, re.ASCII)


def _checked_time(value: object) -> object:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not _TIME.match(value):
        raise ValueError("expected a time in UTC such as 2030-01-31T12:00:00.000000Z")
    return value


def _written_time(value: datetime) -> str:
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


UtcTime = Annotated[
    datetime,
    BeforeValidator(_checked_time),
    PlainSerializer(_written_time, return_type=str),
    WithJsonSchema({"type": "string", "pattern": _TIME_PATTERN}),
]


class EventError(ValueError):
    """A line that is not an event of this version; the message names the field and what is wrong with it."""


Id = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARACTERS)]
Role = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS)]
Said = Annotated[str, Field(max_length=MAX_SAID_CHARACTERS)]
Count = Annotated[int, Field(ge=0, lt=2**53, strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Attributes = dict[str, JsonValue]


class _Model(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, hide_input_in_errors=True, allow_inf_nan=False
    )


class _Event(_Model):
    v: Annotated[Literal[1], Field(description="Version of the wire.")] = 1
    trace: Id
    time: UtcTime


class TraceEvent(_Event):
    """A trace exists. A later event of the trace repeats or adds to its name and attributes."""

    type: Literal["trace"] = "trace"
    name: Name | None = None
    attributes: Attributes = Field(default_factory=dict)


class SessionEvent(_Event):
    """A session, a named stage of the trace, begins."""

    type: Literal["session"] = "session"
    session: Id
    name: Name | None = None
    category: str | None = None
    comment: str | None = None
    attributes: Attributes = Field(default_factory=dict)


class OperationStarted(_Event):
    """An operation begins. An operation without an end is running, or its process crashed."""

    type: Literal["operationStarted"] = "operationStarted"
    operation: Id
    session: Id | None = None
    parent: Id | None = None
    name: Name
    kind: OperationKind
    category: str | None = None
    comment: str | None = None
    location: str | None = None
    attributes: Attributes = Field(default_factory=dict)


class Failed(_Model):
    """Why an operation ended with an error."""

    type: str
    message: str


class OperationEnded(_Event):
    """An operation ended."""

    type: Literal["operationEnded"] = "operationEnded"
    operation: Id
    status: EndStatus
    error: Failed | None = None
    attributes: Attributes | None = None


class Base(_Model):
    """The beginning of a value: the first ``kept`` characters (Unicode code points) of another variable's value.

    ``size`` is the size of the resulting value in bytes of UTF-8. If the other variable's value was cut to less than
    ``kept``, the cut value is the result, and counts as cut.
    """

    variable: Id
    kept: Count
    size: Count


class VariableEvent(_Event):
    """A value at one moment. Without ``operation`` the value came from outside.

    If little of a value is new, ``base`` names the variable whose value is the beginning, and ``value`` is the rest.
    ``size`` is the size of the whole value in bytes if the value was cut (``truncated``). A value that ``operation``
    only read and returned is an occurrence of the variable ``reads``; ``occurrence`` counts these from 1.

    A unit that outlives its process has an id that every process can compute (``memtrace.stored_units``). A reader
    sends the unit with ``stored: mentioned``; the variable then exists, with an unknown maker. The writer sends the
    unit with ``stored: written``, earlier or later. If two operations write the same unit, the first is the maker.
    """

    type: Literal["variable"] = "variable"
    variable: Id
    name: Name
    kind: VariableKind
    class_name: str | None = None
    version: Count
    value: str
    media_type: Literal["text/plain", "application/json"]
    operation: Id | None = None
    role: Role | None = None
    revision_of: Id | None = None
    reads: Id | None = None
    occurrence: Annotated[int, Field(ge=1, lt=2**53, strict=True)] | None = None
    session: Id | None = None
    category: str | None = None
    comment: str | None = None
    truncated: Flag | None = None
    size: Count | None = None
    base: Base | None = None
    stored: Literal["written", "mentioned"] | None = None
    attributes: Attributes = Field(default_factory=dict)


class Used(_Event):
    """An operation used a variable."""

    type: Literal["used"] = "used"
    operation: Id
    variable: Id
    role: Role | None = None
    position: Count


class Derived(_Event):
    """``target`` was made from ``source`` by ``operation``.

    With ``stored`` the derivation belongs to the writing of a stored unit. The platform leaves the derivation out if
    another operation made the unit.
    """

    type: Literal["derived"] = "derived"
    derivation: Id
    source: Id
    target: Id
    operation: Id
    kind: DerivationKind
    comment: str | None = None
    stored: Flag = False


class Invalidated(_Event):
    """An operation ended the life of a variable, as a deletion does."""

    type: Literal["invalidated"] = "invalidated"
    variable: Id
    operation: Id


class Considered(_Event):
    """A retrieval had this variable as the candidate of ``rank`` (from 0); ``returned``: whether it was returned."""

    type: Literal["considered"] = "considered"
    operation: Id
    query: Id
    variable: Id
    rank: Count
    score: Annotated[float, Field(allow_inf_nan=False)] | None = None
    returned: Flag


class Feedback(_Event):
    """The answer was wrong. Without ``question``, the question is the query in the graph that led to the answer.

    ``gold`` are right answers; ``evidence`` are the messages that tell a right answer. A later event of the same answer
    replaces both. With ``right`` the answer was right, and the platform keeps no other field.
    """

    type: Literal["feedback"] = "feedback"
    answer: Id
    question: Id | None = None
    gold: Annotated[list[Said], Field(max_length=MAX_SAID)] = Field(default_factory=list)
    evidence: Annotated[list[Id], Field(max_length=MAX_SAID)] = Field(default_factory=list)
    comment: Said | None = None
    right: Flag = False


Event = (
    TraceEvent
    | SessionEvent
    | OperationStarted
    | OperationEnded
    | VariableEvent
    | Used
    | Derived
    | Invalidated
    | Considered
    | Feedback
)


@cache
def _adapter() -> TypeAdapter[Event]:
    return TypeAdapter(Annotated[Event, Field(discriminator="type")])


@cache
def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(parse_constant=_refuse_constant)


def encode(event: Event) -> bytes:
    """One event as JSON, without a line end."""
    return event.model_dump_json(by_alias=True, exclude_none=True).encode()


def decode(line: bytes | str) -> Event:
    """The event in a line of JSON.

    Raises:
        EventError: The line is no event of this version, or contains text that is not valid Unicode; the message names
            the field.
    """
    try:
        text = line if isinstance(line, str) else line.decode(json.detect_encoding(line), "surrogatepass")
        found: object = _decoder().decode(text)
    except (ValueError, RecursionError) as error:
        raise EventError(f"not JSON: {error}") from None
    if isinstance(found, dict) and _may_have_half(text) and (place := _place_of_half(found)) is not None:
        raise EventError(f"{place}: text that is not valid Unicode can't be stored (half of a surrogate pair)")
    return from_object(found)


def from_object(found: object) -> Event:
    """The event in a parsed JSON value.

    Raises:
        EventError: The value is no event of this version; the message names the field.
    """
    if not isinstance(found, dict):
        raise EventError(f"expected a JSON object, got {type(found).__name__}")
    if found.get("v") != EVENT_VERSION or isinstance(found["v"], bool):
        version = repr(found.get("v"))[:_SHOWN_CHARACTERS] if "v" in found else "no version"
        raise EventError(f"v: {version} is not supported; this side reads version {EVENT_VERSION}")
    try:
        return _adapter().validate_python(found)
    except ValidationError as error:
        raise EventError(_explained(error)) from None


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of one event."""
    schema = _adapter().json_schema(by_alias=True, mode="validation")
    title = f"MemTrace wire event, version {EVENT_VERSION}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def _may_have_half(text: str) -> bool:
    """Whether JSON text may contain half of a pair. Also true for an escaped whole pair: ``_place_of_half`` decides."""
    return _WRITTEN.search(text) is not None


def _place_of_half(found: object) -> str | None:
    """The path of a field that contains half of a surrogate pair, in a parsed JSON value; None if no field does."""
    waiting: list[tuple[str, object]] = [("", found)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, str) and _HALF.search(value):
            return place
        if isinstance(value, dict):
            if any(_HALF.search(key) for key in value):
                return f"{place} (a key)" if place else "a key"
            waiting += [(f"{place}.{key}".lstrip(".")[:_SHOWN_CHARACTERS], item) for key, item in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{place}.{index}"[:_SHOWN_CHARACTERS], item) for index, item in enumerate(value)]
    return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _explained(error: ValidationError) -> str:
    first, *others = error.errors(include_url=False, include_input=False)
    place = ".".join(str(part) for part in first["loc"][1:])  # the first part of the place is the type
    more = f" (and {len(others)} more)" if others else ""
    # The name of an unknown field may be anything, so it is not repeated.
    shown = place[:_SHOWN_CHARACTERS].encode("utf-8", "backslashreplace").decode()
    return f"{shown or 'type'}: {first['msg']}{more}"


if __name__ == "__main__":
    sys.stdout.write(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")
