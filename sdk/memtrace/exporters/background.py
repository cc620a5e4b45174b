"""A queue of limited size and the thread that empties it: the common part of the file and HTTP exporters.

A forked child begins with an empty queue and a thread of its own; the parent sends what the parent has recorded.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from operator import itemgetter
from typing import Protocol

from memtrace.changes import lost
from memtrace.exporters import fork_and_exit
from memtrace.exporters.prepare import Preparation
from memtrace.exporters.protocol import FlushResult
from memtrace.exporters.segment import Segment
from memtrace.exporters.waiting import WaitingFiles
from memtrace.faults import log, report
from memtrace.raw_events import MEDIA_TYPE, MORE, VALUE, VARIABLE, RawEvent
from memtrace.values import TEXT

MAX_QUEUE_BYTES = 64_000_000
MAX_BATCH_BYTES = 1_000_000
MAX_BATCH_EVENTS = 2_000
LINGER_SECONDS = 0.5
BLOCK_SECONDS = 0.05
EXIT_SECONDS = 5.0
PAUSE_SECONDS = 0.2
_ENDING_SECONDS = 0.005
"""The system's thread ends a moment after Python's thread object."""

_EXTRA_ROOM = 4
"""Events without values may use another quarter of the room."""

_EVENT_BYTES = 400
"""Approximate size of an event without its value, in bytes."""

_value = itemgetter(VALUE)


class Sink(Protocol):
    """Where a background exporter writes to. Only one thread uses it at a time."""

    counts: FlushResult

    def deliver(self, lines: list[bytes]) -> bool:
        """Write, send or spool events; False if that is impossible now: the lines left in the list are passed again."""

    def tick(self) -> None:
        """Do work that is due, such as sending again."""

    def wait_seconds(self) -> float | None:
        """Seconds until work is due; None if no work waits."""

    def hurry(self) -> None:
        """Try again now, because somebody is waiting."""

    def abandon(self, lines: list[bytes]) -> None:
        """End: keep the events on disk or count them as dropped, and release everything."""

    def forked(self) -> None:
        """Release everything of the parent, in a child process."""


class BackgroundExporter:
    """Accepts events at once, and passes them to the sink in a thread of its own.

    Args:
        sink: where the events go.
        max_queue_bytes: approximate limit of what may wait in memory.
        new_waiting: creates a file for the events of a trace whose place is undecided; None means no files.

    Attributes:
        waiting: these files; None if there are none.
    """

    def __init__(
        self,
        sink: Sink,
        max_queue_bytes: int = MAX_QUEUE_BYTES,
        new_waiting: Callable[[], Segment | None] | None = None,
    ) -> None:
        self._sink = sink
        self.waiting = None if new_waiting is None else WaitingFiles(new_waiting)
        self._max_bytes = max_queue_bytes
        self._prepare = Preparation()
        self._has_said = False
        self._start_empty()
        fork_and_exit.watch(self)

    def _start_empty(self) -> None:
        self._lock = threading.RLock()
        self._condition = threading.Condition(self._lock)
        self._working = threading.Lock()
        self._queue: deque[tuple[list[RawEvent], int]] = deque()
        self._bytes = 0
        self._dropped = 0
        self._in_hand: list[bytes] = []
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._asked = 0
        self._served = 0
        """Number of requested flushes, and of flushes that are done."""
        self._is_full = False
        self._is_stuck = False
        self._pid = os.getpid()

    def prepare_with(self, preparation: Preparation) -> None:
        """Use this to mask, cut and complete events."""
        self._prepare = preparation
        if self.waiting is not None:
            self.waiting.prepare_with(preparation)

    def export(self, events: list[RawEvent]) -> None:
        """Queue the events.

        If there is no room, wait a moment, but only once. Then send only the size of values, so that the graph stays
        complete. If the room is still too small, drop the events.
        """
        if len(events) > MAX_BATCH_EVENTS:
            for start in range(0, len(events), MAX_BATCH_EVENTS):
                self.export(events[start : start + MAX_BATCH_EVENTS])
            return
        size = _EVENT_BYTES * len(events) + sum(map(len, map(_value, events)))
        with self._lock:
            if self._bytes + size > self._max_bytes and not self._has_room(size):
                lost()
                events = [_without_value(event) for event in events]
                size = _EVENT_BYTES * len(events)
                if self._bytes + size > self._max_bytes + self._max_bytes // _EXTRA_ROOM:
                    self._dropped += len(events)
                    return
            self._queue.append((events, size))
            before = self._bytes
            self._bytes = before + size
            if self._thread is None:
                self._start()
            elif before == 0 or before < MAX_BATCH_BYTES <= self._bytes:
                self._condition.notify_all()

    def _has_room(self, size: int) -> bool:
        if not self._is_full:
            # Only the first event waits: the application must not be slowed down at each event.
            self._condition.wait_for(lambda: self._bytes + size <= self._max_bytes, BLOCK_SECONDS)
        self._is_full = self._bytes + size > self._max_bytes
        return not self._is_full

    def flush(self, timeout: float = EXIT_SECONDS) -> FlushResult:
        """Wait at most ``timeout`` seconds until all events are sent or on disk."""
        deadline = time.monotonic() + timeout
        with self._condition:
            self._asked += 1
            ticket = self._asked
            self._sink.hurry()
            can_work = self._thread is not None or self._start()
            self._condition.notify_all()
            if can_work:
                self._condition.wait_for(lambda: self._served >= ticket, timeout)
        if not can_work:
            self._work(deadline)
        return self.result()

    def result(self) -> FlushResult:
        """Counts of the events of this process so far, by their fate."""
        counts = self._sink.counts
        return replace(counts, dropped=counts.dropped + self._dropped)

    def close(self) -> None:
        """Flush; put unsent events on disk; log the counts of all events once."""
        with self._condition:
            if self._is_closed:
                return
        self.flush(EXIT_SECONDS)
        with self._condition:
            self._is_closed = True
            left = [*self._in_hand, *self._lines(event for events, _ in self._queue for event in events)]
            self._queue.clear()
            self._bytes = 0
            self._condition.notify_all()
        try:
            self._sink.abandon(left)
        except Exception as error:
            report("end of the exporter", error)
        self._say()

    def _say(self) -> None:
        result = self.result()
        if self._has_said or result == FlushResult():
            return
        self._has_said = True
        is_whole = result == FlushResult(sent=result.sent)
        text = "%d events sent, %d spooled, %d dropped, %d rejected"
        if result.damaged:
            text += f", and {result.damaged} lines of the spool were damaged"
        (log.info if is_whole else log.warning)(text, result.sent, result.spooled, result.dropped, result.rejected)

    def _start(self) -> bool:
        thread = threading.Thread(target=self._run, name="memtrace", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter is ending, so the thread that flushes does the work
            return False
        self._thread = thread
        fork_and_exit.close_at_exit()
        return True

    def _run(self) -> None:
        me = threading.current_thread()
        while True:
            with self._condition:
                if self._is_closed or self._thread is not me:
                    return
                if (not self._queue and not self._in_hand) or self._is_stuck:
                    self._condition.wait_for(self._has_reason, self._sink.wait_seconds())
                if self._served == self._asked and self._bytes < MAX_BATCH_BYTES and not self._is_over():
                    self._condition.wait(LINGER_SECONDS)
                if self._thread is not me:
                    return
            self._work(None)

    def _is_over(self) -> bool:
        return self._is_closed or self._thread is not threading.current_thread()

    def _has_reason(self) -> bool:
        return self._is_over() or self._served < self._asked or (bool(self._queue) and not self._is_stuck)

    def _work(self, deadline: float | None) -> None:
        with self._working:
            asked = self._asked
            try:
                self._sink.tick()
                self._is_stuck = False
                while self._in_hand or self._take():
                    if self._is_closed or not self._sink.deliver(self._in_hand):
                        self._is_stuck = True
                        break
                    self._in_hand = []
                    if deadline is not None and time.monotonic() > deadline:
                        break
            except Exception as error:
                report("exporter", error)
                self._dropped += len(self._in_hand)
                self._in_hand = []
            with self._condition:
                self._served = max(self._served, asked)
                self._condition.notify_all()

    def _take(self) -> bool:
        events: list[RawEvent] = []
        with self._condition:
            size = 0
            while self._queue and len(events) < MAX_BATCH_EVENTS and (not size or size < MAX_BATCH_BYTES):
                more, bytes_ = self._queue.popleft()
                events += more
                size += bytes_
            self._bytes -= size
            self._condition.notify_all()
        self._in_hand = self._lines(events)
        return bool(events)

    def _lines(self, events: Iterable[RawEvent]) -> list[bytes]:
        lines = []
        for event in events:
            try:
                lines.append(self._prepare.line(event))
            except Exception as error:
                report("encoding of an event", error)
                self._dropped += 1
        return lines

    def before_fork(self) -> None:
        """Send waiting events and end the thread, if there is time: a fork is safe with one thread."""
        if self._thread is None:
            return
        self.flush(PAUSE_SECONDS)
        with self._condition:
            thread, self._thread = self._thread, None
            self._condition.notify_all()
        if thread is not None:
            thread.join(PAUSE_SECONDS)
            time.sleep(_ENDING_SECONDS)

    def after_fork_in_parent(self) -> None:
        """Start the thread again if events are left; otherwise the next event starts a thread."""
        with self._condition:
            if (self._queue or self._in_hand) and self._thread is None and not self._is_closed:
                self._start()

    def after_fork(self) -> None:
        """Start with an empty queue, in a child process."""
        self._has_said = False
        self._start_empty()
        if self.waiting is not None:
            self.waiting.forget()
        self._sink.forked()


def _without_value(event: RawEvent) -> RawEvent:
    """The event with an empty value, marked as cut. A part of a value could not be masked safely."""
    if event[0] != VARIABLE:
        return event
    report("room for a value in the queue", MemoryError())
    more = dict(event[MORE] or {})
    base = more.pop("base", None)
    more.pop("keptBytes", None)
    more["truncated"] = True
    more["size"] = len(event[VALUE].encode("utf-8", "replace")) if base is None else base["size"]
    without = list(event)
    without[MORE], without[VALUE], without[MEDIA_TYPE] = more, "", TEXT
    return tuple(without)
