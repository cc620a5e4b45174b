"""Names of the elements that are made from spans.

A name depends on nothing but the span, so a span may be sent again, late, or in another request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from memtrace.kinds import MAX_ID_CHARACTERS

OTEL = "otel"
"""The attribute in which a span's operation and variables keep OpenTelemetry's data."""

INPUT, OUTPUT = "input", "output"

PLAIN = "other"
"""The dialect of spans that say nothing of a model or a memory, in their operations' data of OpenTelemetry."""


def operation_name(trace_id: str, span_id: str) -> str:
    """The name of a span's operation."""
    return f"{trace_id}-{span_id}"


def variable_name(operation: str, side: str, place: int) -> str:
    """The name of a span's variable, such as ``chat/input/0``: operation, side, and position on that side from 0."""
    return f"{operation}/{side}/{place}"


@dataclass(frozen=True, slots=True)
class NameParts:
    """The parts of the name of a span's variable.

    Attributes:
        operation: the name of the span's operation.
    """

    trace_id: str
    operation: str
    side: str


def name_parts(variable: str) -> NameParts | None:
    """Parse a variable's name; None if the variable belongs to no span."""
    operation, slash, rest = variable.partition("/")
    side = rest.partition("/")[0]
    if not slash or side not in {INPUT, OUTPUT} or len(operation) != 49 or operation[32] != "-":
        return None
    return NameParts(operation[:32], operation, side)


def edge_name(source: str, target: str) -> str:
    """The name of the derivation of ``target`` from ``source``."""
    return short(f"{source}>{target}")


def short(name: str) -> str:
    """An id within the limit for ids; a longer one is cut and ends in its hash."""
    if len(name) <= MAX_ID_CHARACTERS:
        return name
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{name[: MAX_ID_CHARACTERS - 33]}-{digest}"


def said(attributes: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """OpenTelemetry's data in an element's attributes; None if the element belongs to no span."""
    found = attributes.get(OTEL)
    return found if isinstance(found, dict) else None
