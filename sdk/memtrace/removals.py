"""An operation of kind ``Deletion``: the memory units that it takes out of a list or dictionary have ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memtrace.calls import Call, Plan
from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.steps import Scope
from memtrace.values import CONTAINERS

MAX_SEARCHED = 50_000
"""In a larger list or dictionary nothing is looked for."""
MAX_DEPTH = 5


class Removal(Call):
    """One run of an operation that deletes."""

    __slots__ = ("_held",)

    def __init__(self, plan: Plan, here: Scope) -> None:
        Call.__init__(self, plan, here)
        self._held: list[tuple[object, list[object], list[tuple[object, Variable]]]] = []

    def hold(self, container: object, units: list[tuple[object, Variable]]) -> None:
        """Remember what a list or dictionary holds before the operation runs; ``units`` are the memory units in it."""
        if units and (inside := _items(container)) is not None:
            self._held.append((container, inside, units))

    def end(self, status: str, error: BaseException | None = None) -> None:
        """Record the units that are gone, then the end."""
        try:
            if status == "ok":
                self._end_units()
        except Exception as wrong:
            report("what a deletion took out", wrong)
        finally:
            self.finish(status, error)

    def _end_units(self) -> None:
        left: set[int] = set()
        gone: list[tuple[object, Variable]] = []
        for container, before, units in self._held:
            now = _items(container)
            if now is None:
                return
            here = set(map(id, now))
            left |= here
            # A container with anything new was written anew: a new object in it may stand for a unit.
            if here <= set(map(id, before)):
                gone += units
        for item, unit in gone:
            if id(item) not in left:
                self.pending.append(self.invalidated(unit))


def _items(container: object) -> list[object] | None:
    """What is inside a list or dictionary, also inside lists and dictionaries in it; None if that is too much."""
    found: list[object] = []
    stack: list[tuple[Iterator[object], int]] = [(_values(container), 1)]
    while stack:
        items, depth = stack[-1]
        for item in items:
            if len(found) >= MAX_SEARCHED:
                return None
            found.append(item)
            if depth < MAX_DEPTH and isinstance(item, CONTAINERS):
                stack.append((_values(item), depth + 1))
                break
        else:
            stack.pop()
    return found


def _values(container: Any) -> Iterator[object]:
    return iter(list(container.values() if isinstance(container, Mapping) else container))
