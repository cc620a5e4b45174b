"""Records items of a store as memory units: a version for each put, an occurrence for each read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from memtrace.context import scope
from memtrace.identity import Variable
from memtrace.instruments import joining, placing
from memtrace.instruments.frameworks.messages import leaves
from memtrace.instruments.frameworks.runs import Run, is_writing, runs, single
from memtrace.instruments.frameworks.values import SPOKEN, asked, same, sources
from memtrace.instruments.homes import Home
from memtrace.instruments.making import Making, gave, outside, searched_for
from memtrace.instruments.placing import NotRecordedError
from memtrace.instruments.texts import texts
from memtrace.instruments.units import Unit, current, newest, read, written
from memtrace.recent import Recent

_homes: Recent[str, Home] = Recent(20_000)
"""The trace in which runs have used a namespace of a store; calls outside of runs belong to the same trace."""

reasons: ContextVar[Callable[[], Iterable[Variable]] | None] = ContextVar("memtrace.reasons", default=None)
"""Gives the replies that decided a write, if the text does not tell; a manager of memory sets this."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A search in a namespace, with a query or without one, or a look at one key; ``limits`` may leave items out."""

    method: str
    namespace: tuple[str, ...]
    key: str | None
    query: str | None
    limits: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Write:
    """A value that is put under a key, or deleted."""

    method: str
    namespace: tuple[str, ...]
    key: str
    value: Any


def record(store: Any, call: Ask | Write, result: Any, error: BaseException | None) -> None:
    """Record a call of a store.

    Args:
        store: the store.
        call: the call.
        result: the store's result.
        error: the store's error; then nothing was written or found.
    """
    with _placed(store, call) as run:
        if run is None:
            return
        if isinstance(call, Ask):
            _asked(run, store, call, result, error)
        elif call.method == "delete":
            _deleted(run, store, call, error)
        else:
            _put(run, store, call, error)


@contextmanager
def _placed(store: Any, call: Ask | Write) -> Iterator[Run | None]:
    around, identity = runs.around(), address(store)
    owner = "/".join(map(str, call.namespace))
    own = placing.memory_home(identity, owner, what=type(store).__name__)
    home = _homes.get(f"{identity} {owner}") or own
    if around is not None:
        try:
            here = around.root.place(home)
            around.root.uses(home, call.namespace, is_written=isinstance(call, Write))
        except NotRecordedError:
            yield None
            return
        is_settled = home is not own and home.trace == own.trace  # conversations have joined the memory's own trace
        if not is_settled and not joining.is_open(here.trace.id):
            _homes.set(f"{identity} {owner}", Home(here.trace.id, ""))
        yield Run(around.root, around, "store", "")
        return
    given = [leaf for _, leaf in leaves(call.value)] if isinstance(call, Write) else []
    with placing.Place(lambda: joining.used_by(given, home)) as place:
        outside_any = scope.get() if place.is_recorded else None
        yield None if outside_any is None else single(outside_any, "store")


def _unit(store: Any, namespace: Iterable[str], key: str) -> Unit:
    return address(store), "/".join((*map(str, namespace), key))


def _put(run: Run, store: Any, call: Write, error: BaseException | None) -> None:
    name = _unit(store, call.namespace, call.key)
    parts = [leaf for _, leaf in leaves(call.value) if isinstance(leaf, str)]
    came_from = list(dict.fromkeys(one for part in parts for one in _sources(run, part)))
    decided = reasons.get()
    if decided is not None and not any(one.kind == "Response" for one in came_from):
        came_from += [one for one in decided() if one not in came_from]
    if not came_from:
        came_from = [outside(run.here, call.value, f"stored {call.key}", "Message")]
    making = Making(run.here, f"{type(store).__name__}.put", "Update")
    for one in came_from:
        making.use(one)
    if error is None:
        written(making, name, dict(call.value), sources=came_from, leaves=parts)
    making.end(error)


def _sources(run: Run, part: str) -> list[Variable]:
    found = same(run, part)
    if found is not None and (found.path or found.kind != "Other"):
        return [found]
    if found is None:
        return sources(run, part)
    # So far only a model of embeddings has got the text. A reply that contains the text is its origin.
    reply = texts(run.here.trace).around(part, run.asked | run.root.carried, SPOKEN)
    return [reply or found]


def _deleted(run: Run, store: Any, call: Write, error: BaseException | None) -> None:
    unit = newest(run.here, _unit(store, call.namespace, call.key))
    if unit is None:
        return  # nobody has put this key
    making = Making(run.here, f"{type(store).__name__}.delete", "Deletion")
    decided = reasons.get()
    for one in decided() if decided is not None else ():
        making.use(one)
    if error is None:
        making.invalidate(unit)
    making.end(error)


def _asked(run: Run, store: Any, call: Ask, result: Any, error: BaseException | None) -> None:
    shown = {"store": address(store), "namespace": "/".join(map(str, call.namespace)), **call.limits}
    making = Making(run.here, f"{type(store).__name__}.{call.method}", "Retrieval", attributes=shown)
    query = None if call.query is None else asked(run, making, call.query, is_writing=is_writing())
    if query is not None:
        searched_for(run.here, str(call.query), query)
    items = [] if error is not None or result is None else result if isinstance(result, list | tuple) else [result]
    found = [(item, current(run.here, _unit(store, item.namespace, item.key), dict(item.value))) for item in items]
    if query is not None:
        making.consider(query, [(unit, _score(item)) for item, unit in found], [unit for _, unit in found])
    for item, unit in found:
        parts = [leaf for _, leaf in leaves(item.value) if isinstance(leaf, str)]
        made = read(making, unit, dict(item.value), objects=(item, item.value, *parts), leaves=parts)
        gave(run.here, item, made, is_own=True)
        for part in parts:
            gave(run.here, part, made)
    making.end(error)


def _score(item: Any) -> float | None:
    score = getattr(item, "score", None)
    return None if score is None else float(score)


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
