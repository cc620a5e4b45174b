"""What tells a vector store from all others, in every process that uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memtrace.instruments import placing


def store_name(store: Any) -> str:
    """Its kind, its collection, and the folder or server where it says that; else an identity of this process only."""
    kind = type(store).__name__
    for attribute in ("collection_name", "_collection_name", "index_name", "_index_name"):
        said = getattr(store, attribute, None)
        if isinstance(said, str) and said:
            where = _where(store)
            return f"{kind} {said} {where}" if where else f"{kind} {said}"
    return placing.private_store(kind, store)


def _where(store: Any) -> str | None:
    """The folder of Chroma, the folder or address of Qdrant."""
    folder = getattr(store, "_persist_directory", None)
    if isinstance(folder, str) and folder:
        return str(Path(folder).absolute())
    client = getattr(getattr(store, "_client", None), "_client", None)
    folder, address = getattr(client, "location", None), getattr(client, "rest_uri", None)
    if isinstance(folder, str) and folder and folder != ":memory:":
        return str(Path(folder).absolute())
    return address if isinstance(address, str) else None
