"""Changes of a memory that no recorded operation made: reads that differ from the unit, and emptied stores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from attribution.text.tokens import carries, words
from attribution.trace.graph import TraceGraph
from attribution.trace.vain_searches import found_nothing, sees_all, units_at
from schema.kinds import STORED, DerivationKind, OperationKind, VariableKind
from schema.models import Variable
from schema.outside_json import JsonError, read_json

_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class ChangedRead:
    """A read whose value is not the value of the unit.

    Attributes:
        read: the variable that an operation read.
        unit: the newest recorded version of the unit at that time.
    """

    read: str
    unit: str


async def changed_reads(graph: TraceGraph, before: int | None = None) -> list[ChangedRead]:
    """The reads that show an unrecorded change, in order.

    Args:
        graph: the trace.
        before: only reads of operations up to this place in the order count; None means all.
    """
    pairs = [
        (one.id, derivation.source)
        for one in graph.variables.values()
        for derivation in graph.parents(one.id)
        if derivation.kind is DerivationKind.READ
        and graph.variables[derivation.source].kind in STORED
        and graph.variables[derivation.source].value_hash != one.value_hash
        and (before is None or graph.place(one.id) <= before)
    ]
    texts = await graph.texts(one for pair in pairs for one in pair)
    return [ChangedRead(read, unit) for read, unit in pairs if _differs(graph, read, unit, texts[read], texts[unit])]


async def changed_elsewhere(graph: TraceGraph, past: AbstractSet[str]) -> list[ChangedRead]:
    """The units in an answer's past that a store gave out with another text than the recorded process wrote, in order.

    Another program, or code beside the instrumented package, wrote into the store.
    """
    known: dict[tuple[str, str], list[str]] = {}
    outside: list[tuple[str, str]] = []
    for one in graph.variables.values():
        key = _stored_as(one) if one.kind is VariableKind.MEMORY_UNIT and graph.is_recorded(one.id) else None
        if key is None:
            continue
        if one.operation_id is not None:
            known.setdefault(key, []).append(one.id)
        elif one.id in past and key in known:
            outside.append((one.id, known[key][-1]))
    hashes = ((graph.variables[read].value_hash, graph.variables[unit].value_hash) for read, unit in outside)
    return [ChangedRead(*pair) for pair, (now, before) in zip(outside, hashes, strict=True) if now != before]


def _stored_as(variable: Variable) -> tuple[str, str] | None:
    """The store and the id of a unit there; None for a unit of no store."""
    if '"storeId"' not in variable.attributes:
        return None
    said = read_json(variable.attributes)
    return (str(said.get("store")), str(said.get("storeId"))) if isinstance(said, dict) else None


def emptied(graph: TraceGraph, asked: Iterable[str], before: int) -> tuple[str, Sequence[str]] | None:
    """A search that found nothing although no limit explains it, and the units that it should have found.

    Args:
        graph: the trace.
        asked: the question, and what was made from it on the way to the answer.
        before: the place of the answering operation.
    """
    searches = {
        operation_id
        for one in asked
        for operation_id in graph.users(one)
        if graph.operations[operation_id].kind is OperationKind.RETRIEVAL
        and graph.operations[operation_id].sequence < before
    }
    for search in sorted(searches, key=lambda one: graph.operations[one].sequence):
        if not found_nothing(graph, search):
            continue
        units = units_at(graph, graph.operations[search].sequence)
        if sees_all(graph, search, units):
            return search, units
    return None


def _differs(graph: TraceGraph, read: str, unit: str, now: str, before: str) -> bool:
    """Whether a read shows a change, and not only another form or a part of the unit."""
    if graph.variables[read].media_type == _JSON == graph.variables[unit].media_type:
        return _parsed(now) != _parsed(before)  # stores may change the order of keys
    new, old = _telling(now), _telling(before)
    return bool(new - old) and bool(old - new)


def _parsed(text: str) -> object:
    try:
        return read_json(text)
    except JsonError:
        return text


def _telling(text: str) -> set[str]:
    return {word for _, word in words(text) if carries(word) and not word[0].isdigit()}
