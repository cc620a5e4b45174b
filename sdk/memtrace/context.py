"""The current trace, session and operation. It follows asyncio tasks, and with ``carry`` also threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from memtrace.recent import Recent
from memtrace.steps import Scope, TraceState

P = ParamSpec("P")
T = TypeVar("T")

MAX_TRACES = 256
MAX_JOINED = 40_000


scope: ContextVar[Scope | None] = ContextVar("memtrace.scope", default=None)
"""The current place; None outside a trace, and in a trace that is not sampled."""

unsampled: ContextVar[str | None] = ContextVar("memtrace.unsampled", default=None)
"""The id of the current trace if it is not sampled: other services must not record it either."""

question: ContextVar[str | None] = ContextVar("memtrace.question", default=None)
"""The id of the newest query that was asked in this context."""


class SavedContext:
    """The current place, to be entered again, any number of times. Changes made inside are kept for the next time."""

    def __init__(self) -> None:
        self._values = scope.get(), unsampled.get(), question.get()

    def __enter__(self) -> None:
        here, left_out, asked = self._values
        self._tokens = scope.set(here), unsampled.set(left_out), question.set(asked)

    def __exit__(self, *error: object) -> None:
        self._values = scope.get(), unsampled.get(), question.get()
        here, left_out, asked = self._tokens
        scope.reset(here)
        unsampled.reset(left_out)
        question.reset(asked)


_traces: OrderedDict[str, TraceState] = OrderedDict()
_joined: Recent[str, str] = Recent(MAX_JOINED)
"""The trace of which a trace has become a part; both by their ids."""
_lock = threading.Lock()


def name_of(trace_id: str) -> str:
    """The id under which a trace is recorded: of the trace of which it has become a part, if any."""
    return _joined.get(trace_id) or trace_id if len(_joined) else trace_id


def has_joined() -> bool:
    """Whether some trace has become a part of another one."""
    return bool(len(_joined))


def join(part: TraceState, whole: TraceState) -> None:
    """Let a trace become a part of another one, from now on."""
    trace_id = part.id
    part.join(whole)
    with _lock:
        _joined.get(trace_id)
        _joined.set(trace_id, whole.id)
        _traces.pop(trace_id, None)


def state_of(trace_id: str) -> TraceState:
    """The state of a trace in this process. Beyond ``MAX_TRACES``, the least recently used state is forgotten."""
    trace_id = name_of(trace_id)
    with _lock:
        state = _traces.get(trace_id)
        if state is None:
            state = _traces[trace_id] = TraceState(trace_id)
        _traces.move_to_end(trace_id)
        if len(_traces) > MAX_TRACES:
            _traces.popitem(last=False)
        return state


def forget() -> None:
    """Forget all traces, so that later events refer to nothing that was recorded before."""
    global _joined  # noqa: PLW0603 (one recorder a process)
    with _lock:
        _traces.clear()
        _joined = Recent(MAX_JOINED)


def carry(fn: Callable[P, T]) -> Callable[P, T]:
    """Make a function run in the current trace, session and operation, wherever it is called, such as in a thread."""
    here, left_out, asked = scope.get(), unsampled.get(), question.get()

    @wraps(fn)
    def carried(*args: P.args, **kwargs: P.kwargs) -> T:
        tokens = scope.set(here), unsampled.set(left_out), question.set(asked)
        try:
            return fn(*args, **kwargs)
        finally:
            scope.reset(tokens[0])
            unsampled.reset(tokens[1])
            question.reset(tokens[2])

    return carried


class CarryingExecutor(Executor):
    """A thread pool whose tasks run in the trace, session and operation of the code that submitted them."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run ``fn`` in the pool, in the current trace, session and operation."""
        return self._executor.submit(carry(fn), *args, **kwargs)

    def map(
        self, fn: Callable[..., T], *iterables: Iterable[object], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[T]:
        """Run ``fn`` over the iterables in the pool, in the current trace, session and operation."""
        return self._executor.map(carry(fn), *iterables, timeout=timeout, chunksize=chunksize)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut the pool down."""
        self._executor.shutdown(wait=wait, cancel_futures=cancel_futures)


def executor(pool: Executor) -> CarryingExecutor:
    """A thread pool whose tasks run in the current trace, session and operation.

    For processes, pass on ``inject()`` and use ``extract``.
    """
    return CarryingExecutor(pool)
