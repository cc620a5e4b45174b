"""SQL functions for the texts of queries."""

from __future__ import annotations

import apsw


def add_functions(connection: apsw.Connection) -> None:
    """Add ``lowered`` to a connection: lower case for all scripts, like Neo4j's ``toLower``; ``lower`` is for ASCII."""
    connection.create_scalar_function("lowered", _lowered, 1, deterministic=True)


def _lowered(*arguments: apsw.SQLiteValue) -> str:
    (text,) = arguments
    return str(text).lower()
