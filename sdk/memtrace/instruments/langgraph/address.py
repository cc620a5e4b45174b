"""What tells a store from all others, and is the same in every process that uses it."""

from __future__ import annotations

from typing import Any

from memtrace.instruments import placing


def address(store: Any) -> str:
    """The class of a store and where its items are; a store in this process's memory has an identity of its own.

    Of a connection to a database only the host, port and name are taken, never a user or password.
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
    """The class and the file of a store in SQLite; without a file it is in this process's memory."""
    try:
        rows = connection.execute("PRAGMA database_list").fetchall()
        file = next((str(row[2] or "") for row in rows if row[1] == "main"), "")
    except Exception:
        return kind  # a connection that only its own thread may use, that is closed, or that has rows of its own form
    return f"{kind} {file}" if file else placing.private_store(kind, store)
