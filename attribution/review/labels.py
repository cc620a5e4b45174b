"""Labels: people's verdicts on failures as lines of a file. Each line is a JSON object; all names are external ids.

``{"trace": "name of the graph's file", "query_id": ..., "prediction_id": ..., "primary": {"type": ..., "op": ...},
"also": [{"type": ..., "op": ...}], "several": true, "sure": 0.9, "why": ..., "author": ...}``: any other key with the
value true is a kind of question.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError

from ingest.files.opening import STANDARD_INPUT
from schema.error_type_names import error_type_meant
from schema.errors import InputError
from schema.kinds import ErrorType
from schema.outside_json import JsonError, read_json
from store.contract.verdict_changes import ADJUDICATED

PLAIN = "plain"
"""The kind of a question without another kind."""

_ALWAYS = frozenset({"trace", "prediction_id", "primary"})
"""Keys that are written in each line, even with the value null."""

_NO_KIND = frozenset({"agreed", ADJUDICATED})
_LISTED = 10
"""How many bad lines are named besides the first."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def _meant(value: Any) -> Any:
    return error_type_meant(value) if isinstance(value, str) else value


class Blame(BaseModel):
    """An error type, and the external id of the operation at fault; None without an operation."""

    model_config = ConfigDict(frozen=True)

    type: Annotated[ErrorType, BeforeValidator(_meant)]
    op: StrictStr | None = None


class Label(BaseModel):
    """A verdict on a failure by one person, or by several who agree.

    Attributes:
        trace: the name of the graph's file without its endings, or the trace's name, id or external id; None if
            question, answer and operations identify the trace.
        query_id: external id of the question.
        prediction_id: external id of the answer; None if the question has only one.
        primary: error type and operation; None for an abstention.
        also: further verdicts accepted by the person.
        sure: the person's confidence, from 0 to 1.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    trace: StrictStr | None = None
    query_id: StrictStr
    prediction_id: StrictStr | None = None
    primary: Blame | None
    also: tuple[Blame, ...] = Field(default=(), max_length=100)
    sure: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    why: Annotated[StrictStr, Field(max_length=20_000)] | None = None
    author: Annotated[StrictStr, Field(min_length=1, max_length=200)] | None = None

    @property
    def more(self) -> dict[str, Any]:
        """All other keys."""
        return dict(self.model_extra or {})

    @property
    def is_final(self) -> bool:
        """Whether the label is the final word on a disputed case."""
        return self.more.get(ADJUDICATED) is True

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of the question; ``plain`` if the label names none."""
        named = frozenset(key for key, value in self.more.items() if value is True and key not in _NO_KIND)
        return named or frozenset({PLAIN})

    def line(self) -> bytes:
        """The label as a line of a file."""
        said = self.model_dump(mode="json")
        said = {key: value for key, value in said.items() if value is not None or key in _ALWAYS}
        return msgspec.json.encode(said) + b"\n"


@dataclass(frozen=True, slots=True)
class NumberedLabel:
    """A label and the number of its line, from 1."""

    number: int
    label: Label


def read_labels(path: Path) -> list[NumberedLabel]:
    """Read a file of labels; ``Path("-")`` is standard input.

    Raises:
        InputError: the file can't be read, or has invalid lines, which are named.
    """
    try:
        data = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    except OSError as error:
        raise InputError(str(path), "", f"can't be read: {error.strerror or error}") from error
    return labels_of(data, str(path))


def labels_of(data: bytes, file: str) -> list[NumberedLabel]:
    """Parse the content of a file of labels.

    Args:
        data: the content.
        file: name of the file in errors.

    Raises:
        InputError: there are invalid lines, which are named.
    """
    lines = data.removeprefix(_BYTE_ORDER_MARK).splitlines()
    found: list[NumberedLabel] = []
    problems: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if len(problems) > 1 + _LISTED:
            break  # the message names no more
        if not line.strip():
            continue
        try:
            found.append(NumberedLabel(number, Label.model_validate(read_json(line))))
        except JsonError as error:
            problems.append((number, f"is no JSON object: {error}"))
        except ValidationError as error:
            problems.append((number, _problem(error)))
    if problems:
        number, problem = problems[0]
        raise InputError(file, f"line {number}", f"{problem}{_others(one for one, _ in problems[1:])}")
    if not found:
        raise InputError(file, "", "holds no label")
    return found


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    problem = first["msg"].removeprefix("Value error, ")
    return f"{place}: {problem}" if place else problem


def _others(numbers: Iterable[int]) -> str:
    listed = list(numbers)
    if not listed:
        return ""
    more = ", …" if len(listed) > _LISTED else ""
    return f" (no labels either: line {', '.join(map(str, listed[:_LISTED]))}{more})"
