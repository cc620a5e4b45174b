"""Records writes, reads and deletions of memory units that other processes know by store and id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b

from memtrace.context import scope
from memtrace.identity import Variable
from memtrace.instruments.making import Making, learn
from memtrace.instruments.texts import texts
from memtrace.steps import Scope
from memtrace.stored_units import newest_unit, store_unit, stored_unit

Unit = tuple[str, str]
"""The store's name, the same in all processes, and the unit's id in the store."""


def key_of_text(text: str) -> str:
    """An id for a unit without one in its store: a digest of the text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def newest(here: Scope, unit: Unit) -> Variable | None:
    """The newest version of a unit in the trace; None if this process knows no version."""
    with _at(here):
        return newest_unit(store=unit[0], id=unit[1])


def current(here: Scope, unit: Unit, value: object) -> Variable:
    """The version of a unit with the value in the store. Any process may have written the unit.

    Raises:
        ValueError: The value can't be recorded; the reason was reported.
    """
    with _at(here):
        found = stored_unit(value, store=unit[0], id=unit[1])
    if found is None:
        raise ValueError("a unit can't be recorded")
    return found


def written(
    making: Making, unit: Unit, value: object, *, sources: Iterable[Variable], leaves: Iterable[str] = ()
) -> None:
    """Record a write of a unit; an equal value makes no new version.

    Args:
        making: the operation that writes.
        unit: the store and the id.
        value: the new value in the store.
        sources: the variables that the value derives from.
        leaves: the texts in the value, by which prompts are searched for the unit.
    """
    outputs = len(making.step.outputs)
    with _at(making.step):
        made = store_unit(value, store=unit[0], id=unit[1])
    if made is None:
        return
    if len(making.step.outputs) > outputs:
        for source in sources:
            making.step.link(source, made, None)
            made.questions |= source.questions
    for text in leaves:
        texts(making.here.trace).add(text, made)


def read(
    making: Making, unit: Variable, value: object, *, objects: Iterable[object] = (), leaves: Iterable[str] = ()
) -> Variable:
    """Record that a search gives out a unit; returns the occurrence, for which the objects and texts then stand."""
    made = making.make(value, unit.name, unit.kind, reads=unit)
    for one in objects:
        learn(making.here, one, made)
    for text in leaves:
        texts(making.here.trace).add(text, made)
    return made


@contextmanager
def _at(here: Scope) -> Iterator[None]:
    token = scope.set(here)
    try:
        yield
    finally:
        scope.reset(token)
