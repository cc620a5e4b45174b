"""What is asked along the edges of a trace: closures, paths, and the versions of a thing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from schema.errors import NotFoundError
from schema.models import Variable
from store.contract.answers import NO_BUDGET, Budget, Closure, Direction, Label, Path


class Walks(Protocol):
    """What a project's store answers about how its variables depend on each other."""

    async def closure(
        self,
        ids: Sequence[str],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> Closure:
        """The closure of some variables. ``kinds`` filters what is returned, not what is walked.

        Raises:
            NotFoundError: one of the variables does not exist.
        """
        ...

    async def closures(
        self,
        roots: Sequence[Sequence[str]],
        direction: Direction = Direction.BACKWARD,
        budget: Budget = NO_BUDGET,
        kinds: Collection[str] = (),
    ) -> list[Closure]:
        """Several closures at once, each of its own roots; see ``closure``."""
        ...

    async def paths(self, source: str, target: str, limit: int = 10) -> list[Path]:
        """Chains of derivations by which one variable depends on the other, whichever way it runs, shortest first.

        Of chains of one length, those whose variables are oldest come first, compared from the dependent end; the first
        of all is that of ``path``. Parallel derivations between two variables count once.
        """
        ...

    async def path(self, source: str, target: str) -> Path:
        """A shortest chain of derivations by which one variable depends on the other, whichever way it runs.

        Of several, the one whose variables are oldest, compared from the dependent end.
        """
        return next(iter(await self.paths(source, target, 1)), Path([], []))

    async def versions(self, variable_id: str) -> list[Variable]:
        """All versions of the variable's name in its trace, oldest first.

        Raises:
            NotFoundError: there is no such variable.
        """
        for found in (await self.versions_of([variable_id])).values():
            return found
        raise NotFoundError(variable_id, Label.VARIABLE)

    async def versions_of(self, variable_ids: Sequence[str]) -> dict[str, list[Variable]]:
        """All versions of the names of several variables, by the variable's id; unknown ones are left out."""
        ...
