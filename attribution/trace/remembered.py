"""What a memory held at a moment: the versions of units that were valid after an operation of the trace.

A moment is the place of an operation (``Operation.sequence``) and includes the effects of this operation and all
earlier ones. A variable that no recorded operation made was there before the first operation.
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
        made: the place of the operation that made the version; ``BEFORE_ALL`` for a version from outside.
        ended: the place of the operation that ended the version, such as a deletion; None if none did.
    """

    variable: Variable
    made: int
    ended: int | None


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of the memory with all its versions, oldest first."""

    versions: Sequence[Version]

    def at(self, moment: int | None) -> Version | None:
        """The valid version at a moment (None: at the end); None if there was none."""
        last = self.known_at(moment)
        return None if not last or _is_ended(last[-1], moment) else last[-1]

    def known_at(self, moment: int | None) -> Sequence[Version]:
        """The versions that were made up to a moment."""
        if moment is None:
            return self.versions
        return self.versions[: bisect_right(self.versions, moment, key=lambda one: one.made)]


@dataclass(frozen=True, slots=True)
class Memory:
    """All units of a trace, ordered by their first version.

    Attributes:
        read: the external ids of the versions of units that an operation read.
    """

    units: Sequence[Unit]
    read: frozenset[str] = frozenset()

    def at(self, moment: int | None) -> list[tuple[Unit, Version]]:
        """The units that the memory held at a moment, each with the valid version."""
        found = ((unit, unit.at(moment)) for unit in self.units)
        return [(unit, version) for unit, version in found if version is not None]

    def ended_at(self, moment: int | None) -> int:
        """The number of units that had ended by a moment."""
        return len(self.gone_at(moment))

    def gone_at(self, moment: int | None) -> list[Version]:
        """The last versions of the units that had ended by a moment."""
        known = (unit.known_at(moment) for unit in self.units if unit.at(moment) is None)
        return [versions[-1] for versions in known if versions]

    def unit_of(self, variable_id: str) -> Unit | None:
        """The unit of a version; None for a variable that is no version of a unit."""
        return next((unit for unit in self.units if any(one.variable.id == variable_id for one in unit.versions)), None)


async def remembered(store: GraphStore, trace_id: str) -> Memory:
    """Read the memory of a trace."""
    kept = await elements(store, Variable, trace_id, sorted(STORED))
    # Importers record a read as an occurrence; recorders mark a read only by the kind of its derivation.
    reads = in_trace(store, Label.DERIVATION, trace_id, [DerivationKind.READ])
    read = {one.target: one.source async for one in reads if isinstance(one, Derivation)}
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
    known = {*read.values(), *(one.id for one in kept if one.occurrence)}
    return Memory([Unit(some) for some in _by_unit(versions, names)], frozenset(names[id_] for id_ in known & {*names}))


def _by_unit(versions: Iterable[Version], names: Mapping[str, str]) -> list[list[Version]]:
    """Versions grouped by unit. Different units may share a name: only revisions say which versions belong together.

    Args:
        versions: in the order of the trace.
        names: the external ids of all variables that may be revised, reads included.
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
    """The messages on which each version depends and no earlier version does."""
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
    """The answers that depend on any version of a unit, in the order of the trace."""
    ids = [one.variable.id for one in unit.versions]
    found = await store.closure(ids, Direction.FORWARD, Budget(seconds=seconds), [VariableKind.ANSWER])
    return found.variables


def _is_ended(version: Version, moment: int | None) -> bool:
    return version.ended is not None and (moment is None or version.ended <= moment)
