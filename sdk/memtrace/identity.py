"""Finds out which variable a value is: by the identity of the object while it exists, or by name.

A text alone is never enough, except for memory units, and then the result is marked as a guess
(``memtrace.equal_texts``).

An object that allows weak references is known as long as it exists. Texts, lists and dictionaries do not allow them.
They are kept alive, so that their ``id`` is not used again, up to a number of objects and of bytes; those that were not
used for the longest time are forgotten first.
"""

from __future__ import annotations

import sys
import weakref
from operator import itemgetter
from typing import Any

from memtrace.changes import Images
from memtrace.recent import Recent
from memtrace.values import has_identity

MAX_HELD = 20_000
MAX_HELD_BYTES = 64_000_000
MAX_NAMES = 100_000
MAX_OCCURRENCES = 64
MAX_UNITS = 20_000
MAX_UNIT_BYTES = 32_000_000
MAX_STORED_UNITS = 50_000
_OBJECT_BYTES = 64

Questions = frozenset[str]
NO_QUESTIONS: Questions = frozenset()
MAX_QUESTIONS = 32


def joined(first: Questions, second: Questions) -> Questions:
    """The questions of both; if they are too many, those of the second alone."""
    if not first or first is second:
        return second
    if not second:
        return first
    both = first | second
    return both if len(both) <= MAX_QUESTIONS else second


class Variable:
    """A recorded variable: ``memtrace.find`` returns it, and every function accepts it in place of the value.

    Attributes:
        path: ids of the operations around it when it was made, outermost first; the last one made it.
        maker: name and kind of the operation that made it.
        order: its place among the variables of this process; a source is always older than its target.
        questions: ids of the queries from which it derives, as far as this process knows.
        reads: the variable of which this one is an occurrence.
        occurrences: number of its occurrences that this process has recorded.
        has_message: whether it is a message or derives from one, as far as this process knows.
        unit: the store and the id in it, if other processes know it by the same id (``memtrace.stored_units``).
    """

    # fmt: off
    __slots__ = (
        "__weakref__", "has_message", "id", "kind", "maker", "name", "occurrences",
        "order", "path", "questions", "reads", "unit", "version",
    )
    # fmt: on

    def __init__(self, id: str, name: str, version: int, kind: str, order: int) -> None:  # noqa: A002 (the field)
        self.id = id
        self.name = name
        self.version = version
        self.kind = kind
        self.order = order
        self.path: tuple[str, ...] = ()
        self.maker: tuple[str, str] | None = None
        self.questions: Questions = NO_QUESTIONS
        self.reads: Variable | None = None
        self.occurrences = 0
        self.has_message = kind == "Message"
        self.unit: tuple[str, str] | None = None

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r} version {self.version}>"

    @property
    def operation(self) -> str | None:
        """The id of the operation that made it; None for an input from outside."""
        return self.path[-1] if self.path else None


_Entry = tuple[Any, list[Variable], int]
"""An object or a weak reference to it; its variable, then the occurrences of that; and its size in bytes."""


class IdentityMap:
    """The values of one trace that this process knows."""

    def __init__(self) -> None:
        self._held: Recent[int, _Entry] = Recent(MAX_HELD, MAX_HELD_BYTES, itemgetter(2))
        self._weak: dict[int, _Entry] = {}
        self._names: Recent[str, Variable] = Recent(MAX_NAMES)
        self.images = Images()
        self.units: Recent[str, tuple[str, list[Variable]]] = Recent(MAX_UNITS, MAX_UNIT_BYTES, _unit_bytes)
        """Memory units and their occurrences, by their text."""

    def __len__(self) -> int:
        return len(self._held) + len(self._weak)

    @property
    def is_empty(self) -> bool:
        """Whether this process has recorded nothing of the trace, or has forgotten it."""
        return not len(self) and not len(self._names)

    def find(self, value: object) -> list[Variable] | None:
        """The variables for which the object stands: the one that it is, then its occurrences, oldest first."""
        key = id(value)
        held = self._held
        young = held.young.get(key)  # written out without further calls, because it runs for each argument and result
        if young is not None:
            return young[1]
        entry = held.get(key) if key in held.old else None
        if entry is not None:
            return entry[1]
        entry = self._weak.get(key)
        if entry is not None and entry[0]() is value:
            return entry[1]
        return None

    def bind(self, value: Any, variable: Variable, *, is_own: bool = False) -> None:
        """The object now stands for this variable. ``is_own``: no other value can be this same object."""
        if is_own:
            self._held.set(id(value), (value, [variable], _OBJECT_BYTES + len(value)))
            return
        if not has_identity(value):
            return
        known = self.find(value)
        if known is not None:
            known[:] = [variable]
            return
        key = id(value)
        if _is_held(value):
            self._held.set(key, (value, [variable], sys.getsizeof(value)))
            return
        try:
            reference = weakref.ref(value, lambda dead: self._forget(key, dead))
        except TypeError:
            self._held.set(key, (value, [variable], sys.getsizeof(value)))
        else:
            self._weak[key] = reference, [variable], 0

    def add_occurrence(self, value: object, variable: Variable) -> None:
        """A reader returned the object, which now also stands for this occurrence."""
        known = self.find(value)
        if known is None:
            self.bind(value, variable)
            return
        known.append(variable)
        if len(known) > MAX_OCCURRENCES:
            del known[1]

    def named(self, name: str) -> Variable | None:
        """The newest variable with that name."""
        return self._names.get(name)

    def name(self, variable: Variable) -> None:
        """Make it the newest variable with its name, the next version."""
        names, name = self._names, variable.name
        young = names.young
        if name in young:  # this is the usual case, and takes no further memory
            variable.version = young[name].version + 1
            young[name] = variable
            return
        newest = names.get(name)
        if newest is not None:
            variable.version = newest.version + 1
        names.set(name, variable)

    def _forget(self, key: int, dead: weakref.ref[Any]) -> None:
        entry = self._weak.get(key)
        if entry is not None and entry[0] is dead:
            del self._weak[key]


def _unit_bytes(unit: tuple[str, list[Variable]]) -> int:
    return _OBJECT_BYTES + len(unit[0])


def _is_held(value: object) -> bool:
    return type(value) in {str, list, dict, tuple, bytes}


Place = tuple[str, str]
"""The store of a unit and the unit's id in it."""


class KnownUnits:
    """The stored units of one trace, as far as this process knows; those not used for long are forgotten."""

    __slots__ = ("_newest", "_versions")

    def __init__(self) -> None:
        self._versions: Recent[str, Variable] = Recent(MAX_STORED_UNITS)
        self._newest: Recent[Place, tuple[Variable, str]] = Recent(MAX_STORED_UNITS)

    def version(self, id_: str) -> Variable | None:
        """The variable that stands for a version, by the id that all processes compute for it."""
        return self._versions.get(id_)

    def newest(self, place: Place) -> Variable | None:
        """The newest version that is not deleted."""
        found = self._newest.get(place)
        return None if found is None or found[1] == "" else found[0]

    def holds(self, place: Place, id_: str) -> bool:
        """Whether the newest version is the one with this id."""
        found = self._newest.get(place)
        return found is not None and found[1] == id_

    def set(self, place: Place, id_: str, variable: Variable) -> None:
        """From now on this is the newest version, and the one that this id means."""
        self._versions.get(id_)
        self._versions.set(id_, variable)
        self._newest.get(place)
        self._newest.set(place, (variable, id_))

    def end(self, place: Place) -> None:
        """The unit is deleted: what is written next is a new version, even if it is the same."""
        found = self._newest.get(place)
        if found is not None:
            self._newest.set(place, (found[0], ""))
