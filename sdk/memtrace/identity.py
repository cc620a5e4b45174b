"""Which variable a value is: found by the identity of the object while it lives, or by name. Never by its text.

An object that can be weakly referenced is known as long as it lives. Texts, lists and dictionaries cannot be; they
are held, so that their ``id`` is not used again, up to a number of objects and of bytes, the least recently used
going first.
"""

from __future__ import annotations

import sys
import weakref
from collections import OrderedDict
from typing import Any

from memtrace.changes import Images
from memtrace.values import has_identity

MAX_HELD = 20_000
MAX_HELD_BYTES = 64_000_000
MAX_NAMES = 100_000
MAX_OCCURRENCES = 64
_OBJECT_BYTES = 64

Questions = frozenset[str]
NO_QUESTIONS: Questions = frozenset()


class Variable:
    """A recorded variable: what ``memtrace.find`` gives and what every function takes in place of the value.

    Attributes:
        path: ids of the operations around it when it was made, outermost first; the last one made it.
        maker: name and kind of the operation that made it.
        order: variables of this process in the order in which they were made: a source is older than its target.
        questions: ids of the queries from which it derives, as far as this process knows.
        reads: the variable that this one is an occurrence of.
        occurrences: how many occurrences of it this process has recorded.
    """

    # fmt: off
    __slots__ = (
        "__weakref__", "id", "kind", "maker", "name", "occurrences",
        "order", "path", "questions", "reads", "version",
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

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r} version {self.version}>"

    @property
    def operation(self) -> str | None:
        """The id of the operation that made it; None for an input from outside."""
        return self.path[-1] if self.path else None


_Entry = tuple[Any, int, list[Variable]]
"""An object or a weak reference to it, its bytes, and what it stands for: what it is, then what readers made of it."""


class IdentityMap:
    """The values of one trace that this process knows."""

    def __init__(self) -> None:
        self._held: OrderedDict[int, _Entry] = OrderedDict()
        self._held_bytes = 0
        self._is_filling = False
        """Near a bound the order of use matters; keeping it before would cost at each look."""
        self._weak: dict[int, _Entry] = {}
        self._names: OrderedDict[str, Variable] = OrderedDict()
        self.images = Images()

    def __len__(self) -> int:
        return len(self._held) + len(self._weak)

    def find(self, value: object) -> list[Variable] | None:
        """The variables that the object stands for: the one it is, then its occurrences, oldest first."""
        key = id(value)
        entry = self._held.get(key)
        if entry is not None:
            if self._is_filling:
                self._held.move_to_end(key)
            return entry[2]
        entry = self._weak.get(key)
        if entry is not None and entry[0]() is value:
            return entry[2]
        return None

    def bind(self, value: Any, variable: Variable, *, is_own: bool = False) -> None:
        """From now on the object is this variable. ``is_own`` says that nobody else can have this very object."""
        if is_own:
            self._hold(value, _OBJECT_BYTES + len(value), variable)
            return
        if not has_identity(value):
            return
        known = self.find(value)
        if known is not None:
            known[:] = [variable]
            return
        if _is_held(value):
            self._hold(value, sys.getsizeof(value), variable)
            return
        key = id(value)
        try:
            reference = weakref.ref(value, lambda dead: self._forget(key, dead))
        except TypeError:
            self._hold(value, sys.getsizeof(value), variable)
        else:
            self._weak[key] = reference, 0, [variable]

    def add_occurrence(self, value: object, variable: Variable) -> None:
        """A reader gave the object back: it also stands for this occurrence."""
        known = self.find(value)
        if known is None:
            self.bind(value, variable)
            return
        known.append(variable)
        if len(known) > MAX_OCCURRENCES:
            del known[1]

    def named(self, name: str) -> Variable | None:
        """The newest variable of that name."""
        return self._names.get(name)

    def name(self, variable: Variable) -> None:
        """Make it the newest of its name: the next version."""
        names, name = self._names, variable.name
        newest = names.get(name)
        if newest is not None:
            variable.version = newest.version + 1
        names[name] = variable
        if len(names) > MAX_NAMES // 2:
            names.move_to_end(name)
            if len(names) > MAX_NAMES:
                names.popitem(last=False)

    def _hold(self, value: object, size: int, variable: Variable) -> None:
        self._held[id(value)] = value, size, [variable]
        self._held_bytes += size
        if not self._is_filling:
            self._is_filling = len(self._held) > MAX_HELD // 2 or self._held_bytes > MAX_HELD_BYTES // 2
            return
        while self._held and (len(self._held) > MAX_HELD or self._held_bytes > MAX_HELD_BYTES):
            _, oldest = self._held.popitem(last=False)
            self._held_bytes -= oldest[1]

    def _forget(self, key: int, dead: weakref.ref[Any]) -> None:
        entry = self._weak.get(key)
        if entry is not None and entry[0] is dead:
            del self._weak[key]


def _is_held(value: object) -> bool:
    return type(value) in {str, list, dict, tuple, bytes}
