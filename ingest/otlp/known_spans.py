"""The newest spans of the traces that a worker is writing, kept in memory so that no part of a trace is read twice."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from ingest.otlp.names import OTEL, PLAIN, name_parts, operation_name
from ingest.otlp.rules import Node, Turn, Value
from schema.models import Operation, Variable

MOST_SPANS = 5_000
"""Largest number of spans of a trace that new spans are compared with: the newest ones."""

MOST_TEXT_BYTES = 16 << 20
"""Largest total size of the values of a trace that are kept; older spans are compared without their values."""

MOST_BYTES = 64 << 20
"""Largest total size of all traces that a worker keeps, in bytes of memory."""

_ENTRIES = frozenset({"server", "consumer"})
"""Kinds of spans that a request or message from outside the program begins."""

_NODE_BYTES, _VALUE_BYTES = 1_000, 500
"""Estimated memory of a span and of a variable without its text."""


@dataclass(slots=True)
class KnownSpans:
    """The newest spans of one trace.

    Attributes:
        nodes: the spans by the names of their operations, the first to come first.
        next: the next place of an operation in the trace, when the spans were last read.
        is_whole: whether these are all spans of the trace.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    next: int = 0
    is_whole: bool = True

    def add(self, operations: Iterable[Operation], variables: Iterable[Variable], values: Mapping[str, bytes]) -> None:
        """Add or replace spans and their variables; variables of unknown spans are left out.

        Args:
            operations: operations of spans; other operations are left out.
            variables: variables; those of no span are left out.
            values: the values that are too long for their variables, by hash.
        """
        for operation in operations:
            node = _node(operation)
            if node is not None:
                known = self.nodes.get(node.name)
                self.nodes[node.name] = node if known is None else replace(node, values=known.values)
        added: dict[str, list[Value]] = {}
        for variable in variables:
            place = name_parts(variable.external_id)
            if place is not None and place.operation in self.nodes and not variable.occurrence:
                value = _value(variable, place.side, values)
                if value is not None:
                    added.setdefault(place.operation, []).append(value)
        for name, some in added.items():
            by_name = {one.name: one for one in self.nodes[name].values} | {one.name: one for one in some}
            self.nodes[name].values = sorted(by_name.values(), key=lambda value: (value.side, value.rank))

    def trim(self) -> int:
        """Drop the oldest spans above ``MOST_SPANS``, and the oldest texts above ``MOST_TEXT_BYTES``.

        Returns:
            The estimated memory of the rest, in bytes.
        """
        surplus = len(self.nodes) - MOST_SPANS
        if surplus > 0:
            self.is_whole = False
            for name in list(self.nodes)[:surplus]:
                del self.nodes[name]
        texts = 0
        size = 0
        for node in reversed(self.nodes.values()):
            own = sum(sys.getsizeof(value.text) for value in node.values if value.text)
            if own and texts + own > MOST_TEXT_BYTES:
                node.values = [replace(value, text=None) for value in node.values]
            else:
                texts += own
            size += _NODE_BYTES + _VALUE_BYTES * len(node.values)
        return size + texts


class SpanMemory:
    """The known spans of several traces; the traces that were used longest ago are forgotten first."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._held: OrderedDict[tuple[str, str], tuple[KnownSpans, int]] = OrderedDict()
        self._size = 0

    def take(self, project_id: str, trace: str) -> KnownSpans | None:
        """Remove and return the spans of a trace; None if they are not remembered."""
        known, size = self._held.pop((project_id, trace), (None, 0))
        self._size -= size
        return known

    def keep(self, project_id: str, trace: str, known: KnownSpans) -> None:
        """Remember the spans of a trace."""
        size = known.trim()
        self.take(project_id, trace)
        self._held[project_id, trace] = known, size
        self._size += size
        while self._size > self._most and self._held:
            _, (_, dropped) = self._held.popitem(last=False)
            self._size -= dropped

    def forget(self, is_wanted: Callable[[str, str], bool]) -> None:
        """Forget the traces for whose project and name ``is_wanted`` is true; others may write to them from now on."""
        for key in [key for key in self._held if is_wanted(*key)]:
            self.take(*key)


def newest_texts(variables: Collection[Variable], most: int = MOST_TEXT_BYTES) -> list[Variable]:
    """The newest variables whose values have to be read, with at most ``most`` bytes of values together."""
    found = []
    for variable in reversed(list(variables)):
        if variable.value is None and name_parts(variable.external_id):
            most -= variable.size
            if most < 0:
                break
            found.append(variable)
    return found


def keys_of(nodes: Mapping[str, Node], new: AbstractSet[str]) -> list[str]:
    """The ids of the units and documents that new spans wrote, read or deleted, without repetition."""
    found: dict[str, None] = {}
    for name in new & nodes.keys():
        node = nodes[name]
        found |= dict.fromkeys(value.key[1] for value in node.values if value.key is not None)
        if node.deletes is not None and node.deletes[1] is not None:
            found[node.deletes[1]] = None
    return list(found)


def _node(operation: Operation) -> Node | None:
    said = msgspec.json.decode(operation.attributes).get(OTEL)
    if not isinstance(said, dict) or not isinstance(of_trace := said.get("traceId"), str):
        return None
    parent, deletes = said.get("parentSpanId"), said.get("deletes")
    return Node(
        operation.external_id,
        of_trace,
        operation_name(of_trace, parent) if parent else None,
        frozenset(operation_name(*link) for link in said.get("links", ())),
        (deletes["store"] or "", deletes["id"]) if deletes else None,
        operation.started_at,
        is_plain=said.get("dialect") == PLAIN,
        is_entry=said.get("kind") in _ENTRIES,
        turn=_turn(said.get("turn")),
    )


def _turn(said: Any) -> Turn | None:
    if not isinstance(said, dict) or not isinstance(said.get("answer"), int):
        return None
    return Turn(said.get("asked"), said["answer"], said.get("session"))


def _value(variable: Variable, side: str, values: Mapping[str, bytes]) -> Value | None:
    place = variable.external_id.rpartition("/")[2]
    attributes = msgspec.json.decode(variable.attributes)
    said = attributes.get(OTEL, {})
    if variable.created_at is None or not place.isdecimal() or not isinstance(said, dict):
        return None  # another recorder may have given it such a name
    text = variable.value
    if text is None and variable.value_hash in values:
        text = values[variable.value_hash].decode()
    return Value(
        variable.external_id,
        side,
        variable.created_at,
        None if "content" in said else text,
        None if "content" in said else variable.value_hash,
        (said.get("store") or "", said["id"]) if "id" in said else None,
        said.get("writes") is True,
        int(place),
        attributes.get("score"),
    )
