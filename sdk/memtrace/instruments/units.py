"""Memory units of stores: what is written, read and deleted, by the store and the id, whichever process did it."""

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
"""The store, by a name that all processes use, and the unit's id in it."""


def key_of_text(text: str) -> str:
    """The id of a unit whose store gives it none."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def newest(here: Scope, unit: Unit) -> Variable | None:
    """The newest version of a unit that this process knows in the trace."""
    with _at(here):
        return newest_unit(store=unit[0], id=unit[1])


def current(here: Scope, unit: Unit, value: object) -> Variable:
    """The version of a unit that a store holds; who wrote it, this process or another, is found by its value.

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
    """A store has a new unit, or a new version of one; the same value again is none.

    Args:
        making: the operation that writes it.
        unit: the store and the id.
        value: what the store holds.
        sources: what it was made from.
        leaves: the texts in the value, by which it is found in prompts.
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
    """A search gives out a unit: an occurrence of it, for which the objects and texts stand from now on."""
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
