"""Reading the settings, and opening the stores and queues that they name."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pydantic import ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource

from api.settings import Settings
from api.settings.credentials import neo4j_credentials, read_password
from schema.errors import InputError, StoreError

if TYPE_CHECKING:
    from api.settings.stores import MappedStore
    from ingest.queue.journal.queue import Journal
    from ingest.queue.protocol import EventQueue
    from store.contract.protocol import Database
    from store.open import Credentials

CONFIG_VARIABLE = "MEMTRACE_CONFIG"
_SECRETS = {"neo4j_password", "nats_password", "oidc_client_secret"}
_JOURNAL_SUFFIX = "-queue"


def load_settings(config: Path | None = None, options: Mapping[str, Any] | None = None) -> Settings:
    """The settings of this process.

    Args:
        config: a TOML file; None for the file in ``MEMTRACE_CONFIG``, if set.
        options: settings from the command line; values that are None are left to the environment and the file.

    Raises:
        InputError: a setting is unknown or can't be used. The error names the setting, its source and the mistake, and
            never quotes a secret.
    """
    said = {name: value for name, value in (options or {}).items() if value is not None}
    variable = os.environ.get(CONFIG_VARIABLE)
    path = config or (Path(variable) if variable else None)
    from_file = {} if path is None else _read(path)

    class Layered(Settings):
        """The settings, where the environment takes precedence over a file."""

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, InitSettingsSource(settings_cls, from_file)

    try:
        layered = Layered(**said)
    except ValidationError as error:
        raise _plain(error, said, path) from None
    return Settings.model_construct(**{name: getattr(layered, name) for name in Settings.model_fields})


async def open_databases(settings: Settings, create: bool = True) -> Database:
    """Open the main store, and the further stores that have the traces of some projects.

    A further store in Neo4j is connected at its first use, so that an unreachable server does not block other stores.

    Args:
        settings: the settings that name the stores.
        create: whether to make a missing SQLite file of the main store.

    Raises:
        InputError: a URI is not valid.
        StoreError: a store can't be reached or used.
    """
    from store.open import open_database
    from store.project_map import SpreadDatabase

    async with AsyncExitStack() as opened:
        credentials = _main_credentials(settings)
        main = await open_database(settings.store, settings.values, credentials, create, settings.neo4j_database)
        await opened.enter_async_context(main)
        mapped = {
            name: await opened.enter_async_context(await _open_mapped(name, store))
            for name, store in settings.stores.items()
        }
        opened.pop_all()
    places = {project_id: name for name, store in settings.stores.items() for project_id in store.projects}
    return SpreadDatabase(main, mapped, places) if mapped else main


async def _open_mapped(name: str, store: MappedStore) -> Database:
    from store.open import open_database

    try:
        return await open_database(store.uri, store.values, _credentials(store), database=store.database, prepare=False)
    except InputError as error:
        raise InputError(f"stores.{name}", error.source, error.problem) from None
    except StoreError as error:
        raise StoreError(f"store {name}: {error}") from error


def place_of(settings: Settings, project_id: str) -> tuple[str, Credentials | None, str | None]:
    """URI, credentials (None for SQLite) and database of the store with a project's traces.

    Raises:
        StoreError: the password file can't be read.
    """
    for store in settings.stores.values():
        if project_id in store.projects:
            return store.uri, _credentials(store), store.database
    return settings.store, _main_credentials(settings), settings.neo4j_database


def values_of(settings: Settings, project_id: str) -> str | None:
    """The URI of the long values of a project's traces; None for the store's own place."""
    return next((one.values for one in settings.stores.values() if project_id in one.projects), settings.values)


def _main_credentials(settings: Settings) -> Credentials | None:
    password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else None
    return neo4j_credentials(settings.store, settings.neo4j_user, password, settings.neo4j_password_file)


def _credentials(store: MappedStore) -> Credentials | None:
    return neo4j_credentials(store.uri, store.user, None, store.password_file)


async def open_store(settings: Settings) -> Database:
    """Open the stores that the settings name (see ``open_databases``), and check that the main one can be used.

    Raises:
        InputError: a URI is not valid.
        StoreError: a store can't be reached or used, or the layout of the main store is old.
    """
    database = await open_databases(settings)
    try:
        # The first use checks the layout of the store.
        await database.registry().queue()
    except BaseException:
        await database.close()
        raise
    return database


async def open_queue(settings: Settings) -> EventQueue:
    """Open the queue of events; a missing journal is made.

    Raises:
        InputError: the settings don't say where the journal is.
        StoreError: the queue can't be reached or used.
    """
    if settings.nats is None:
        return await open_events_journal(settings)
    from ingest.queue.nats.connection import NatsPlace
    from ingest.queue.nats.queue import open_nats

    password = settings.nats_password.get_secret_value() if settings.nats_password else None
    if password is None and settings.nats_password_file:
        password = read_password(settings.nats_password_file)
    place = NatsPlace(settings.nats, settings.nats_user, password)
    return await open_nats(place, settings.queue_bytes, settings.nats_replicas)


async def open_events_journal(settings: Settings) -> Journal:
    """Open or make the journal; see ``open_queue``."""
    from ingest.queue.journal.queue import open_journal

    return await open_journal(journal_path(settings), settings.queue_bytes, settings.dead_letter_bytes)


def client_secret(settings: Settings) -> str | None:
    """The secret of our client at the issuer; None for a public client.

    Raises:
        StoreError: the file of the secret can't be read.
    """
    if settings.oidc_client_secret is not None:
        return settings.oidc_client_secret.get_secret_value()
    return read_password(settings.oidc_client_secret_file) if settings.oidc_client_secret_file else None


def journal_path(settings: Settings) -> Path:
    """The path of the journal: from the settings, else beside the SQLite file or beside the values.

    Raises:
        InputError: the values are in a bucket, so the settings must name a journal or NATS.
    """
    from store.open import default_values

    if settings.journal is not None:
        return Path(settings.journal)
    if settings.store.startswith("sqlite:///"):
        path = Path(settings.store.removeprefix("sqlite:///"))
        return path.with_name(path.name + _JOURNAL_SUFFIX)
    values = (settings.values or default_values()).rstrip("/")
    if not values.startswith("file:///"):
        raise InputError("settings", "nats", "say where events wait: name NATS, or the path of a journal")
    return Path(unquote(values.removeprefix("file://")) + _JOURNAL_SUFFIX)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(str(path), "", f"the settings can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(str(path), "", "the settings can't be read: this is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(path), "", f"the settings are not TOML: {error}") from None
    for name in found:
        if name not in Settings.model_fields:
            raise InputError(str(path), name, "there is no such setting")
        if name in _SECRETS:
            raise InputError(str(path), name, f"a secret does not stand here: name a file of it with {name}_file")
    return found


def _plain(error: ValidationError, said: Mapping[str, Any], path: Path | None) -> InputError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    problem = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        problem = "there is no such setting"
    if not first["loc"]:
        return InputError("settings", "", problem)
    name, *inner = (str(part) for part in first["loc"])
    place = ".".join(inner)
    variable = f"MEMTRACE_{name.upper()}"
    if name in said:
        return InputError(f"--{name.replace('_', '-')}", place, problem)
    if any(known.upper() == variable for known in os.environ):
        return InputError(variable, place, problem)
    return InputError(str(path), ".".join((name, *inner)), problem)
