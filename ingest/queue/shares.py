"""Decides which worker holds which lane, by a small document that the queue stores and the workers change in turn.

No clock of another machine is trusted: each worker regularly changes its beat in the document, and a worker whose beat
stays the same for ``LEASE_SECONDS`` is gone. A worker on this machine whose process has ended is gone at once.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Collection

import msgspec

from ingest.queue.protocol import LANES, LEASE_SECONDS, Share


class _Document(msgspec.Struct):
    """The beats of the workers, and the holders of lanes."""

    beats: dict[str, int] = {}
    holders: dict[int, str] = {}


class Shares:
    """One worker's view of the other workers, and its changes to the document."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._seen: dict[str, tuple[int, float]] = {}

    def renewed(self, document: str | None, give_back: Collection[int]) -> tuple[str, Share]:
        """The document with this worker's beat and its share of the lanes.

        Args:
            document: the stored document; None if there is none.
            give_back: lanes on which the worker no longer works.
        """
        found = self._without_the_gone(_read(document))
        found.beats[self._worker] = found.beats.get(self._worker, 0) + 1
        for lane in give_back:
            if found.holders.get(lane) == self._worker:
                del found.holders[lane]
        most = -(-LANES // len(found.beats))
        held = sorted(lane for lane, holder in found.holders.items() if holder == self._worker)
        free = [lane for lane in range(LANES) if lane not in found.holders and lane not in give_back]
        more = free[: max(0, most - len(held))]
        found.holders |= dict.fromkeys(more, self._worker)
        return _text(found), Share(frozenset(held) | frozenset(more), frozenset(held[most:]))

    def left(self, document: str | None) -> str:
        """The document without this worker."""
        found = _read(document)
        return _text(_without(found, {self._worker}))

    def _without_the_gone(self, found: _Document) -> _Document:
        now = time.monotonic()
        gone = set()
        for worker, beat in found.beats.items():
            known, since = self._seen.get(worker, (None, now))
            if known != beat:
                since = now
            self._seen[worker] = beat, since
            if worker != self._worker and (now - since > LEASE_SECONDS or has_ended(worker)):
                gone.add(worker)
        for worker in [*gone, *(self._seen.keys() - found.beats.keys())]:
            self._seen.pop(worker, None)
        return _without(found, gone)


def worker_name() -> str:
    """A unique name for a worker of this process, with the machine and the process id in it."""
    return f"{socket.gethostname()[:60]}/{os.getpid()}/{secrets.token_hex(6)}"


def has_ended(worker: str) -> bool:
    """Whether a worker ran on this machine, in a process that has ended."""
    host, _, process = worker.rpartition("/")[0].rpartition("/")
    if host != socket.gethostname()[:60] or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def workers_of(document: str | None) -> int:
    """The number of workers in a document."""
    return len(_read(document).beats)


def _read(document: str | None) -> _Document:
    return _Document() if document is None else msgspec.json.decode(document, type=_Document)


def _text(document: _Document) -> str:
    return msgspec.json.encode(document).decode()


def _without(found: _Document, gone: set[str]) -> _Document:
    """The document without some workers, and without holders that are not in its list of workers."""
    beats = {worker: beat for worker, beat in found.beats.items() if worker not in gone}
    return _Document(beats, {lane: holder for lane, holder in found.holders.items() if holder in beats})
