"""Opens the database that a URI names."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from schema.errors import InputError, StoreError
from store.contract.protocol import Database
from store.sqlite.database import SqliteDatabase
from store.values.object_values import ObjectValues

DEFAULT_URI = "sqlite:///memtrace.db"
_SQLITE = "sqlite:///"
_NEO4J_SCHEMES = frozenset({"neo4j", "bolt", "neo4j+s", "bolt+s", "neo4j+ssc", "bolt+ssc"})


@dataclass(frozen=True, slots=True)
class Credentials:
    """User and password of a Neo4j server; ``repr`` hides the password."""

    user: str = "neo4j"
    password: str = field(default="", repr=False)


async def open_database(
    uri: str = DEFAULT_URI,
    values: str | None = None,
    credentials: Credentials | None = None,
    create: bool = True,
    database: str | None = None,
    prepare: bool = True,
) -> Database:
    """Open the database that a URI names; a SQLite file, and an empty Neo4j database, get the current layout.

    Args:
        uri: ``sqlite:///relative/path``, ``sqlite:////absolute/path``, ``neo4j://host:port`` or ``bolt://host:port``.
        values: ``file:///dir`` or ``s3://bucket/prefix``; None keeps values in the SQLite file, and for Neo4j in a
            folder of this machine.
        credentials: for Neo4j.
        create: whether to make a missing SQLite file.
        database: name of the database on the Neo4j server; None for the user's default database.
        prepare: whether to connect to a Neo4j server now. Otherwise the first use connects, and an empty database gets
            no layout.

    Raises:
        InputError: the URI has none of the supported forms.
        StoreError: the database can't be reached or used.
    """
    if engine_of(uri) == "sqlite":
        return await _open_sqlite(Path(uri.removeprefix(_SQLITE)), values, create)
    return await _open_neo4j(uri, values, credentials or Credentials(), database, prepare)


def engine_of(uri: str) -> Literal["sqlite", "neo4j"]:
    """The engine that a URI names.

    Raises:
        InputError: the URI names no engine, or no file.
    """
    scheme = urlsplit(uri).scheme
    if scheme in _NEO4J_SCHEMES:
        return "neo4j"
    if scheme != "sqlite":
        raise InputError("store", "", f"{uri!r} is neither sqlite:///path nor neo4j://host:port nor bolt://host:port")
    if not uri.startswith(_SQLITE) or len(uri) == len(_SQLITE):
        raise InputError("store", "", f"{uri!r} names no file: write sqlite:///path, with four slashes if absolute")
    return "sqlite"


async def _open_sqlite(path: Path, values: str | None, create: bool) -> Database:
    exists, has_folder = await asyncio.to_thread(lambda: (path.exists(), path.absolute().parent.is_dir()))
    if not exists and not create:
        raise StoreError(f"there is no store {path}: import a file first, or name another with --store")
    if not has_folder:
        raise StoreError(f"the folder of {path} does not exist")
    database = SqliteDatabase(path, ObjectValues(values) if values else None)
    try:
        await database.migrate()
    except BaseException:
        await database.close()
        raise
    return database


async def _open_neo4j(
    uri: str, values: str | None, credentials: Credentials, name: str | None, prepare: bool
) -> Database:
    from store.neo4j.database import Neo4jDatabase

    place = ObjectValues(values or default_values())
    database = Neo4jDatabase(uri, credentials.user, credentials.password, place, name)
    try:
        if prepare:
            await database.prepare()
    except BaseException:
        await database.close()
        raise
    return database


def default_values() -> str:
    """The URI of the default place for values beside Neo4j: a folder of the current user on this machine."""
    from platformdirs import user_data_path

    return (user_data_path("memtrace", appauthor=False) / "values").as_uri()
