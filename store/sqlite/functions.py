"""Functions that SQLite lacks, for the texts of queries."""

from __future__ import annotations

import apsw


def add_functions(connection: apsw.Connection) -> None:
    """Make them known to a connection.

    ``lowered`` is a text in small letters of any script, as Neo4j's ``toLower`` gives it; SQLite's own ``lower`` knows
    those of ASCII alone.
    """
    connection.create_scalar_function("lowered", _lowered, 1, deterministic=True)


def _lowered(*arguments: apsw.SQLiteValue) -> str:
    (text,) = arguments
    return str(text).lower()
