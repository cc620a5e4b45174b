"""What a memory held at a moment: the versions of its units that stood after an operation of the trace.

A moment is the place of an operation (``Operation.sequence``): what that operation and all before it made and ended has
happened. What came from outside, made by no recorded operation, was there before the first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from attribution.verdicts.stored import by_id
from schema.kinds import STORED, DerivationKind, VariableKind
from schema.models import Derivation, Operation, Variable
from store.contract.answers import Budget, Direction, Label
from store.contract.protocol import GraphStore
from store.shared.paging import elements, in_trace

BEFORE_ALL = -1
"""The moment before the first operation."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a unit.

    Attributes:
        made: the place of the operation that made it; ``BEFORE_ALL`` for one from outside.
        ended: the place of the operation that ended it, as a deletion does; None if none did.
    """

    variable: Variable
    made: int
    ended: int | None


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of the memory with all its versions, oldest first."""

    versions: Sequence[Version]

    def at(self, moment: int | None) -> Version | None:
        """The version that stood at a moment, None being the end; None where there was none, or it was ended."""
        last = self.known_at(moment)
        return None if not last or _is_ended(last[-1], moment) else last[-1]

    def known_at(self, moment: int | None) -> Sequence[Version]:
        """The versions that had been made by a moment."""
        if moment is None:
            return self.versions
        return self.versions[: bisect_right(self.versions, moment, key=lambda one: one.made)]


@dataclass(frozen=True, slots=True)
class Memory:
    """All units of a trace, those that began first coming first."""

    units: Sequence[Unit]

    def at(self, moment: int | None) -> list[tuple[Unit, Version]]:
        """The units that the memory held at a moment, with the version that stood."""
        found = ((unit, unit.at(moment)) for unit in self.units)
        return [(unit, version) for unit, version in found if version is not None]

    def ended_at(self, moment: int | None) -> int:
        """How many units had been there by a moment, and were no more."""
        return sum(bool(unit.known_at(moment)) and unit.at(moment) is None for unit in self.units)

    def unit_of(self, variable_id: str) -> Unit | None:
        """The unit that a variable is a version of."""
        return next((unit for unit in self.units if any(one.variable.id == variable_id for one in unit.versions)), None)


async def remembered(store: GraphStore, trace_id: str) -> Memory:
    """The memory of a trace."""
    kept = await elements(store, Variable, trace_id, sorted(STORED))
    # An import counts what was only read as an occurrence; a recorder tells it by its derivation alone.
    reads = in_trace(store, Label.DERIVATION, trace_id, [DerivationKind.READ])
    read = {one.target async for one in reads if isinstance(one, Derivation)}
    recorded = [one for one in kept if one.occurrence == 0 and one.id not in read]
    ended = {one.variable_id: one.operation_id for one in await store.invalidations(trace_id)}
    named = [*(one.operation_id for one in recorded), *(ended.get(one.id) for one in recorded)]
    places = {id_: one.sequence for id_, one in (await by_id(store, Operation, named)).items()}
    versions = (
        Version(
            one,
            BEFORE_ALL if one.operation_id is None else places[one.operation_id],
            places[ended[one.id]] if one.id in ended else None,
        )
        for one in recorded
    )
    names = {one.id: one.external_id for one in kept}
    return Memory([Unit(some) for some in _by_unit(versions, names)])


def _by_unit(versions: Iterable[Version], names: Mapping[str, str]) -> list[list[Version]]:
    """Versions of each unit. Units may share a name without being versions of one: what revises another says so.

    Args:
        versions: in the order of the trace.
        names: the external ids of all variables that may be revised, reads of them included.
    """
    units: list[list[Version]] = []
    of_name: dict[str, list[Version]] = {}
    for version in versions:
        variable = version.variable
        unit = of_name.get(names.get(variable.revision_of or "", ""))
        if unit is None:
            unit = []
            units.append(unit)
        unit.append(version)
        of_name[variable.external_id] = unit
    return [sorted(unit, key=lambda one: (one.made, one.variable.sequence)) for unit in units]


async def messages_of(store: GraphStore, versions: Sequence[Version], seconds: float) -> list[list[Variable]]:
    """The messages that each version rests on, and no version before it does."""
    budget = Budget(seconds=seconds)
    roots = [[one.variable.id] for one in versions]
    pasts = await store.closures(roots, Direction.BACKWARD, budget, [VariableKind.MESSAGE])
    known: set[str] = set()
    found = []
    for past in pasts:
        found.append([one for one in past.variables if one.id not in known])
        known.update(one.id for one in past.variables)
    return found


async def answers_on(store: GraphStore, unit: Unit, seconds: float) -> list[Variable]:
    """The answers that rest on any version of a unit, in the order of the trace."""
    ids = [one.variable.id for one in unit.versions]
    found = await store.closure(ids, Direction.FORWARD, Budget(seconds=seconds), [VariableKind.ANSWER])
    return found.variables


def _is_ended(version: Version, moment: int | None) -> bool:
    return version.ended is not None and (moment is None or version.ended <= moment)
