"""The methods of a ``GraphStore`` that follow edges: closures, paths and versions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from schema.errors import NotFoundError
from schema.models import Variable
from store.contract.answers import NO_BUDGET, Budget, Closure, Direction, Label, Path


class Walks(Protocol):
    """Walks over the dependencies between variables."""

    async def closure(
        self,
        ids: Sequence[str],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> Closure:
        """The closure of some variables. ``kinds`` filters the returned variables, not the walk.

        Raises:
            NotFoundError: a variable does not exist.
        """
        ...

    async def closures(
        self,
        roots: Sequence[Sequence[str]],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> list[Closure]:
        """Several closures at once, one for each list of roots; see ``closure``."""
        ...

    async def paths(self, source: str, target: str, limit: int = 10) -> list[Path]:
        """Chains of derivations by which one of two variables depends on the other, the shortest first.

        Among chains of equal length, the chain with the oldest variables comes first, compared from the dependent end.
        Parallel derivations between two variables count once.
        """
        ...

    async def path(self, source: str, target: str) -> Path:
        """The first of ``paths``; an empty path if the variables don't depend on each other."""
        return next(iter(await self.paths(source, target, 1)), Path([], []))

    async def versions(self, variable_id: str) -> list[Variable]:
        """All versions of the variable's name in its trace, oldest first.

        Raises:
            NotFoundError: the project has no variable with this id.
        """
        for found in (await self.versions_of([variable_id])).values():
            return found
        raise NotFoundError(variable_id, Label.VARIABLE)

    async def versions_of(self, variable_ids: Sequence[str]) -> dict[str, list[Variable]]:
        """The versions (see ``versions``) of several variables, by the variable's id; unknown ids are left out."""
        ...
