"""Sends events to the platform over HTTP: in batches, compressed, with backoff, and with a spool on disk."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from memtrace.changes import lost
from memtrace.exporters.background import MAX_BATCH_BYTES, MAX_QUEUE_BYTES, BackgroundExporter
from memtrace.exporters.post import Answer, Platform
from memtrace.exporters.protocol import FlushResult
from memtrace.exporters.purpose import Purpose
from memtrace.exporters.segment import Segment
from memtrace.exporters.spool import MAX_BYTES, Spool, default_directory, folder_name
from memtrace.faults import log
from memtrace.mistakes import MistakeError

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 60.0


class HttpExporter(BackgroundExporter):
    """Sends events to ``{endpoint}/v1/events``.

    Args:
        endpoint: address of the platform.
        key: API key; None if the platform needs none.
        project: name of the project; None means the project of the key.
        spool: folder for events that can't be sent now. None means a folder in the user's state folder. False means no
            folder: events then wait in memory.
        max_queue_bytes: approximate limit of the events in memory.
        max_spool_bytes: limit of the events on disk; beyond it the oldest events are dropped.

    Raises:
        ValueError: The endpoint is not an HTTP address.
    """

    def __init__(
        self,
        endpoint: str,
        key: str | None,
        project: str | None,
        *,
        spool: Path | str | bool | None = None,
        max_queue_bytes: int = MAX_QUEUE_BYTES,
        max_spool_bytes: int = MAX_BYTES,
    ) -> None:
        address = urlsplit(endpoint)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise MistakeError(f"endpoint must be an address such as https://host:port, got scheme {address.scheme!r}")
        if spool is False:
            kept = None
        else:
            folder = _folder(endpoint, project or key, spool if isinstance(spool, Path | str) else None)
            kept = Spool(folder, max_spool_bytes, Purpose.of(endpoint, key, project))
        new_waiting = None if kept is None else kept.new_waiting
        super().__init__(_HttpSink(Platform(endpoint, key, project), kept), max_queue_bytes, new_waiting)


def replay(endpoint: str, key: str | None, project: str | None, spool: Path | str | None = None) -> FlushResult:
    """Send the events of a spool, oldest first, until the spool is empty or the platform is away."""
    directory = _folder(endpoint, project or key, spool)
    sink = _HttpSink(Platform(endpoint, key, project), Spool(directory))
    try:
        sink.tick()
    finally:
        sink.abandon([])
    return replace(sink.counts, spooled=Spool(directory).count())


def _folder(endpoint: str, owner: str | None, spool: Path | str | None) -> Path:
    return Path(spool) / folder_name(endpoint, owner) if spool else default_directory(endpoint, owner)


class _HttpSink:
    """Sends to the platform, or writes to the spool while the platform is away. The spool is sent first afterwards."""

    def __init__(self, platform: Platform, spool: Spool | None) -> None:
        self.counts = FlushResult()
        self._platform = platform
        self._spool = spool
        self._failures = 0
        self._retry_at = 0.0
        self._is_ordered = False
        """Whether the platform has set the time of the next try; ``hurry`` does not change this time."""
        self._done: dict[Path, int] = {}
        """Number of finished lines of each segment that is sent in part."""

    def deliver(self, lines: list[bytes]) -> bool:
        if not lines:
            return True
        if self._is_away() or (self._spool is not None and not self._spool.is_empty()):
            return self._keep(lines)
        lines[:] = self._send(lines)  # finished lines are not sent again
        return self._keep(lines) if lines else True

    def tick(self) -> None:
        while self._spool is not None and not self._is_away():
            segment = self._spool.oldest()
            if segment is None:
                return
            try:
                if not self._replay(segment, self._spool):
                    return
            finally:
                segment.release()

    def _replay(self, segment: Segment, spool: Spool) -> bool:
        """Send a segment; returns whether the platform can take the next one."""
        found = spool.read(segment)
        if found is None:
            return True
        lines, damaged = found
        known = self.counts.spooled
        done = self._done.pop(segment.path, 0)
        for batch in _batches(lines[done:]):
            rest = self._send(batch)
            done += len(batch) - len(rest)
            if rest:
                self._done[segment.path] = done
                return False
        if damaged:
            lost()
            spool.set_aside(damaged)
        spool.finish(segment)
        spooled, known_damaged = max(0, known - len(lines)), self.counts.damaged
        self.counts = replace(self.counts, spooled=spooled, damaged=known_damaged + len(damaged))
        return True

    def wait_seconds(self) -> float | None:
        if self._failures == 0:
            return None
        return max(0.01, self._retry_at - time.monotonic())

    def hurry(self) -> None:
        if not self._is_ordered:
            self._retry_at = 0.0

    def abandon(self, lines: list[bytes]) -> None:
        self._platform.close()
        if self._spool is None:
            self.counts = replace(self.counts, dropped=self.counts.dropped + len(lines))
            return
        if lines:
            self._keep(lines)
        self._spool.rotate()

    def forked(self) -> None:
        self.counts = FlushResult()
        self._platform.forked()
        if self._spool is not None:
            self._spool.forget()

    def _is_away(self) -> bool:
        return self._failures > 0 and time.monotonic() < self._retry_at

    def _keep(self, lines: list[bytes]) -> bool:
        if self._spool is None:
            return False
        dropped = self._spool.append(lines)
        if dropped:
            lost()
        spooled = max(0, self.counts.spooled + len(lines) - dropped)
        self.counts = replace(self.counts, spooled=spooled, dropped=self.counts.dropped + dropped)
        return True

    def _send(self, lines: list[bytes]) -> list[bytes]:
        """Send a batch; returns the lines to send later."""
        answer = self._platform.post(lines)
        if answer.is_retryable:
            self._failures += 1
            self._is_ordered = answer.retry_after is not None
            wait = answer.retry_after if answer.retry_after is not None else _backoff(self._failures)
            self._retry_at = time.monotonic() + wait
            if self._failures == 1:
                say = log.warning if answer.is_ours else log.info
                say("the platform can't take events now (%s); they wait", answer.reason[:200])
            if answer.taken:
                self._refused(lines[: answer.taken], answer)
            return lines[answer.taken :]
        self._failures = 0
        self._is_ordered = False
        self._refused(lines, answer)
        return []

    def _refused(self, lines: list[bytes], answer: Answer) -> None:
        sent, rejected = self.counts.sent, self.counts.rejected
        self.counts = replace(
            self.counts, sent=sent + len(lines) - len(answer.rejected), rejected=rejected + len(answer.rejected)
        )
        if not answer.rejected:
            return
        lost()
        if rejected == 0:
            first = next(iter(answer.rejected.values()))
            log.warning("the platform refused events, the first one so: %s", first[:200])
        if self._spool is not None:
            self._spool.reject([(lines[index], reason) for index, reason in answer.rejected.items()])


def _backoff(failures: int) -> float:
    """Exponential backoff; the upper half is random, so that a thousand processes don't return at the same moment."""
    longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(failures - 1, 20))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 (nothing here is secret)


def _batches(lines: list[bytes]) -> list[list[bytes]]:
    batches: list[list[bytes]] = []
    size = 0
    for line in lines:
        if not batches or size + len(line) > MAX_BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(line)
        size += len(line)
    return batches
