"""Names that identify LangGraph's stores in every process."""

from __future__ import annotations

from typing import Any

from memtrace.instruments import placing


def address(store: Any) -> str:
    """The class of a store and the place of its items; a store in this process's memory gets an identity of its own.

    The place in a database is host, port and name, without user and password.
    """
    kind = type(store).__name__
    connection = getattr(store, "conn", None)
    if connection is None:
        return placing.private_store(kind, store)
    if type(connection).__module__ == "sqlite3":
        return _of_file(store, kind, connection)
    info = getattr(connection, "info", None)
    said = [str(getattr(info, part, "") or "") for part in ("host", "port", "dbname")]
    return " ".join(part for part in (kind, *said) if part)


def _of_file(store: Any, kind: str, connection: Any) -> str:
    """The class and file of a store in SQLite. A store without a file is in this process's memory."""
    try:
        rows = connection.execute("PRAGMA database_list").fetchall()
        file = next((str(row[2] or "") for row in rows if row[1] == "main"), "")
    except Exception:
        return kind  # the connection is closed, belongs to another thread, or has rows of another form
    return f"{kind} {file}" if file else placing.private_store(kind, store)
