"""Searches that found nothing, and the units that the recorded filters and thresholds kept from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from attribution.text.tokens import tokens
from attribution.trace.graph import TraceGraph
from schema.kinds import STORED, OperationKind, VariableKind
from schema.models import Operation, Variable

_NOTHING = frozenset({"", "none", "null"})
_MARKS = " \t\r\n[]{}()\"',:."
_OWNERS = ("user_id", "agent_id", "run_id", "app_id")
_LIMITS = ("filters", "filter", "namespace", "threshold", "offset")
"""Attributes of a recorded search that may leave units out."""
_MOST = ("limit", "top_k")
"""Attributes with the largest number of units that a search may return."""
_SEVERAL = 2
"""A unit with this number of the question's words is about the question."""
_BESIDE = frozenset({VariableKind.REFINED_QUERY, VariableKind.QUERY, VariableKind.PROMPT})
"""Kinds of variables that a search makes besides its results."""


def says(text: str) -> bool:
    """Whether a text is more than an empty list, ``null`` or the like."""
    return text.strip(_MARKS).casefold() not in _NOTHING


def found_nothing(graph: TraceGraph, search: str) -> bool:
    """Whether a search made no result, or only empty ones."""
    return not any(
        says(graph.variables[one].preview) for one in graph.made(search) if graph.variables[one].kind not in _BESIDE
    )


def units_at(graph: TraceGraph, place: int) -> list[str]:
    """The memory units that were current just before a place in the order of operations."""
    current = [graph.current_version(versions, place) for versions in graph.lineages(graph.variables)]
    return [one for one in current if one is not None and graph.variables[one].kind is VariableKind.MEMORY_UNIT]


def vain_searches(graph: TraceGraph) -> list[Operation]:
    """The searches with recorded limits that found nothing although the memory had units, in order."""
    vain = [
        one
        for one in graph.operations.values()
        if one.kind is OperationKind.RETRIEVAL and found_nothing(graph, one.id) and limits(one)
    ]
    return [one for one in vain if units_at(graph, one.sequence)]


def limits(operation: Operation) -> str:
    """The recorded limits of a search, for people, such as ``agent_id=assistant-1``; empty if none is recorded."""
    said = attributes(operation)
    found = []
    for name in _LIMITS:
        value = said.get(name)
        if isinstance(value, Mapping):
            found += [f"{key}={_short(item)}" for key, item in value.items()]
        elif value not in (None, "", 0):
            found.append(f"{name}={_short(value)}")
    return ", ".join(found)


def largest_number(graph: TraceGraph, search: str) -> int:
    """The recorded number of units that a search may return, if it returned so many; else 0."""
    said = attributes(graph.operations[search])
    most = next((said[name] for name in _MOST if isinstance(said.get(name), int)), 0)
    found = sum(graph.variables[one].kind in STORED for one in graph.made(search))
    return most if 0 < most <= found else 0


def sees_all(graph: TraceGraph, search: str, units: Sequence[str]) -> bool:
    """Whether a search that found nothing should have found one of the units: no recorded limit leaves all out.

    Only an instrument records what limits a search. It then names the store.
    """
    said = attributes(graph.operations[search])
    if "store" not in said or said.get("threshold") or said.get("offset"):
        return False
    if any(graph.variables[one].kind in STORED for one in graph.used(search)):
        return False  # candidates were weighed, and none was good enough
    if isinstance(said.get("filter"), str):
        return False
    narrow = {**_mapping(said.get("filters")), **_mapping(said.get("filter"))}
    owners = [key for key in narrow if key in _OWNERS]
    if len(owners) != len(narrow) or len(owners) > 1:
        return False
    here = [one for one in units if _is_in(graph, one, said)]
    return bool(here)


def unweighed(graph: TraceGraph, search: str, wanted: Collection[str]) -> str:
    """Why a program's own search may have had none of the wanted units at hand; empty if nothing points to that.

    A search that weighs most of the memory before it chooses would have weighed these units, too, if the memory still
    had them. An instrument, which names the store, records the results of the store, which may be few.
    """
    if "store" in attributes(graph.operations[search]):
        return ""
    used = {graph.recorded(one) for one in graph.used(search)}
    if all(graph.variables[one].kind is not VariableKind.MEMORY_UNIT for one in used):
        return ""
    held = set(units_at(graph, graph.operations[search].sequence))
    weighed = used & held
    chosen = {graph.recorded(one) for one in graph.made(search)} & held
    missing = held - weighed
    if not held & set(wanted) or not missing.issuperset(wanted) or len(weighed) <= max(len(chosen), len(missing)):
        return ""
    return (
        f"the search weighed {len(weighed):,} of {len(held):,} units and not this one: code that is not recorded may "
        "have taken it out of the memory; record that with memtrace.deleted(...)"
    )


def untold(graph: TraceGraph, search: str, wanted: Collection[str], question: str) -> str:
    """Why a program's own search that does not tell what it weighed may have had none of the wanted units at hand.

    A unit with more of the question's words than all that the search returned is seldom passed over. Code that is not
    recorded may have taken it out before. Empty if the search tells its candidates or limits, or if nothing points to
    that.
    """
    operation = graph.operations[search]
    if "store" in attributes(operation) or not operation.location or limits(operation):
        return ""
    given = {graph.recorded(one) for one in graph.used(search) if graph.variables[one].kind in STORED}
    made = [one for one in graph.made(search) if graph.variables[one].kind not in _BESIDE]
    if given - {graph.recorded(one) for one in made}:
        return ""
    asked = _stems(question)

    def shared(variables: Collection[str]) -> int:
        return max((len(asked & _stems(graph.variables[one].preview)) for one in variables), default=0)

    if shared(wanted) < max(_SEVERAL, shared(made) + 1):
        return ""
    return (
        "the search passed over the unit with most words of the question, and does not tell what it chose from: code "
        "that is not recorded may have taken the unit out of the memory; tell it with memtrace.retrieved(...)"
    )


def _stems(text: str) -> set[str]:
    return {token.stem for token in tokens(text) if token.carries}


def attributes(one: Operation | Variable) -> dict[str, Any]:
    """The attributes of an operation or variable; empty if they are no object."""
    found = msgspec.json.decode(one.attributes)
    return found if isinstance(found, dict) else {}


def _is_in(graph: TraceGraph, unit: str, search: Mapping[str, Any]) -> bool:
    """Whether a unit is in the store and namespace of a search."""
    said = attributes(graph.variables[unit])
    if said.get("store") != search["store"]:
        return False
    namespace = str(search.get("namespace") or "")
    return not namespace or str(said.get("storeId", "")).startswith(f"{namespace}/")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _short(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else f"{text[:79]}…"
