"""Runs Cypher queries that people write: read only, and within bounds of time and rows.

Four safeguards: the plan of the server shows what a query would do before the query runs; the query runs in a session
for reading, in a transaction that is never committed, and with a time limit that the server enforces.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import neo4j
from neo4j import exceptions
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from schema.errors import InputError
from schema.models import format_time
from store.contract.asked import MOST_BYTES, QueryResult, QueryTimeoutError, TooMuchError, too_large
from store.neo4j.connection import Connection

HARMLESS_PROCEDURES = frozenset(
    {
        "db.index.fulltext.listAvailableAnalyzers",
        "db.index.fulltext.queryNodes",
        "db.index.fulltext.queryRelationships",
        "db.index.vector.queryNodes",
        "db.index.vector.queryRelationships",
        "db.info",
        "db.labels",
        "db.ping",
        "db.propertyKeys",
        "db.relationshipTypes",
        "db.schema.nodeTypeProperties",
        "db.schema.relTypeProperties",
        "db.schema.visualization",
    }
)
"""Procedures that only read the graph. A session for reading could also call procedures that end connections, show
settings or fetch addresses."""

_HARMLESS_SHOWS = frozenset({"ShowConstraints", "ShowFunctions", "ShowIndexes", "ShowProcedures"})
_REFUSED = {
    "AdministrationCommand": "it administers the server",
    "LoadCSV": "LOAD CSV reads files and addresses",
    "TerminateTransactions": "it ends transactions of others",
    "TransactionApply": "it makes transactions of its own (CALL … IN TRANSACTIONS)",
    "TransactionForeach": "it makes transactions of its own (CALL … IN TRANSACTIONS)",
}

_EXPLAIN = "EXPLAIN "
_PLACE = re.compile(r"\(line (\d+), column (\d+) \(offset: (\d+)\)\)")
_GRACE_SECONDS = 5.0
_FETCHED = 100
"""Rows that the server sends at once."""
_NO_MEMORY = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
_encode = msgspec.json.Encoder().encode
_TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"
_ASKED_WRONGLY = ("Neo.ClientError.Statement.", "Neo.ClientError.Procedure.", "Neo.ClientError.Schema.")


async def run_query(
    connection: Connection, project_id: str, text: str, parameters: dict[str, Any], seconds: float, limit: int
) -> QueryResult:
    """Run a query that only reads.

    The query sees all projects of the database, unless its text uses the parameter ``project``.

    Args:
        connection: of the database.
        project_id: the default of the parameter ``project``.
        text: one statement of Cypher.
        parameters: by name, without ``$``.
        seconds: the time limit, more than 0.
        limit: the largest number of rows to read, up to ``MOST_ROWS``.

    Raises:
        TooMuchError: the rows have more than ``MOST_BYTES``, or the query needs more memory than the server allows.
        InputError: the query is wrong, lacks a parameter, or would do more than read the graph.
        QueryTimeoutError: the query took longer than ``seconds``.
        StoreError: the server can't be reached or used.
    """
    given = {"project": project_id, **parameters}
    session = connection.session(neo4j.READ_ACCESS, fetch_size=_FETCHED)
    try:
        async with (
            asyncio.timeout(seconds + _GRACE_SECONDS),
            session as opened,
            await opened.begin_transaction(timeout=seconds) as transaction,
        ):
            try:
                return await _run(transaction, text, given, limit)
            except TooMuchError:
                transaction.cancel()  # what has not come yet is not waited for
                raise
    except TimeoutError:
        raise QueryTimeoutError(f"the query took longer than {seconds:g} seconds") from None


async def _run(transaction: neo4j.AsyncTransaction, text: str, parameters: dict[str, Any], limit: int) -> QueryResult:
    try:
        summary = await (await transaction.run(_EXPLAIN + text, parameters)).consume()
        _refuse(summary)
        result = await transaction.run(text, parameters)
        rows, truncated = await _rows(result, limit)
    except exceptions.Neo4jError as error:
        if (error.code or "").startswith(_NO_MEMORY):
            raise TooMuchError("the query needs more memory than the server allows one transaction") from error
        if (error.code or "").startswith(_ASKED_WRONGLY):
            raise InputError("query", "", _message(error)) from error
        if (error.code or "").startswith(_TIMED_OUT):
            raise TimeoutError from error
        raise
    return QueryResult(list(result.keys()), rows, truncated)


async def _rows(result: neo4j.AsyncResult, limit: int) -> tuple[list[list[Any]], bool]:
    """The first rows, and whether there are more.

    Raises:
        TooMuchError: the rows have too many bytes.
    """
    rows: list[list[Any]] = []
    size = 0
    async for record in result:
        if len(rows) == limit:
            return rows, True
        row = [json_value(value) for value in record.values()]
        size += len(_encode(row))
        if size > MOST_BYTES:
            raise too_large(len(rows), MOST_BYTES)
        rows.append(row)
    return rows, False


def _refuse(summary: neo4j.ResultSummary) -> None:
    """Refuse a query that would do more than read the graph."""
    plan = summary.plan
    operators = list(_operators(plan)) if plan else []
    for name, details in operators:
        why = _REFUSED.get(name)
        if name.startswith("Show") and name not in _HARMLESS_SHOWS:
            why = "it shows the state of the server, not the graph"
        if name == "ProcedureCall":
            procedure = details.partition("(")[0].strip()
            if procedure not in HARMLESS_PROCEDURES:
                why = f"it calls {procedure}, which is not among the procedures known to be harmless"
        if why is not None:
            raise InputError("query", "", f"refused: {why}")
    if summary.query_type != "r" or not operators:
        raise InputError("query", "", "refused: it does more than read; nothing was run")


def _operators(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and details of each operator of a plan."""
    yield plan["operatorType"].partition("@")[0], plan["args"].get("Details") or ""
    for child in plan.get("children", ()):
        yield from _operators(child)


