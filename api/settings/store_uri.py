"""The short form of a store's URI: the path of a SQLite file."""

from __future__ import annotations


def store_uri(named: str) -> str:
    """The URI of a store that is named by its URI, or by a file: ``sqlite:///team.db`` for ``team.db``."""
    return named if ":" in named else f"sqlite:///{named}"
