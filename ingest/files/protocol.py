"""What a format of files is, and what importing a file tells."""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol, runtime_checkable

from store.protocol import GraphStore

Progress = Callable[[str, int, int], None]
"""Takes the stage (``read``, ``repair``, ``write``), what is done and what there is."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that is being imported.

    Attributes:
        name: how messages name it.
        data: its bytes, unpacked.
        timezone: IANA name of the zone of times that do not say theirs.
        max_bytes: the most that its values may come to where the file holds only a part of each; None is no limit.
        tell: is told how far the import is; what it raises before the write is done ends the import, with nothing
            written.
        opened_at: when the import began, in seconds of ``time.perf_counter``.
        plain_name: its name without folder and endings, which labels call its trace by; None where it has none.
    """

    name: str
    data: mmap.mmap = field(repr=False)
    timezone: str = "UTC"
    max_bytes: int | None = None
    tell: Progress = lambda stage, done, total: None
    opened_at: float = field(default_factory=time.perf_counter)
    plain_name: str | None = None

    def seconds(self) -> float:
        """How long the import has taken until now."""
        return time.perf_counter() - self.opened_at


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line of a file that is not in the graph, though all else of the file is.

    Attributes:
        line: its number, from 1.
        reason: what is wrong, and where.
    """

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did.

    Attributes:
        trace_id: the first trace of the file.
        created: elements that are new in the store, by label.
        existing: elements that were there before, by label.
        variables: variables that the file recorded; what the repair added is ``occurrences``.
        derivations: derivations that the file recorded; what the repair added is ``reads``.
        trace_ids: all traces of the file, in its order.
        rejected: what the graph could not take; only formats of events have it, others are taken whole or not at all.
    """

    file: str
    trace_id: str
    created: dict[str, int]
    existing: dict[str, int]
    variables: int
    occurrences: int
    operations: int
    derivations: int
    reads: int
    sessions: int
    failures: int
    seconds: float
    trace_ids: tuple[str, ...]
    rejected: tuple[Rejected, ...] = ()


class Format(Protocol):
    """A format that traces come in. One folder has all that is known of it, and one line of the registry names it."""

    @property
    def name(self) -> str:
        """What messages call its files."""
        ...

    @property
    def source(self) -> str:
        """Who recorded: ``Trace.source`` of the traces of such a file."""
        ...

    @property
    def suffix(self) -> str:
        """How names of its plain files end: those of a folder are found by it."""
        ...

    @property
    def media_type(self) -> str:
        """What HTTP calls a plain file."""
        ...

    def recognises(self, head: bytes) -> bool:
        """Whether a file is of this format, by its first bytes; no other format may say so of the same file."""
        ...

    async def read(self, file: OpenFile, store: GraphStore) -> ImportReport:
        """Write the traces of a file to a project's graph; what is there already stays as it is.

        Raises:
            InputError: the file is malformed, or says something else than what is stored; nothing was written.
        """
        ...


@runtime_checkable
class WritableFormat(Format, Protocol):
    """A format that traces are given back in."""

    async def write(self, store: GraphStore, trace_id: str, out: BinaryIO) -> None:
        """Write a trace that came in this format.

        Raises:
            NotFoundError: there is no such trace.
        """
        ...
