"""Memory units of stores: one variable with its versions each, found again by the store and the id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

from memtrace.identity import Variable
from memtrace.instruments.making import Making, learn, outside, texts
from memtrace.steps import Scope
from memtrace.values import snapshot


def unit_name(store: str, key: str) -> str:
    """The name of a unit; its versions share it."""
    return f"{store}/{key}"


def key_of_text(text: str) -> str:
    """The id of a unit whose store gives it none."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def newest(here: Scope, name: str) -> Variable | None:
    """The newest version of a unit, if its trace knows it."""
    return here.trace.identities.named(name)


def current(here: Scope, name: str, value: object) -> Variable:
    """The newest version of a unit that a store has; one that was written before anybody recorded came from outside."""
    found = newest(here, name)
    return outside(here, value, name, "MemoryUnit") if found is None else found


def written(
    making: Making, name: str, value: object, *, sources: Iterable[Variable] | None = None, leaves: Iterable[str] = ()
) -> Variable:
    """A store has a new unit, or a new version of one.

    Args:
        making: the operation that writes it.
        name: see ``unit_name``.
        value: what the store holds.
        sources: what it was made from; all inputs of the operation without them.
        leaves: the texts in the value, by which it is found in prompts.
    """
    made = making.make(value, name, "MemoryUnit", sources=sources, revises=newest(making.here, name), said=_hash(value))
    for text in leaves:
        texts(making.here.trace).add(text, made)
    return made


def read(
    making: Making, unit: Variable, value: object, *, objects: Iterable[object] = (), leaves: Iterable[str] = ()
) -> Variable:
    """A search gives out a unit: an occurrence of it, for which the objects and texts stand from now on."""
    made = making.make(value, unit.name, "MemoryUnit", reads=unit)
    for one in objects:
        learn(making.here, one, made)
    for text in leaves:
        texts(making.here.trace).add(text, made)
    return made


def _hash(value: object) -> Mapping[str, Any]:
    return {
        "attributes": {
            "versionHash": blake2b(snapshot(value)[0].encode("utf-8", "replace"), digest_size=16).hexdigest()
        }
    }
