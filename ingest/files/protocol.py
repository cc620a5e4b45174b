"""The protocol of file formats, and what an import reports."""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol, runtime_checkable

from store.contract.protocol import GraphStore

Progress = Callable[[str, int, int], None]
"""Is called with the stage (``read``, ``repair``, ``write``), how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that is being imported.

    Attributes:
        name: its name in messages.
        data: its unpacked bytes.
        timezone: IANA name of the zone of times that have none.
        max_bytes: largest total size of its values, if the file contains only parts of them; None means no limit.
        tell: is called with the progress. If it raises an error before the file is written, the import ends and nothing
            is written.
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
    """A line of a file that is not in the graph, although the rest of the file is.

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
        created: number of elements that are new in the store, by label.
        existing: number of elements that were stored before, by label.
        variables: variables that the file recorded; ``occurrences`` are those that the repair added.
        derivations: derivations that the file recorded; ``reads`` are those that the repair added.
        trace_ids: all traces of the file, in its order.
        rejected: what the graph could not accept. Only formats of events have it; other files are imported whole or not
            at all.
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
    """A file format of traces. One folder contains all that is known about it; one line of the registry names it."""

    @property
    def name(self) -> str:
        """The name of its files in messages."""
        ...

    @property
    def source(self) -> str:
        """The recorder: ``Trace.source`` of the traces in such a file."""
        ...

    @property
    def suffix(self) -> str:
        """The ending of the names of its plain files, by which they are found in a folder."""
        ...

    @property
    def media_type(self) -> str:
        """The media type of a plain file in HTTP."""
        ...

    def recognises(self, head: bytes) -> bool:
        """Whether a file has this format, judged by its first bytes; only one format may say so of a file."""
        ...

    async def read(self, file: OpenFile, store: GraphStore) -> ImportReport:
        """Write the traces of a file to a project's graph; what is stored already stays as it is.

        Raises:
            InputError: the file is malformed, or contradicts what is stored; nothing was written.
        """
        ...


@runtime_checkable
class WritableFormat(Format, Protocol):
    """A format in which traces can be exported."""

    async def write(self, store: GraphStore, trace_id: str, out: BinaryIO) -> None:
        """Write a trace that was imported in this format.

        Raises:
            NotFoundError: there is no such trace.
        """
        ...
