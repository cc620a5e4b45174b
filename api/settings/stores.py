"""Further stores, and whose traces they hold: the map that spreads projects over servers."""

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
    """A store beside the main one.

    Attributes:
        uri: see ``store.open``.
        projects: whose traces it holds; those of all others are in the main store.
        values: where its values lie, apart from those of other stores; only SQLite needs none.
        database: of a Neo4j server; None is the user's own.
        user: of a Neo4j server.
        password_file: holds the user's password.
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
    """Check that the names can be used, and that each project is in one store only.

    Raises:
        ValueError: they can't, or one is in several.
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
    """Check that each store has its own place for values, so that deleting in one does not delete another's.

    Raises:
        ValueError: two have the same.
    """
    known = {main.rstrip("/"): "the main store"} if main else {}
    for name, store in stores.items():
        if store.values is None:
            continue
        place = store.values.rstrip("/")
        if place in known:
            raise ValueError(f"stores.{name}.values: those of {known[place]} lie there: each store needs a place apart")
        known[place] = f"store {name}"
