"""One project of a Neo4j store, for notebooks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from importlib.resources import files
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import pandas as pd
from interchange.time import Date, DateTime, Duration, Time
from py2neo import Graph, Subgraph
from py2neo.errors import ConnectionBroken, ConnectionUnavailable, ServiceUnavailable
from py2neo.ogm import Model

from memtrace.notebook.models import Operation, Variable
from memtrace.notebook.place import place_of

M = TypeVar("M", bound=Model)

_SCHEMES = ("bolt://", "bolt+s://", "bolt+ssc://")
_PROJECT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_BOUND = re.compile(r"\$project\b")


class ReadOnlyGraph(Graph):  # type: ignore[misc]
    """py2neo's graph with read transactions only, in which the server refuses to write."""

    def auto(self, readonly: bool = True) -> Any:
        """A read transaction for one query."""
        return super().auto(readonly=True)

    def begin(self, readonly: bool = True) -> Any:
        """A read transaction."""
        return super().begin(readonly=True)


class MemTraceGraph:
    """Reads one project of a Neo4j store.

    Attributes:
        project: its name.
        graph: py2neo's own object, for what this class has no method for. It only reads, but it sees all projects.
    """

    def __init__(
        self, uri: str, user: str, password: str, project: str = "default", database: str | None = None
    ) -> None:
        """Connect to the server.

        Args:
            uri: ``bolt://host:port``, also with ``+s`` or ``+ssc``; py2neo can't use the routing of ``neo4j://``.
            user: the user of the server.
            password: the password of the user; it is never shown.
            project: the project to read.
            database: the database of the server; None means the user's own.

        Raises:
            ValueError: the URI has another form, or contains a user or a password; or the project's name is not
                allowed.
            ConnectionError: the server can't be reached, or does not speak a protocol that py2neo knows.
        """
        if "@" in uri:
            raise ValueError("uri: write it without user and password, which are arguments of their own")
        if not uri.startswith(_SCHEMES):
            raise ValueError(f"uri: {uri!r} is not bolt://host:port, which is all that a notebook can use")
        if _PROJECT.fullmatch(project) is None:
            raise ValueError(f"project: none can be called {project[:200]!a}")
        self.project = project
        try:
            self.graph = ReadOnlyGraph(uri, auth=(user, password), name=database)
        except (ConnectionUnavailable, ConnectionBroken, ServiceUnavailable) as error:
            raise ConnectionError(f"{uri}: {_reason(error)}") from error

    @classmethod
    def from_environment(cls, project: str | None = None) -> Self:
        """Connect as the command line does, so that no notebook has to contain a password.

        Args:
            project: the project to read; None means ``MEMTRACE_PROJECT``, otherwise ``default``.

        Raises:
            ValueError: the project's store is not set, or is not a Neo4j server; or a setting or a file of it can't be
                read.
            ConnectionError: as for the constructor.
        """
        chosen = project or os.environ.get("MEMTRACE_PROJECT") or "default"
        place = place_of(chosen)
        return cls(place.uri, place.user, place.password, chosen, place.database)

    def query(self, cypher: str, **parameters: Any) -> pd.DataFrame:
        """The rows of a query that only reads, as a data frame; ``$project`` is the project.

        Raises:
            ValueError: the query does not contain ``$project``.
            py2neo.ClientError: the query is wrong, or would write.
        """
        if not _BOUND.search(cypher):
            raise ValueError("query: it is not bound to the project: write {projectId: $project}")
        if "project" in parameters:
            raise ValueError("query: project: the project is that of this graph")
        cursor = self.graph.query(cypher, {**parameters, "project": self.project})
        columns = list(cursor.keys())
        return pd.DataFrame([[_native(value) for value in record.values()] for record in cursor], columns=columns)

    def closure(self, variable_id: str, direction: Literal["backward", "forward"] = "backward") -> Subgraph:
        """A variable, all its causes (``forward``: its consequences), and the derivations between these variables.

        Raises:
            ValueError: the direction is not ``backward`` or ``forward``.
            LookupError: no variable of the project has the id.
        """
        if direction not in {"backward", "forward"}:
            raise ValueError(f"direction: {direction!r} is neither backward nor forward")
        text = files("memtrace.notebook").joinpath("queries", f"closure_{direction}.cypher").read_text("utf-8")
        (found,) = self.graph.query(text, {"id": variable_id, "project": self.project})
        if not found["variables"]:
            raise self._missing(variable_id, Variable)
        return Subgraph(found["variables"], found["derivations"])

    def variable(self, id_: str) -> Variable:
        """A variable by its id.

        Raises:
            LookupError: no variable of the project has this id.
        """
        return self._one(Variable, id_)

    def operation(self, id_: str) -> Operation:
        """An operation by its id.

        Raises:
            LookupError: no operation of the project has this id.
        """
        return self._one(Operation, id_)

    def _one(self, model: type[M], id_: str) -> M:
        found: Iterator[M] = iter(model.match(self.graph).where(id=id_, projectId=self.project).limit(1))
        for one in found:
            return one
        raise self._missing(id_, model)

    def _missing(self, id_: str, model: type[Model]) -> LookupError:
        return LookupError(f"no {model.__name__.lower()} {id_!r} in project {self.project!r}")

    def close(self) -> None:
        """Close all connections to the server."""
        self.graph.service.connector.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.graph.service.uri!r}, project={self.project!r})"


def _reason(error: Exception) -> str:
    """Why there is no connection; py2neo only says whether a version of Bolt could be agreed on."""
    if isinstance(error.__cause__, TypeError):
        return "the server does not speak Bolt 4.3 or older any more, and py2neo speaks nothing newer"
    return "the server can't be reached, or refuses the user name or the password"


def _native(value: Any) -> Any:
    """A value with Python's times in place of py2neo's, also inside lists and maps, so that data frames can calculate.

    Durations become text (ISO 8601), because their months have no fixed length.
    """
    if isinstance(value, list):
        return [_native(part) for part in value]
    if type(value) is dict:
        return {key: _native(part) for key, part in value.items()}
    if isinstance(value, DateTime):
        # to_native drops the zone.
        return datetime.fromisoformat(value.iso_format())
    if isinstance(value, Duration):
        return value.iso_format()
    return value.to_native() if isinstance(value, Date | Time) else value
