"""Names vector stores of LangChain, and finds the only vector store of a chain, whose trace ``root`` may choose.

LangChain tells its handlers the name of a chain, not the object. The chain is found as ``self`` of a calling method.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from weakref import ref

from memtrace.instruments import placing
from memtrace.instruments.homes import Home
from memtrace.recent import Recent

_PACKAGES = ("langchain_core.", "langchain.", "langchain_classic.", "langgraph.")
_MOST_FRAMES = 30
_MOST_OBJECTS = 500
_MOST_CHAINS = 1_000
_known: Recent[int, tuple[ref[Any], Home | None]] = Recent(_MOST_CHAINS)
"""Results by the ``id`` of the chain, because a search takes long and most chains are called again and again."""


def held_store() -> Home | None:
    """The trace of the only vector store in the calling chain; None if the chain has no store, or several.

    A graph of LangGraph is no chain: its conversation has a trace of its own.
    """
    base = sys.modules.get("langchain_core.runnables.base")
    stores = sys.modules.get("langchain_core.vectorstores.base")
    if base is None or stores is None:
        return None
    chain = _caller(base.Runnable)
    if chain is None or type(chain).__module__.startswith("langgraph."):
        return None
    known = _known.get(id(chain))
    if known is None or known[0]() is not chain:
        found = _stores(chain, base.Runnable, stores.VectorStore)
        homes = {home.trace: home for home in (_home(one) for one in found)}
        known = ref(chain), next(iter(homes.values())) if len(homes) == 1 else None
        _known.set(id(chain), known)
    return known[1]


def _home(store: Any) -> Home:
    return placing.memory_home(store_name(store), "", what=type(store).__name__)


def _caller(runnable: type) -> Any:
    frame: FrameType | None = sys._getframe(2)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return None
        if frame.f_globals.get("__name__", "").startswith(_PACKAGES):
            found = frame.f_locals.get("self")
            if isinstance(found, runnable):
                return found
        frame = frame.f_back
    return None


def _stores(chain: Any, runnable: type, vector_store: type) -> list[Any]:
    """The vector stores in the fields of a chain's parts, and the stores that the chain's functions name."""
    found: list[Any] = []
    waiting, seen = [chain], {id(chain)}
    for one in waiting:  # the list grows in the loop
        if isinstance(one, vector_store):
            found.append(one)
            continue
        if type(one).__module__.startswith("langgraph."):
            continue
        for part in _parts(one):
            if isinstance(part, (runnable, vector_store)) and id(part) not in seen and len(seen) < _MOST_OBJECTS:
                seen.add(id(part))
                waiting.append(part)
    return found


def _parts(one: Any) -> Iterable[Any]:
    """The parts of a part of a chain: values of fields, elements of these values, objects that functions name."""
    for value in list(getattr(one, "__dict__", {}).values()):
        if isinstance(value, Mapping):
            yield from value.values()
        elif isinstance(value, list | tuple):
            for item in value:
                yield from item if isinstance(item, tuple) else (item,)  # a branch is a pair (condition, chain)
        elif isinstance(getattr(value, "__code__", None), CodeType):
            yield from _named(value)
        else:
            yield value


def _named(function: Any) -> Iterable[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # the cell has no value yet
            continue
    for name in function.__code__.co_names:
        if name in function.__globals__:
            yield function.__globals__[name]


def store_name(store: Any) -> str:
    """A name that identifies a vector store in every process: class, collection, and the folder or server if known.

    A store without a collection's name has an identity in this process only.
    """
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
