"""Traces whose place is undecided: a conversation may turn out to be a part of the trace of a memory that it uses.

The events of such a trace wait. ``join`` sends the waiting events as events of the memory's trace; ``settle`` sends
them unchanged. A trace waits until its run ends, or for some seconds, and never longer than the process, a fork or a
``flush``. While waiting events are sent, other threads that record in the trace wait, so that the order stays. Events
that wait longer than a moment are kept on disk as well, in case the process is killed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memtrace import context, sink
from memtrace.faults import report
from memtrace.raw_events import TRACE, TRACE_ID, VALUE, RawEvent
from memtrace.recent import Recent
from memtrace.steps import TraceState

MAX_TRACES = 64
"""Number of traces that wait; one more, and the oldest is settled."""
MAX_EVENTS = 5_000
"""Number of events of a trace that wait; one more, and the trace is settled."""
MAX_CHARACTERS = 16_000_000
"""Size of the values of all events that wait; if they have more, the oldest traces are settled."""
OPEN_SECONDS = 60.0
"""A trace without a new event for this time is settled."""
ENDED_SECONDS = 5.0
"""The same for a trace whose call has ended: what it made may go into a memory next."""
_TICK = 0.5

_LEFT_OUT = ""


@dataclass
class Waiting:
    """A trace that waits.

    Attributes:
        is_kept: whether sampling keeps a trace with this id.
        arguments: texts that models of the trace have written as arguments of tools.
        replies: texts of the replies of its models, and texts made from these.
        seconds: how long it waits after an event.
        size: number of characters of the values of its events.
        on_disk: number of its events that are kept on disk as well.
    """

    trace: TraceState
    is_kept: Callable[[str], bool]
    deadline: float
    events: list[RawEvent] = field(default_factory=list)
    arguments: set[str] = field(default_factory=set)
    replies: list[str] = field(default_factory=list)
    seconds: float = OPEN_SECONDS
    size: int = 0
    on_disk: int = 0


_lock = threading.RLock()
_waiting: dict[str, Waiting] = {}
_size = 0
"""The sum of the sizes."""
_left_out: Recent[str, str] = Recent(context.MAX_JOINED)
"""Traces that have become a part of a trace that sampling leaves out."""
_watcher: threading.Thread | None = None


def hold(trace_id: str, is_kept: Callable[[str], bool]) -> TraceState:
    """Let the events of a new trace wait from now on; returns its state."""
    global _watcher  # noqa: PLW0603 (one recorder a process)
    state = context.state_of(trace_id)
    with _lock:
        if trace_id not in _waiting:
            while len(_waiting) >= MAX_TRACES:
                settle(next(iter(_waiting)))
            _waiting[trace_id] = Waiting(state, is_kept, time.monotonic() + OPEN_SECONDS)
            sink.set_gate(_gate)
        if _watcher is None or not _watcher.is_alive():
            watcher = threading.Thread(target=_watch, name="memtrace undecided", daemon=True)
            try:
                watcher.start()
            except RuntimeError:  # the interpreter is ending: nothing else may happen in this trace
                settle(trace_id)
            else:
                _watcher = watcher
    return state


def of(trace_id: str) -> Waiting | None:
    """What is known of a trace that waits; None if it does not wait."""
    return _waiting.get(trace_id)


def is_any() -> bool:
    """Whether any trace waits."""
    return bool(_waiting)


def all_of() -> list[Waiting]:
    """The traces that wait."""
    with _lock:
        return list(_waiting.values())


def ended(trace_id: str, *, seconds: float = ENDED_SECONDS) -> None:
    """Note that a call of the trace has ended: from now on it waits ``seconds`` after an event."""
    with _lock:
        waiting = _waiting.get(trace_id)
        if waiting is not None:
            waiting.seconds = seconds
            waiting.deadline = time.monotonic() + seconds


def goes_on(trace_id: str) -> None:
    """Note that a call in the trace begins, if it waits."""
    if trace_id in _waiting:
        ended(trace_id, seconds=OPEN_SECONDS)


def settle(trace_id: str) -> None:
    """Send the events of a trace as they are."""
    with _lock:
        waiting = _waiting.get(trace_id)
        if waiting is None:
            return
        try:
            if not waiting.is_kept(trace_id):
                _left_out.set(trace_id, _LEFT_OUT)
            elif waiting.events:
                sink.export(waiting.events)
        finally:
            _drop(trace_id)


def settle_all() -> None:
    """Send the events of all traces that wait."""
    with _lock:
        for trace_id in list(_waiting):
            settle(trace_id)


def join(trace_id: str, to: str, beginning: Callable[[TraceState], list[RawEvent]]) -> None:
    """Make a waiting trace a part of another trace, and send the waiting events.

    Args:
        trace_id: the trace that waits.
        to: the other trace.
        beginning: gives the events of the other trace that come first.
    """
    with _lock:
        settle(to)
        waiting = _waiting.get(trace_id)
        if waiting is None:
            return
        try:
            if not waiting.is_kept(to):
                _left_out.set(trace_id, _LEFT_OUT)
                return
            whole = context.state_of(to)
            first = beginning(whole)
            context.join(waiting.trace, whole)
            later = [_renamed(event, whole.id) for event in waiting.events if event[0] != TRACE]
            sink.export([*first, *later])
        finally:
            _drop(trace_id)


def forget() -> None:
    """Forget all waiting traces with their events, and which traces sampling left out."""
    global _left_out  # noqa: PLW0603 (one recorder a process)
    with _lock:
        for trace_id in list(_waiting):
            _drop(trace_id)
        _left_out = Recent(context.MAX_JOINED)
        sink.set_gate(None)


def after_fork() -> None:
    """Go on in a child process, which has no watcher.

    A fork settles all traces. What another thread has recorded since then is sent by the parent, and not once more.
    """
    global _lock, _size, _watcher
    _lock, _size, _watcher = threading.RLock(), 0, None
    _waiting.clear()


def _drop(trace_id: str) -> None:
    """Let a trace wait no longer."""
    global _size  # noqa: PLW0603 (one recorder a process)
    waiting = _waiting.pop(trace_id, None)
    if waiting is None:
        return
    _size -= waiting.size
    if waiting.on_disk and sink.waiting is not None:
        sink.waiting.release(trace_id)


def _gate(events: list[RawEvent]) -> list[RawEvent]:
    """The events that need not wait, each in the trace to which it belongs now."""
    global _size  # noqa: PLW0603 (one recorder a process)
    if not _waiting and not context.has_joined() and not len(_left_out):
        return events
    passed: list[RawEvent] = []
    full: str | None = None
    with _lock:
        for event in events:
            trace_id = event[TRACE_ID]
            waiting = _waiting.get(trace_id)
            if waiting is not None:
                waiting.events.append(event)
                waiting.size += len(event[VALUE])
                _size += len(event[VALUE])
                waiting.deadline = time.monotonic() + waiting.seconds
                full = trace_id if len(waiting.events) > MAX_EVENTS else full
                continue
            if len(_left_out) and _left_out.get(trace_id) is not None:
                continue
            name = context.name_of(trace_id)
            passed.append(event if name == trace_id else _renamed(event, name))
        if full is not None:
            settle(full)
        while _size > MAX_CHARACTERS:
            settle(next(iter(_waiting)))
    return passed


def _renamed(event: RawEvent, trace_id: str) -> RawEvent:
    event = (*event[:TRACE_ID], trace_id, *event[TRACE_ID + 1 :])
    return (*event[:VALUE], trace_id) if event[0] == TRACE else event


def _watch() -> None:
    """Settle the traces whose time is over, as long as there are any."""
    global _watcher  # noqa: PLW0603 (one recorder a process)
    me = threading.current_thread()
    while True:
        time.sleep(_TICK)
        try:
            with _lock:
                if _watcher is not me or not _waiting:
                    _watcher = None if _watcher is me else _watcher
                    return
                now = time.monotonic()
                for trace_id in [one for one, waiting in _waiting.items() if waiting.deadline < now]:
                    settle(trace_id)
            _keep_on_disk()
        except Exception as error:
            report("traces that wait", error)


def _keep_on_disk() -> None:
    """Keep the events that wait; they are written without the lock, because the program records meanwhile."""
    files = sink.waiting
    if files is None:
        return
    for waiting in all_of():
        if not waiting.is_kept(waiting.trace.id):
            continue
        with _lock:
            new, waiting.on_disk = waiting.events[waiting.on_disk :], len(waiting.events)
        if new:
            files.keep(waiting.trace.id, new)
            if _waiting.get(waiting.trace.id) is not waiting:  # its events have been sent meanwhile
                files.release(waiting.trace.id)
