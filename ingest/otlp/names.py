"""What the elements that are made of spans are called, and which of their attributes say where they come from.

The same span always gives the same names, so that it may come again, late, or in another request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from memtrace.kinds import MAX_ID_CHARACTERS

OTEL = "otel"
"""The attribute under which operations and variables of spans keep what OpenTelemetry says of them."""

INPUT, OUTPUT = "input", "output"


def operation_name(trace_id: str, span_id: str) -> str:
    """The operation of a span."""
    return f"{trace_id}-{span_id}"


def variable_name(operation: str, side: str, place: int) -> str:
    """A variable of a span."""
    return f"{operation}/{side}/{place}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a variable of a span is.

    Attributes:
        operation: the name of the span's operation.
    """

    trace_id: str
    operation: str
    side: str


def place_of(variable: str) -> Place | None:
    """Where a variable is, by its name; None if it is of no span."""
    operation, slash, rest = variable.partition("/")
    side = rest.partition("/")[0]
    if not slash or side not in {INPUT, OUTPUT} or len(operation) != 49 or operation[32] != "-":
        return None
    return Place(operation[:32], operation, side)


def edge_name(source: str, target: str) -> str:
    """The derivation of a variable from another one."""
    return short(f"{source}>{target}")


def short(name: str) -> str:
    """An id that is not longer than ids may be; a long one ends in its hash."""
    if len(name) <= MAX_ID_CHARACTERS:
        return name
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{name[: MAX_ID_CHARACTERS - 33]}-{digest}"


def said(attributes: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What OpenTelemetry says of an element; None if it is of no span."""
    found = attributes.get(OTEL)
    return found if isinstance(found, dict) else None
