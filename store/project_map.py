"""Projects spread over several databases, by a map from projects to databases.

Only traces are spread. The main database holds the keys, jobs, audit logs and retention policies of all projects,
because they are needed before the project of a request is known.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from typing_extensions import override

from schema.errors import StoreError
from store.contract.answers import Health
from store.contract.protocol import Database, GraphStore
from store.contract.records import ProjectRecords, Registry
from store.shared.closing import Closing

T = TypeVar("T")


class SpreadDatabase(Closing, Database):
    """A main database and further databases, among which the projects are spread.

    Attributes:
        main: holds the records of all projects, and the traces of projects that are not in the map.
        mapped: the further databases, by name.
    """

    def __init__(self, main: Database, mapped: Mapping[str, Database], places: Mapping[str, str]) -> None:
        """Combine databases; closing the result closes all of them.

        Args:
            main: the main database.
            mapped: the further databases, by name.
            places: the name of the database in ``mapped`` with a project's traces, by project.
        """
        self.main = main
        self.mapped = dict(mapped)
        self._of_project = {project_id: mapped[name] for project_id, name in places.items()}
        self._projects = {name: [project for project, place in places.items() if place == name] for name in mapped}

    @override
    def bound_waits(self, seconds: float) -> None:
        for _, database in self._all():
            database.bound_waits(seconds)

    @override
    def project(self, project_id: str, log: ProjectRecords | None = None) -> GraphStore:
        """The traces of one project. The audit log is always in the main database."""
        mapped = self._of_project.get(project_id)
        if mapped is None:
            return self.main.project(project_id, log)
        return mapped.project(project_id, log or self.main.records(project_id))

    @override
    def records(self, project_id: str) -> ProjectRecords:
        return self.main.records(project_id)

    @override
    def registry(self) -> Registry:
        return self.main.registry()

    @override
    async def migrate(self) -> list[str]:
        """Bring all layouts up to date; names of migrations of mapped databases begin with the database's name.

        Raises:
            StoreError: a database can't be reached or used; the other databases are up to date.
        """
        applied = await self._ask_all(lambda database: database.migrate())
        main = applied.pop("")
        return main + [f"{name}: {migration}" for name, found in applied.items() for migration in found]

    @override
    async def has_current_layout(self) -> bool:
        """Whether all databases have the current layout.

        Raises:
            StoreError: a database can't be reached or used.
        """
        return all((await self._ask_all(lambda database: database.has_current_layout())).values())

    @override
    async def check(self) -> None:
        await self.main.check()

    @override
    async def health(self) -> Health:
        """The health of the main database, with the mapped databases under ``stores``, and the problems of all."""
        found = await self.main.health()
        stores: dict[str, Any] = {}
        problems = list(found.problems)
        for name, database in self.mapped.items():
            try:
                one = await database.health()
            except StoreError as error:
                stores[name] = {"projects": self._projects[name]}
                problems.append(_named(name, error))
            else:
                stores[name] = {
                    "engine": one.engine,
                    "version": one.version,
                    "projects": self._projects[name],
                    **one.details,
                }
                problems += [_named(name, problem) for problem in one.problems]
        return Health(found.engine, found.version, found.details | {"stores": stores}, problems)

    @override
    async def close(self) -> None:
        """Close all databases, even if closing one fails."""
        async with AsyncExitStack() as closing:
            for _, database in self._all():
                closing.push_async_callback(database.close)

    def _all(self) -> Iterator[tuple[str, Database]]:
        """All databases by name; the main database has an empty name."""
        yield "", self.main
        yield from self.mapped.items()

    async def _ask_all(self, ask: Callable[[Database], Awaitable[T]]) -> dict[str, T]:
        """Ask all databases, even if some fail; results by name."""
        found: dict[str, T] = {}
        failed: list[str] = []
        for name, database in self._all():
            try:
                found[name] = await ask(database)
            except StoreError as error:
                failed.append(_named(name, error))
        if failed:
            raise StoreError("; ".join(failed))
        return found


def parts_of(database: Database) -> tuple[Database, Mapping[str, Database]]:
    """The main database, and the mapped databases by name; no mapped databases unless ``database`` is spread."""
    if isinstance(database, SpreadDatabase):
        return database.main, database.mapped
    return database, {}


def _named(name: str, problem: object) -> str:
    return f"store {name}: {problem}" if name else str(problem)
