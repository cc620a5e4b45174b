"""Finds the store of a project from the settings of the platform's command line."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError, field_validator

_DEFAULT_USER = "neo4j"
_PREFIX = "MEMTRACE_"
_SCHEMES = {"neo4j": "bolt", "neo4j+s": "bolt+s", "neo4j+ssc": "bolt+ssc"}


class Place(NamedTuple):
    """A database of a Neo4j server and the user who reads it. None as the database means the user's own."""

    uri: str
    user: str
    password: str
    database: str | None


class _Store(BaseModel):
    """A store beside the main one."""

    uri: str
    projects: list[str]
    database: str | None = None
    user: str = _DEFAULT_USER
    password_file: str | None = None


class _Settings(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    store: str = ""
    neo4j_user: str = _DEFAULT_USER
    neo4j_password: SecretStr | None = None
    neo4j_password_file: str | None = None
    neo4j_database: str | None = None
    stores: dict[str, _Store] = {}

    @field_validator("stores", mode="before")
    @classmethod
    def _parse(cls, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value


def place_of(project: str) -> Place:
    """The store of a project's traces: from the environment, otherwise from the file that ``MEMTRACE_CONFIG`` names.

    An address with ``neo4j://`` is changed to ``bolt://``, because py2neo can't use routing.

    Raises:
        ValueError: a setting or a file can't be read, or does not name a Neo4j server. No message contains a secret.
    """
    settings = _settings()
    for store in settings.stores.values():
        if project in store.projects:
            return _place(store.uri, store.user, None, store.password_file, store.database)
    secret = settings.neo4j_password.get_secret_value() if settings.neo4j_password else None
    return _place(settings.store, settings.neo4j_user, secret, settings.neo4j_password_file, settings.neo4j_database)


def _place(uri: str, user: str, password: str | None, file: str | None, database: str | None) -> Place:
    scheme, separator, rest = uri.partition("://")
    if not separator or scheme not in {*_SCHEMES, *_SCHEMES.values()}:
        raise ValueError("MEMTRACE_STORE: a notebook reads a Neo4j store: set it to bolt://host:port")
    if password is None:
        password = _read(file).strip("\r\n") if file else ""
    return Place(f"{_SCHEMES.get(scheme, scheme)}://{rest}", user, password, database)


def _settings() -> _Settings:
    file = os.environ.get(f"{_PREFIX}CONFIG")
    try:
        said = tomllib.loads(_read(file)) if file else {}
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file}: the settings are not TOML: {error}") from None
    try:
        return _Settings.model_validate(said | dict(_environment()))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise ValueError(f"settings: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _environment() -> Iterator[tuple[str, Any]]:
    for name in _Settings.model_fields:
        value = os.environ.get(_PREFIX + name.upper())
        if value:
            yield name, value


def _read(file: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ValueError(f"{file} can't be read: {reason}") from None
