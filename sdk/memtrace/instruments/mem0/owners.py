"""Names the store of a mem0 memory, and the owner of the units of a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from memtrace.instruments import placing

OWNERS = ("user_id", "agent_id", "run_id")
"""Possible owners of a unit, the widest first: a user's units of all agents and runs are read together."""

_ADDRESSES = ("url", "endpoint", "cluster_url", "uri", "host", "port", "path", "dbname", "database", "index_name")
_stores: WeakKeyDictionary[object, str] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a call's units; ``run`` is the conversation's id, if the call names one beside the owner."""

    name: str = ""
    run: str | None = None


def store_of(memory: Any) -> str:
    """The name of a memory's store, the same in every process; without key or password."""
    known = _stores.get(memory)
    if known is None:
        known = _stores[memory] = _store(memory)
    return known


def _store(memory: Any) -> str:
    settings = memory.config.vector_store
    provider, config = str(settings.provider), settings.config
    collection = _setting(config, "collection_name") or ""
    where = [shown for name in _ADDRESSES if (value := _setting(config, name)) and (shown := _address(name, value))]
    is_given = _setting(config, "client") is not None
    if is_given or not where or ":memory:" in where:
        return f"{placing.private_store(provider, memory.vector_store)} {collection}"
    return " ".join([provider, *where, str(collection)])


def _address(name: str, value: object) -> str:
    """A part of a store's address, without user and password."""
    text = str(value)
    if name == "path":
        return text if text == ":memory:" else str(Path(text).expanduser().absolute())
    if "://" in text:
        parts = urlsplit(text)
        return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"
    return text


def _setting(config: object, name: str) -> Any:
    return config.get(name) if isinstance(config, Mapping) else getattr(config, name, None)


def owner_of(said: Mapping[str, Any]) -> Owner:
    """The widest owner that is named by a call's arguments and filters, or by a unit's payload."""
    found: dict[str, str] = {}
    _look(said, found)
    _look(said.get("filters"), found)
    name = next((f"{kind}={found[kind]}" for kind in OWNERS if kind in found), "")
    run = found.get("run_id")
    return Owner(name, run if run is not None and name != f"run_id={run}" else None)


def _look(filters: object, found: dict[str, str]) -> None:
    if not isinstance(filters, Mapping):
        return
    for kind in OWNERS:
        value = filters.get(kind)
        if isinstance(value, Mapping):
            value = value.get("eq")
        if isinstance(value, str | int) and str(value).strip() not in {"", "*"}:
            found.setdefault(kind, str(value).strip())
    both = filters.get("AND")
    for part in both if isinstance(both, Iterable) and not isinstance(both, str | Mapping) else ():
        _look(part, found)
