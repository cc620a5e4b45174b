"""The methods of stores. Each call of the application is recorded once, though one method calls another.

A store may hand calls over to a task of its own, which serves many callers (``AsyncBatchedBaseStore``): what runs in
that task has been recorded where it was called.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import Any

from memtrace.faults import report
from memtrace.instruments.langgraph.items import Ask, Write, record

_busy: ContextVar[bool] = ContextVar("memtrace.langgraph.busy", default=False)

Wrapper = Callable[[Callable[..., Any]], Callable[..., Any]]


def wrappers() -> dict[str, Wrapper]:
    """What records each method, by its name."""
    made: dict[str, Wrapper] = {}
    for name in ("put", "delete", "get", "search", "batch"):
        made[name] = made[f"a{name}"] = _wrapper
    return made


def _wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
    name = original.__name__
    method = name.removeprefix("a")
    if inspect.iscoroutinefunction(original):

        @wraps(original)
        async def recorded_later(self: Any, *args: Any, **kwargs: Any) -> Any:
            if _busy.get() or _serves(self):
                return await original(self, *args, **kwargs)
            args, kwargs = _kept(args, kwargs, method)
            token = _busy.set(True)
            try:
                result = await original(self, *args, **kwargs)
            except BaseException as error:
                _tell(self, method, args, kwargs, None, error)
                raise
            finally:
                _busy.reset(token)
            _tell(self, method, args, kwargs, result, None)
            return result

        return recorded_later

    @wraps(original)
    def recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _busy.get():
            return original(self, *args, **kwargs)
        args, kwargs = _kept(args, kwargs, method)
        token = _busy.set(True)
        try:
            result = original(self, *args, **kwargs)
        except BaseException as error:
            _tell(self, method, args, kwargs, None, error)
            raise
        finally:
            _busy.reset(token)
        _tell(self, method, args, kwargs, result, None)
        return result

    return recorded


def _serves(store: Any) -> bool:
    """Whether this is the store's own task."""
    task = getattr(store, "_task", None)
    return task is not None and task is asyncio.current_task()


def _kept(args: tuple[Any, ...], kwargs: dict[str, Any], method: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments; a list of operations that can be read only once is kept as a list."""
    if method != "batch":
        return args, kwargs
    if args:
        return (list(args[0]), *args[1:]), kwargs
    return args, {**kwargs, "ops": list(kwargs.get("ops", ()))}


def _tell(
    store: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, error: BaseException | None
) -> None:
    try:
        if method == "batch":
            ops = args[0] if args else kwargs["ops"]
            results = result if isinstance(result, Sequence) else [None] * len(ops)
            calls = [(_of_op(op), found) for op, found in zip(ops, results, strict=False)]
            calls = [(call, found) for call, found in calls if call is not None]
        else:
            calls = [(_of_call(method, args, kwargs), result)]
        for call, found in calls:
            if call is not None:
                record(store, call, found, error)
    except Exception as wrong:
        report(f"store {method}", wrong)


def _of_call(method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ask | Write | None:
    given = dict(zip(("namespace", "key", "value"), args, strict=False)) | kwargs
    if method == "search":
        namespace = args[0] if args else kwargs.get("namespace_prefix", ())
        return Ask("search", tuple(namespace), None, kwargs.get("query"))
    namespace, key = tuple(given["namespace"]), str(given["key"])
    if method == "get":
        return Ask("get", namespace, key, None)
    return Write(method, namespace, key, given.get("value") if method == "put" else None)


def _of_op(op: Any) -> Ask | Write | None:
    """The call that an operation of a batch stands for; a list of namespaces is no memory."""
    kind = type(op).__name__
    if kind == "GetOp":
        return Ask("get", tuple(op.namespace), str(op.key), None)
    if kind == "SearchOp":
        return Ask("search", tuple(op.namespace_prefix), None, op.query)
    if kind == "PutOp":
        return Write("delete" if op.value is None else "put", tuple(op.namespace), str(op.key), op.value)
    return None


def names(ops: Iterable[Any]) -> list[str]:
    """The kinds of some operations, for what is told about them."""
    return [type(op).__name__ for op in ops]
