"""Runs SQL queries that people write: read only, over the rows of one project, and within bounds of time and rows.

Each table is covered by a temporary view of the same name with the project's rows, and the query runs on a connection
that can't write. This prevents mistakes, and is no protection: whoever may run a query may also read the file.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import apsw
import msgspec

from schema.errors import InputError
from schema.kinds import OperationKind, VariableKind
from store.contract.asked import MOST_BYTES, QueryResult, QueryTimeoutError, too_large
from store.sqlite.queries import sql

_STEPS = 10_000
"""Instructions of SQLite between two looks at the clock: about a millisecond."""
_ALLOWED = {apsw.SQLITE_SELECT, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE}
_TABLE_FUNCTIONS = {"json_each", "json_tree"}
_encode = msgspec.json.Encoder().encode


def run_query(
    connection: apsw.Connection,
    project_id: str,
    text: str,
    parameters: Mapping[str, Any],
    seconds: float,
    limit: int,
) -> QueryResult:
    """Run a query that only reads; it sees only the project's rows.

    Args:
        connection: a connection that nobody else uses, which the caller closes.
        project_id: the project, which is also the parameter ``project``.
        text: one statement of SQL.
        parameters: by name, without ``:`` or ``$``.
        seconds: the time limit, more than 0.
        limit: the largest number of rows to read.

    Raises:
        InputError: the query is wrong, lacks a parameter, or would do more than read.
        QueryTimeoutError: the query took longer than ``seconds``.
        TooMuchError: the rows have more than ``MOST_BYTES``.
    """
    tables = tables_of(connection, project_id)
    connection.pragma("query_only", True)
    connection.authorizer = _allows
    until = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    try:
        return _rows(connection, text, {"project": project_id, **parameters}, limit)
    except apsw.InterruptError:
        raise QueryTimeoutError(f"the query took longer than {seconds:g} seconds") from None
    except apsw.AuthError:
        raise InputError("query", "", "refused: it does more than read the tables of the project") from None
    except KeyError as error:
        raise InputError("query", "", f"the parameter {error.args[0]} has no value: -p {error.args[0]}=VALUE") from None
    except TypeError:
        raise InputError("query", "", "a parameter is a list or an object: SQL takes numbers and texts") from None
    except (apsw.SQLError, apsw.BindingsError) as error:
        raise InputError("query", "", f"{error}{_advice(str(error), text, tables)}") from error
    finally:
        connection.set_progress_handler(None)
        connection.authorizer = None


def tables_of(connection: apsw.Connection, project_id: str) -> dict[str, list[str]]:
    """Make the views that queries see, with the rows of one project; their names and columns."""
    connection.create_scalar_function("asked_project", lambda *_: project_id, 0, deterministic=True)
    for _ in connection.execute(sql("asked.views")):
        pass
    return {str(name): str(columns).split(", ") for name, columns in connection.execute(sql("asked.tables"))}


def _rows(connection: apsw.Connection, text: str, parameters: dict[str, Any], limit: int) -> QueryResult:
    columns: list[str] = []

    def begin(cursor: apsw.Cursor, statement: str, bindings: apsw.Bindings | None) -> bool:
        del statement, bindings
        found = [name for name, *_ in cursor.get_description()]
        if columns and found:
            raise InputError("query", "", "write one statement")
        columns.extend(found)  # a comment after the statement has no columns
        return True

    rows: list[list[Any]] = []
    size = 0
    cursor = connection.cursor()
    cursor.exec_trace = begin
    for found in cursor.execute(text, parameters):
        if len(rows) == limit:
            return QueryResult(columns, rows, True)
        row = [value.hex() if isinstance(value, bytes) else value for value in found]
        size += len(_encode(row))
        if size > MOST_BYTES:
            raise too_large(len(rows), MOST_BYTES)
        rows.append(row)
    return QueryResult(columns, rows, False)


def _allows(operation: int, first: str | None, column: str | None, place: str | None, inside: str | None) -> int:
    """Whether a query may do this: read the views, read tables through the views, and call functions.

    SQLite names no column for rows that are only counted, whether of a view or of the table below the view.
    """
    if operation in _ALLOWED:
        return apsw.SQLITE_OK
    if operation == apsw.SQLITE_READ and (
        place in {"temp", None} or inside is not None or not column or first in _TABLE_FUNCTIONS
    ):
        return apsw.SQLITE_OK
    return apsw.SQLITE_DENY


def _kind_named(table: str) -> VariableKind | OperationKind | None:
    """The kind of variables or operations that somebody took for a table, such as ``answers`` or ``memory_units``."""
    word = table.lower().replace("_", "")
    kinds: list[VariableKind | OperationKind] = [*VariableKind, *OperationKind]
    return next((one for one in kinds if word in {one.value.lower(), f"{one.value.lower()}s"}), None)


def _advice(problem: str, text: str, tables: Mapping[str, list[str]]) -> str:
    """The tables, or the columns of the tables that a query names, if the query names one that does not exist."""
    if problem.startswith("no such table: "):
        missing = problem.rpartition(" ")[2]
        if kind := _kind_named(missing):
            table = "variable" if isinstance(kind, VariableKind) else "operation"
            meant = f"; did you mean the rows of {table} where kind = '{kind.value}'?"
            return f"{meant} The tables are {', '.join(tables)}"
        near = get_close_matches(missing, tables, 1)
        meant = f"; did you mean {near[0]}?" if near else "."
        return f"{meant} The tables are {', '.join(tables)}"
    if problem.startswith("no such column: "):
        words = {word.lower() for word in re.findall(r"\w+", text)}
        named = [name for name in tables if name.lower() in words]
        return "".join(f"; {name} has {', '.join(tables[name])}" for name in named)
    return ""
