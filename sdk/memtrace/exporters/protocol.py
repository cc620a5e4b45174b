"""What an exporter is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memtrace.exporters.prepare import Preparation
from memtrace.raw_events import RawEvent


@dataclass(frozen=True, slots=True)
class FlushResult:
    """What has become of this process's events so far.

    Attributes:
        sent: accepted by the platform (or written, where the exporter writes).
        spooled: wait on disk for the platform to come back.
        dropped: events that are lost: no room in memory or on disk, or a file that can't be written.
        rejected: refused by the platform; kept in the spool's ``rejected.jsonl`` with the reason, where there is a
            spool.
        damaged: lines found in the spool that are no events because a process was killed or a disk was full while they
            were written; kept in the spool's ``damaged.txt``.
    """

    sent: int = 0
    spooled: int = 0
    dropped: int = 0
    rejected: int = 0
    damaged: int = 0


class Exporter(Protocol):
    """Takes events away. No method raises into the application or blocks it for long."""

    def prepare_with(self, preparation: Preparation) -> None:
        """Use this to open, mask, cut and complete events."""

    def export(self, events: list[RawEvent]) -> None:
        """Take over these events, which stay in order. Called from any thread."""

    def flush(self, timeout: float) -> FlushResult:
        """Wait at most ``timeout`` seconds until all is away."""

    def close(self) -> None:
        """Flush, and free what is held."""
