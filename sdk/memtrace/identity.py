"""Finds the variable of a value: by the identity of the object while the object exists, or by name.

An equal text is no proof of identity: ``memtrace.equal_texts`` recognises memory units by their text, and marks the
result as a guess.

An object that allows weak references is known as long as it exists. Texts, lists and dictionaries do not allow weak
references, so they are kept alive; otherwise Python could give their ``id`` to another object. The number and the bytes
of kept objects are limited, and the least recently used objects are forgotten first.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Collection
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
_HELD = {str, list, dict, tuple, bytes}
"""Types that do not allow weak references."""

Questions = frozenset[str]
NO_QUESTIONS: Questions = frozenset()
MAX_QUESTIONS = 32


def joined(first: Questions, second: Questions) -> Questions:
    """The union of two sets of questions; the second set alone if the union is too large."""
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
        order: counts the variables of this process; a source always has a lower number than its target.
        questions: ids of the queries in the variable's past, as far as this process knows.
        reads: the variable that was read, if this variable is an occurrence.
        occurrences: number of recorded occurrences of the variable in this process.
        has_message: whether a message is in the variable's past, itself included, as far as this process knows.
        unit: store and id of a stored unit (``memtrace.stored_units``); None for other variables.
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
        """The id of the operation that made the variable; None for an input from outside."""
        return self.path[-1] if self.path else None


_Entry = tuple[Any, list[Variable], int]
"""An object or a weak reference to the object; its variable, followed by occurrences; its size in bytes."""


class IdentityMap:
    """Objects and names of one trace, each with its variables, as far as this process knows."""

    def __init__(self) -> None:
        self._held: Recent[int, _Entry] = Recent(MAX_HELD, MAX_HELD_BYTES, itemgetter(2))
        self._weak: dict[int, _Entry] = {}
        self._names: Recent[str, Variable] = Recent(MAX_NAMES)
        self.images = Images()
        self.units: Recent[str, tuple[str, list[Variable]]] = Recent(
            MAX_UNITS, MAX_UNIT_BYTES, lambda unit: _OBJECT_BYTES + len(unit[0])
        )
        """Memory units and their occurrences, by text."""

    def __len__(self) -> int:
        return len(self._held) + len(self._weak)

    @property
    def is_empty(self) -> bool:
        """Whether this process has recorded nothing of the trace, or has forgotten everything."""
        return not len(self) and not len(self._names)

    def find(self, value: object) -> list[Variable] | None:
        """The variable of an object, followed by its occurrences, oldest first; None if the object is not known."""
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
        """Let an object stand for a variable.

        Args:
            value: the object; objects that Python may share between values, such as short texts, are ignored.
            variable: the variable.
            is_own: whether the object is a text that was made for this variable alone.
        """
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
        if type(value) in _HELD:
            self._held.set(key, (value, [variable], sys.getsizeof(value)))
            return
        try:
            reference = weakref.ref(value, lambda dead: self._forget(key, dead))
        except TypeError:
            self._held.set(key, (value, [variable], sys.getsizeof(value)))
        else:
            self._weak[key] = reference, [variable], 0

    def add_occurrence(self, value: object, variable: Variable) -> None:
        """Let the object also stand for an occurrence, because a reader returned the object."""
        known = self.find(value)
        if known is None:
            self.bind(value, variable)
            return
        known.append(variable)
        if len(known) > MAX_OCCURRENCES:
            del known[1]

    def texts_of(self, variables: Collection[Variable]) -> list[tuple[str, Variable]]:
        """The texts that stand for variables, each with its variable."""
        held = (*self._held.old.values(), *self._held.young.values())
        return [(value, one) for value, known, _ in held if type(value) is str for one in known if one in variables]

    def named(self, name: str) -> Variable | None:
        """The newest variable with that name."""
        return self._names.get(name)

    def name(self, variable: Variable) -> None:
        """Make a variable the newest version of its name."""
        names, name = self._names, variable.name
        young = names.young
        if name in young:  # the usual case, which takes no further memory
            variable.version = young[name].version + 1
            young[name] = variable
            return
        newest = names.get(name)
        if newest is not None:
            variable.version = newest.version + 1
        names.set(name, variable)

    def take_in(self, other: IdentityMap) -> None:
        """Add the objects and names of another trace whose variables belong to this trace now."""
        self._held.take_in(other._held)
        for reference, known, _ in list(other._weak.values()):
            value = reference()
            if value is not None and self.find(value) is None:
                self.bind(value, known[0])
                for one in known[1:]:
                    self.add_occurrence(value, one)
        for name, variable in [*other._names.old.items(), *other._names.young.items()]:
            newest = self._names.get(name)
            if newest is None or newest.order < variable.order:
                self._names.set(name, variable)
        self.images.take_in(other.images)
        self.units.take_in(other.units)

    def _forget(self, key: int, dead: weakref.ref[Any]) -> None:
        entry = self._weak.get(key)
        if entry is not None and entry[0] is dead:
            del self._weak[key]


Place = tuple[str, str]
"""The store of a unit and the unit's id in it."""


class KnownUnits:
    """The stored units of one trace that this process has read or written. Forgets the least recently used units."""

    __slots__ = ("_newest", "_versions")

    def __init__(self) -> None:
        self._versions: Recent[str, Variable] = Recent(MAX_STORED_UNITS)
        self._newest: Recent[Place, tuple[Variable, str]] = Recent(MAX_STORED_UNITS)

    def version(self, id_: str) -> Variable | None:
        """The variable of a version, by the id that all processes compute."""
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
        """Make a variable the newest version of a unit, with this id."""
        self._versions.get(id_)
        self._versions.set(id_, variable)
        self._newest.get(place)
        self._newest.set(place, (variable, id_))

    def take_in(self, other: KnownUnits) -> None:
        """Add the units of another trace whose variables belong to this trace now."""
        self._versions.take_in(other._versions)
        self._newest.take_in(other._newest)

    def end(self, place: Place) -> None:
        """Note that the unit is deleted: the next write makes a new version, even of an equal value."""
        found = self._newest.get(place)
        if found is not None:
            self._newest.set(place, (found[0], ""))