def _message(error: exceptions.Neo4jError) -> str:
    """The first line of the server's message, with places in the query without the prefix EXPLAIN."""
    first = (error.message or "").partition("\n")[0].strip()
    return _PLACE.sub(_moved_back, first)


def _moved_back(place: re.Match[str]) -> str:
    line, column, offset = map(int, place.groups())
    shift = len(_EXPLAIN)
    return f"(line {line}, column {max(1, column - shift) if line == 1 else column})" if offset >= shift else ""


def json_value(value: Any) -> Any:
    """A value of the driver as a value of JSON; only bytes stay bytes.

    A node becomes an object with its labels and properties, a relationship an object with its type, ends and
    properties, a path an object with its nodes and relationships; times become texts in ISO 8601.
    """
    if value is None or isinstance(value, str | bool | int | float | bytes):
        return value
    if isinstance(value, list | tuple) and not isinstance(value, Duration | Point):
        return [json_value(part) for part in value]
    if isinstance(value, dict):
        return {key: json_value(part) for key, part in value.items()}
    if isinstance(value, Node):
        return {"elementId": value.element_id, "labels": sorted(value.labels), "properties": _properties(value)}
    if isinstance(value, Relationship):
        return {
            "elementId": value.element_id,
            "type": value.type,
            "start": value.start_node.element_id if value.start_node is not None else None,
            "end": value.end_node.element_id if value.end_node is not None else None,
            "properties": _properties(value),
        }
    if isinstance(value, Path):
        return {
            "nodes": [json_value(node) for node in value.nodes],
            "relationships": [json_value(relationship) for relationship in value.relationships],
        }
    return _special(value)


def _properties(entity: Node | Relationship) -> dict[str, Any]:
    return {name: json_value(part) for name, part in entity.items()}


def _special(value: Any) -> Any:
    if isinstance(value, DateTime):
        if value.tzinfo is None or value.nanosecond % 1000:
            return value.iso_format().replace("+00:00", "Z")
        return format_time(value.to_native())
    if isinstance(value, Date | Time | Duration):
        return value.iso_format()
    if isinstance(value, Point):
        return {"srid": value.srid, "coordinates": list(value)}
    if isinstance(value, Vector):
        return value.to_native()
    return str(value)
