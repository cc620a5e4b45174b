"""Wraps the methods of stores, so that each call of the application is recorded once, although methods call each other.

``AsyncBatchedBaseStore`` passes calls to a task of its own, which serves many callers. Calls inside this task are not
recorded again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from memtrace.faults import report
from memtrace.instruments.both_forms import Called, Told, both, unheard
from memtrace.instruments.langgraph.items import Ask, Write, record
from memtrace.instruments.patches import Wrapper
from memtrace.values import plain_tree

_busy: ContextVar[bool] = ContextVar("memtrace.langgraph.busy", default=False)


def wrappers() -> dict[str, Wrapper]:
    """The wrapper of each method, by name."""
    names = ("put", "delete", "get", "search", "batch")
    return dict.fromkeys((*names, *(f"a{name}" for name in names)), both(_recorded))


@contextmanager
def _recorded(call: Called) -> Iterator[Told]:
    if _busy.get() or (call.is_asynchronous and _serves(call.owner)):
        yield unheard
        return
    method = call.name.removeprefix("a")
    _keep(call, method)
    results: list[Any] = []
    raised: BaseException | None = None
    token = _busy.set(True)
    try:
        yield results.append
    except BaseException as error:
        raised = error
        raise
    finally:
        _busy.reset(token)
        _tell(call, method, results[0] if results else None, raised)


def _serves(store: Any) -> bool:
    """Whether the current task is the store's own task."""
    task = getattr(store, "_task", None)
    return task is not None and task is asyncio.current_task()


def _keep(call: Called, method: str) -> None:
    """Keep the operations of a batch as a list: an iterator can be read only once."""
    if method != "batch":
        return
    if call.args:
        call.args = (list(call.args[0]), *call.args[1:])
    else:
        call.kwargs = {**call.kwargs, "ops": list(call.kwargs.get("ops", ()))}


def _tell(call: Called, method: str, result: Any, error: BaseException | None) -> None:
    try:
        if method == "batch":
            ops = call.argument("ops")
            results = result if isinstance(result, Sequence) else [None] * len(ops)
            asked = [(_of_op(op), found) for op, found in zip(ops, results, strict=False)]
        else:
            asked = [(_of_call(method, call.args, call.kwargs), result)]
        for one, found in asked:
            if one is not None:
                record(call.owner, one, found, error)
    except Exception as wrong:
        report(f"store {method}", wrong)


def _of_call(method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ask | Write | None:
    given = dict(zip(("namespace", "key", "value"), args, strict=False)) | kwargs
    if method == "search":
        namespace = args[0] if args else kwargs.get("namespace_prefix", ())
        return Ask("search", tuple(namespace), None, kwargs.get("query"), _limits(kwargs))
    namespace, key = tuple(given["namespace"]), str(given["key"])
    if method == "get":
        return Ask("get", namespace, key, None)
    return Write(method, namespace, key, given.get("value") if method == "put" else None)


def _limits(said: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by which a search may leave items out."""
    return {name: plain_tree(said[name]) for name in ("filter", "limit", "offset") if said.get(name)}


def _of_op(op: Any) -> Ask | Write | None:
    """The call of an operation in a batch; None for a listing of namespaces, which reads no memory."""
    kind = type(op).__name__
    if kind == "GetOp":
        return Ask("get", tuple(op.namespace), str(op.key), None)
    if kind == "SearchOp":
        said = {"filter": op.filter, "limit": op.limit, "offset": op.offset}
        return Ask("search", tuple(op.namespace_prefix), None, op.query, _limits(said))
    if kind == "PutOp":
        return Write("delete" if op.value is None else "put", tuple(op.namespace), str(op.key), op.value)
    return None
