"""The protocol of exporters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memtrace.exporters.prepare import Preparation
from memtrace.raw_events import RawEvent


@dataclass(frozen=True, slots=True)
class FlushResult:
    """What has become of the events of this process so far.

    Attributes:
        sent: events that the platform has accepted (or that were written, if the exporter writes to a file).
        spooled: events that wait on disk until the platform can be reached.
        dropped: events that are lost, because there was no room in memory or on disk, or a file could not be written.
        rejected: events that the platform refused; they are kept with the reason in the spool's ``rejected.jsonl``, if
            there is a spool.
        damaged: lines in the spool that are not events, because a process was killed or the disk was full while they
            were written; they are kept in the spool's ``damaged.txt``.
    """

    sent: int = 0
    spooled: int = 0
    dropped: int = 0
    rejected: int = 0
    damaged: int = 0


class Exporter(Protocol):
    """Accepts events. No method raises an error in the application or blocks it for long."""

    def prepare_with(self, preparation: Preparation) -> None:
        """Use this to open, mask, cut and complete events."""

    def export(self, events: list[RawEvent]) -> None:
        """Accept these events and keep their order. Called from any thread."""

    def flush(self, timeout: float) -> FlushResult:
        """Wait at most ``timeout`` seconds until all events are sent or stored."""

    def close(self) -> None:
        """Flush, and release everything."""
