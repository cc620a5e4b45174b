"""Memory units by their text: a database or a prompt gives back an equal text, but never the object that was stored.

What is found so is a guess, and says so: its occurrence has ``inferred`` and ``confidence`` among its attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memtrace.identity import MAX_OCCURRENCES, Variable
from memtrace.steps import Scope
from memtrace.values import CONTAINERS, has_identity, is_data, is_number, snapshot

SHORTEST = 12
"""Characters of a text that is recognised: "yes" means nothing in particular."""

CONFIDENCE = 0.9
"""Where one unit has the text; where several have it, they share it. A rule of thumb, not a measurement."""

LOOSE_KINDS = frozenset({"Other", "Context", "MemoryUnit", "RetrievalResult"})
"""What an argument may be that is taken for a unit: a message or a question is one, whatever the memory holds."""

MAX_SEARCHED = 1_000
MAX_DEPTH = 4


def remember(scope: Scope, text: str, variable: Variable) -> None:
    """From now on this text means this unit, or this occurrence of it."""
    if len(text) < SHORTEST:
        return
    units = scope.trace.identities.units
    found = units.get(text)
    if found is None:
        units.set(text, (text, [variable]))
        return
    known = found[1]
    known.append(variable)
    if len(known) > MAX_OCCURRENCES:
        del known[1]


def equal(scope: Scope, text: str) -> list[Variable] | None:
    """The units with this text and their occurrences, oldest first; None where there are none."""
    if len(text) < SHORTEST:
        return None
    found = scope.trace.identities.units.get(text)
    return None if found is None else found[1]


def unit(known: list[Variable]) -> Variable:
    """The newest of them that is no occurrence."""
    return next((variable for variable in reversed(known) if variable.reads is None), known[-1])


def mark(known: list[Variable]) -> dict[str, Any]:
    """What an occurrence says that was found so."""
    several = sum(variable.reads is None for variable in known)
    return {"attributes": {"inferred": "equal text", "confidence": round(CONFIDENCE / max(1, several), 3)}}


def recognised(scope: Scope, value: object) -> Iterator[tuple[object, list[Variable]]]:
    """The objects in a retrieval's result, itself or inside, that are not known but have the text of a unit."""
    identities = scope.trace.identities
    if not identities.units:
        return
    stack, left = [(value, 0)], MAX_SEARCHED
    while stack and left:
        item, depth = stack.pop()
        left -= 1
        if isinstance(item, Variable) or is_number(item) or identities.find(item) is not None:
            continue
        known = None
        if isinstance(item, str):
            known = equal(scope, item)
        elif isinstance(item, Mapping) or (is_data(item) and not isinstance(item, CONTAINERS)):
            known = equal(scope, snapshot(item)[0])
        if known is not None and has_identity(item):
            yield item, known
        elif isinstance(item, CONTAINERS) and depth < MAX_DEPTH:
            inside = list(item.values()) if isinstance(item, Mapping) else list(item)
            stack += [(one, depth + 1) for one in reversed(inside[:MAX_SEARCHED])]


def is_alike(scope: Scope, value: object) -> bool:
    """Whether an element of a list is a text of a unit."""
    if not scope.trace.identities.units or not isinstance(value, list | tuple):
        return False
    return any(isinstance(item, str) and equal(scope, item) is not None for item in value[:MAX_SEARCHED])
