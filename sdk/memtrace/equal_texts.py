"""Recognises memory units by their text: databases and prompts return an equal text, not the object that was stored.

Such a match is a guess, and is marked as one: the occurrence has the attributes ``inferred`` and ``confidence``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memtrace.identity import MAX_OCCURRENCES, Variable
from memtrace.scripts import letters
from memtrace.steps import Scope
from memtrace.values import CONTAINERS, has_identity, is_data, is_number, snapshot

SHORTEST = 12
"""Shortest text, in letters, that is recognised; "yes" could mean anything."""

CONFIDENCE = 0.9
"""Confidence if one unit has the text; several units share the number. An estimate, not a measurement."""

LOOSE_KINDS = frozenset({"Other", "Context", "MemoryUnit", "RetrievalResult"})
"""Kinds of arguments that may be taken for a unit. A message or a question never is, even if its text is equal."""

MAX_SEARCHED = 1_000
MAX_DEPTH = 4


def remember(scope: Scope, text: str, variable: Variable) -> None:
    """Note that a text stands for a unit, or for an occurrence of a unit."""
    if letters(text) < SHORTEST:
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
    """The units with this text and their occurrences, oldest first; None if no unit has the text."""
    if letters(text) < SHORTEST:
        return None
    found = scope.trace.identities.units.get(text)
    return None if found is None else found[1]


def unit(known: list[Variable]) -> Variable:
    """The newest variable that is no occurrence."""
    return next((variable for variable in reversed(known) if variable.reads is None), known[-1])


def mark(known: list[Variable]) -> dict[str, Any]:
    """The attributes of an occurrence that was recognised by its text."""
    several = sum(variable.reads is None for variable in known)
    return {"attributes": {"inferred": "equal text", "confidence": round(CONFIDENCE / max(1, several), 3)}}


def recognised(scope: Scope, value: object) -> Iterator[tuple[object, list[Variable]]]:
    """The unknown objects in a retrieval's result that have the text of a unit, each with the known variables."""
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
