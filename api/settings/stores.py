"""Further stores with the projects whose traces they have: the map that spreads projects over servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from api.settings.credentials import DEFAULT_USER, refuse_secrets
from schema.errors import InputError
from schema.projects import problem_of_name

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_Text = Annotated[str, Field(min_length=1)]


class MappedStore(BaseModel):
    """A store beside the main store.

    Attributes:
        uri: URI of the store; see ``store.open``.
        projects: projects of this store; the traces of all other projects are in the main store.
        values: URI of the store's values, apart from other stores' values; only SQLite needs none.
        database: database of a Neo4j server; None for the user's home database.
        user: user of a Neo4j server.
        password_file: file with the user's password.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    uri: _Text
    projects: list[_Text]
    values: _Text | None = None
    database: _Text | None = None
    user: _Text = DEFAULT_USER
    password_file: _Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _holds_no_secret(cls, value: Any) -> Any:
        if isinstance(value, dict) and "password" in value:
            raise ValueError("a secret does not stand here: name a file of it with password_file")
        return value

    @field_validator("uri", "values")
    @classmethod
    def _without_secrets(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                refuse_secrets("", value, "they are user and password_file")
            except InputError as error:
                raise ValueError(error.problem) from None
        return value

    @field_validator("uri")
    @classmethod
    def _is_store(cls, value: str) -> str:
        from store.open import engine_of

        try:
            engine_of(value)
        except InputError as error:
            raise ValueError(error.problem) from None
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> MappedStore:
        from store.open import engine_of

        if engine_of(self.uri) == "neo4j" and self.values is None:
            raise ValueError('say where its values lie: values = "s3://bucket/prefix" or "file:///folder"')
        return self


def check_stores(stores: Mapping[str, MappedStore]) -> None:
    """Check that names are valid, and that each project is in only one store.

    Raises:
        ValueError: a name is not valid, or a project is in several stores.
    """
    known: dict[str, str] = {}
    for name, store in stores.items():
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"{name!r} can't be the name of a store: write letters, digits, - and _")
        for project_id in store.projects:
            if problem := problem_of_name(project_id):
                raise ValueError(problem)
            if project_id in known:
                raise ValueError(f"project {project_id!r} is named twice: by {known[project_id]} and by {name}")
            known[project_id] = name


def check_values(main: str | None, stores: Mapping[str, MappedStore]) -> None:
    """Check that no two stores share a place for values: a deletion would delete values of both stores.

    Raises:
        ValueError: two stores have the same place.
    """
    known = {main.rstrip("/"): "the main store"} if main else {}
    for name, store in stores.items():
        if store.values is None:
            continue
        place = store.values.rstrip("/")
        if place in known:
            raise ValueError(f"stores.{name}.values: those of {known[place]} lie there: each store needs a place apart")
        known[place] = f"store {name}"
