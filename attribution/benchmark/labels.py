"""Labels that stand in a file of their own: one JSON object a line, for failures that are named by external ids.

``{"trace": "name of the graph's file", "query_id": ..., "prediction_id": ..., "primary": {"type": ..., "op": ...},
"also": [{"type": ..., "op": ...}], "several": true}``: any other key that is true is a kind of question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from schema.errors import InputError
from schema.kinds import ErrorType

_NO_KIND = frozenset({"agreed"})
_SUFFIXES = (".zst", ".gz", ".json")
PLAIN = "plain"
"""The kind of a question that is of no other."""


class _Named(msgspec.Struct):
    type: ErrorType
    op: str | None


class _Line(msgspec.Struct):
    query_id: str
    primary: _Named
    prediction_id: str | None = None
    trace: str | None = None
    also: list[_Named] = []


@dataclass(frozen=True, slots=True)
class Labelled:
    """One line of a file of labels.

    Attributes:
        record: the line, with all of its keys.
        primary: error type, and external id of the operation; None where there is none.
        also: other verdicts that are as good.
        kinds: of the question; ``plain`` alone where the line names none.
    """

    record: dict[str, Any]
    trace: str | None
    question: str
    prediction: str | None
    primary: tuple[ErrorType, str | None]
    also: frozenset[tuple[ErrorType, str | None]]
    kinds: frozenset[str]


def read_labels(path: Path) -> list[Labelled]:
    """The lines of a file of labels.

    Raises:
        InputError: the file can't be read, or a line is no label; it says which.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(str(path), "", f"can't be read: {error.strerror or error}") from error
    found = [_label(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise InputError(str(path), "", "holds no label")
    return found


def _label(path: Path, number: int, line: bytes) -> Labelled:
    try:
        one = msgspec.json.decode(line, type=_Line)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise InputError(str(path), f"line {number}", str(error)) from error
    record: dict[str, Any] = msgspec.json.decode(line)
    kinds = frozenset(key for key, value in record.items() if value is True and key not in _NO_KIND)
    return Labelled(
        record,
        one.trace,
        one.query_id,
        one.prediction_id,
        (one.primary.type, one.primary.op),
        frozenset((also.type, also.op) for also in one.also),
        kinds or frozenset({PLAIN}),
    )


def labels_of(labels: Sequence[Labelled], path: Path) -> dict[tuple[str, str | None], Labelled]:
    """The labels of a graph file, by external ids of question and prediction; without a trace they are any's."""
    name = trace_name(path)
    return {(one.question, one.prediction): one for one in labels if one.trace in {None, name}}


def label_of(
    labels: Mapping[tuple[str, str | None], Labelled], question: str, prediction: str | None
) -> Labelled | None:
    """The label of a failure, by external ids; one that names no prediction is that of any to its question."""
    return labels.get((question, prediction)) or labels.get((question, None))


def trace_name(path: Path) -> str:
    """The name of a graph file without the endings that say its form."""
    name = path.name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name
