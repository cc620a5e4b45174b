"""The protocol of exporters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memtrace.exporters.prepare import Preparation
from memtrace.raw_events import RawEvent


@dataclass(frozen=True, slots=True)
class FlushResult:
    """Counts of the events of this process so far, by their fate.

    Attributes:
        sent: events that the platform has accepted, or that were written to the exporter's file.
        spooled: events that wait on disk until the platform can be reached.
        dropped: lost events: there was no room in memory or on disk, or a file could not be written.
        rejected: events that the platform refused. The spool, if any, keeps them with the reason in ``rejected.jsonl``.
        damaged: lines in the spool that are no events, because a process was killed or the disk was full during the
            write. The spool keeps the lines in ``damaged.txt``.
    """

    sent: int = 0
    spooled: int = 0
    dropped: int = 0
    rejected: int = 0
    damaged: int = 0


class Exporter(Protocol):
    """Accepts events. No method raises an error in the application or blocks it for long."""

    def prepare_with(self, preparation: Preparation) -> None:
        """Use ``preparation`` to open, mask, cut and complete events."""

    def export(self, events: list[RawEvent]) -> None:
        """Accept events and keep their order. Called from any thread."""

    def flush(self, timeout: float) -> FlushResult:
        """Wait at most ``timeout`` seconds until all events are sent or stored."""

    def close(self) -> None:
        """Flush, and release everything."""
