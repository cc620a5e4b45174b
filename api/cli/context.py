"""Which store, values and project a command works on, from options and the environment."""

from __future__ import annotations

import inspect
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from api.cli.errors import UsageError
from api.cli.options import DebugOption, ProjectOption, StoreOption, ValuesOption, after_command
from api.settings.credentials import neo4j_credentials, refuse_secrets
from api.settings.store_uri import store_uri
from schema.errors import InputError
from schema.projects import check_project

if TYPE_CHECKING:
    from api.settings import Settings
    from store.contract.protocol import Database, GraphStore
    from store.open import Credentials

DEFAULT_STORE = "sqlite:///memtrace.db"
DEFAULT_PROJECT = "default"

Work = Callable[..., Coroutine[Any, Any, None]]
"""The coroutine of a command: it takes a ``Target`` and the command's own arguments."""


@dataclass(frozen=True, slots=True)
class Target:
    """The store, values and project that a command works on. None means the environment's setting, else the default."""

    store: str | None = None
    values: str | None = None
    project: str | None = None
    debug: bool = False

    def merge(self, store: str | None, values: str | None, project: str | None, debug: bool) -> Target:
        """This target, with the options after the command's name in place of those before it."""
        return Target(store or self.store, values or self.values, project or self.project, debug or self.debug)

    @property
    def project_id(self) -> str:
        """The project's id, which is also its name.

        Raises:
            UsageError: the name is not allowed.
        """
        try:
            return check_project(self.any_project_id, "--project")
        except InputError as error:
            raise UsageError(str(error)) from None

    @property
    def any_project_id(self) -> str:
        """The project's id, unchecked: older stores may have projects with names that are no longer allowed."""
        return self.project or os.environ.get("MEMTRACE_PROJECT") or DEFAULT_PROJECT

    @asynccontextmanager
    async def database(self, create: bool = False) -> AsyncIterator[Database]:
        """Open the database.

        Args:
            create: whether to make a database that does not exist.

        Raises:
            UsageError: a URI is malformed.
            StoreError: the database can't be reached or used.
        """
        try:
            database = await (self._open_all(create) if _has_settings() else self._open_one(create))
        except InputError as error:
            raise UsageError(str(error)) from error
        async with database:
            yield database

    @property
    def store_uri(self) -> str:
        """The URI of the store that holds the project's traces.

        Raises:
            UsageError: a setting can't be used.
        """
        if _has_settings():
            from api.settings.loading import place_of

            return place_of(self._settings(), self.any_project_id)[0]
        return store_uri(self.store or os.environ.get("MEMTRACE_STORE") or DEFAULT_STORE)

    @property
    def values_uri(self) -> str | None:
        """The URI of the long values of the project's traces; None if the store itself keeps them.

        Raises:
            UsageError: a setting can't be used.
        """
        if _has_settings():
            from api.settings.loading import values_of

            return values_of(self._settings(), self.any_project_id)
        return self.values or os.environ.get("MEMTRACE_VALUES") or None

    def _settings(self) -> Settings:
        from api.settings.loading import load_settings

        options = {"store": self.store, "values": self.values}
        if self.store:
            # ``--store`` names the store of every project. The value is text, because an empty dictionary would not
            # override anything.
            options["stores"] = "{}"
        try:
            return load_settings(None, options)
        except InputError as error:
            raise UsageError(str(error)) from error

    async def _open_all(self, create: bool) -> Database:
        from api.settings.loading import open_databases

        return await open_databases(self._settings(), create)

    async def _open_one(self, create: bool) -> Database:
        """Open the store without the settings: reading them takes longer than most commands."""
        from store.open import open_database

        uri, values = self.store_uri, self.values_uri
        refuse_secrets("--store", uri)
        if values:
            refuse_secrets("--values", values)
        name = os.environ.get("MEMTRACE_NEO4J_DATABASE") or None
        return await open_database(uri, values, _credentials(uri), create, name)

    @asynccontextmanager
    async def open(self, create: bool = False, any_name: bool = False) -> AsyncIterator[GraphStore]:
        """Open the project's part of the database; see ``database``.

        Args:
            create: whether to make a database that does not exist.
            any_name: whether to accept a project name that is no longer allowed, for reading, exporting and
                deleting.
        """
        project_id = self.any_project_id if any_name else self.project_id
        async with self.database(create) as database:
            store, person = database.project(project_id), person_named()
            if person is not None:
                from store.blind import blind_store

                store = blind_store(store, database.records(project_id), person)
            yield store


def person_named() -> str | None:
    """The user according to the environment; None is the keeper of the store."""
    return os.environ.get("MEMTRACE_PERSON") or None


def _has_settings() -> bool:
    """Whether a settings file or a map of stores may name the store, so that all settings must be read."""
    return any(os.environ.get(name) for name in ("MEMTRACE_CONFIG", "MEMTRACE_STORES"))


def _credentials(uri: str) -> Credentials | None:
    variables = ("MEMTRACE_NEO4J_USER", "MEMTRACE_NEO4J_PASSWORD", "MEMTRACE_NEO4J_PASSWORD_FILE")
    return neo4j_credentials(uri, *map(os.environ.get, variables))


def command(
    app: typer.Typer, name: str | None = None, *, panel: str | None = None
) -> Callable[[Work], Callable[..., None]]:
    """Make a command of a coroutine whose first parameter is a ``Target``.

    The options for the store and the project may stand before the command's name or after it; those after it win.
    """
    return lambda work: app.command(name, rich_help_panel=panel)(_entry(work))


def default_command(app: typer.Typer) -> Callable[[Work], Callable[..., None]]:
    """Like ``command``, for a group's action when the user names none of its commands."""
    return lambda work: app.callback(invoke_without_command=True)(_entry(work))


def _entry(work: Work) -> Callable[..., None]:
    """The function for Typer, with the options for the store and the project, and the coroutine's own parameters."""

    def run(context: typer.Context, **arguments: Any) -> None:
        where = {option: arguments.pop(option) for option in _WHERE}
        root = context.find_root()
        root.obj = (root.obj or Target()).merge(**where)
        if context.invoked_subcommand is None:
            _run(work(root.obj, **arguments))

    own = list(inspect.signature(work, eval_str=True).parameters.values())[1:]
    parameters = [
        inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own),
        *(
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
            for option, (annotation, default) in _WHERE.items()
        ),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__, run.__doc__ = work.__name__, work.__doc__
    return run


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run the command to its end. An interrupt does not wait for threads, which may read or parse for long."""
    import asyncio

    from api.processes.memory import hold_little

    hold_little()
    runner = asyncio.Runner()
    try:
        runner.run(work)
    except KeyboardInterrupt:
        raise
    except BaseException:
        runner.close()
        raise
    runner.close()


_WHERE: dict[str, tuple[Any, Any]] = {
    "store": (after_command(StoreOption), None),
    "values": (after_command(ValuesOption), None),
    "project": (after_command(ProjectOption), None),
    "debug": (after_command(DebugOption), False),
}
