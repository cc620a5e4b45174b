"""The protocol of file formats, and what an import reports."""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO, Protocol, runtime_checkable

from schema.models import camel_case
from store.contract.protocol import GraphStore

Progress = Callable[[str, int, int], None]
"""Called with the stage (``read``, ``repair``, ``write``), and how much of the stage is done and exists."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that is being imported.

    Attributes:
        name: its name in messages.
        data: its unpacked bytes.
        timezone: IANA name of the zone of times without a zone.
        max_bytes: largest total size of values that are rebuilt from parts in the file; None means no limit.
        tell: called with the progress. If it raises an error before the file is written, the import ends and nothing is
            written.
        opened_at: when the import began, in seconds of ``time.perf_counter``.
        plain_name: its name without folder and endings, by which label files name its trace; None if the file has no
            name.
    """

    name: str
    data: mmap.mmap = field(repr=False)
    timezone: str = "UTC"
    max_bytes: int | None = None
    tell: Progress = lambda stage, done, total: None
    opened_at: float = field(default_factory=time.perf_counter)
    plain_name: str | None = None

    def seconds(self) -> float:
        """Seconds since the import began."""
        return time.perf_counter() - self.opened_at


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line that the graph could not accept, in a file whose other lines are in the graph.

    Attributes:
        line: number of the line, from 1.
        reason: what is wrong, and where.
    """

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import.

    Attributes:
        trace_id: the first trace of the file.
        created: number of elements that are new in the store, by label.
        existing: number of elements that were stored before, by label.
        variables: number of variables in the file.
        occurrences: number of variables added by the repair.
        derivations: number of derivations in the file.
        reads: number of derivations added by the repair.
        trace_ids: all traces of the file, in its order.
        rejected: lines that the graph could not accept, for formats of events; other files are imported whole or not at
            all.
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

    def as_json(self) -> dict[str, Any]:
        """The report in its public form, with the names in camel case.

        ``traceIds`` is left out if the file has one trace, and ``rejected`` if nothing was.
        """
        public = {camel_case(name): value for name, value in asdict(self).items()}
        if len(self.trace_ids) == 1:
            del public["traceIds"]
        if not self.rejected:
            del public["rejected"]
        return public


class Format(Protocol):
    """A file format of traces: a folder of its own, and one line in the registry."""

    @property
    def name(self) -> str:
        """The name of its files in messages."""
        ...

    @property
    def source(self) -> str:
        """The recorder: ``Trace.source`` of the format's traces."""
        ...

    @property
    def suffix(self) -> str:
        """The ending of uncompressed files' names, by which a folder is searched."""
        ...

    @property
    def media_type(self) -> str:
        """The media type of an uncompressed file in HTTP."""
        ...

    def recognises(self, head: bytes) -> bool:
        """Whether a file's first bytes show this format; the formats' answers must exclude each other."""
        ...

    async def read(self, file: OpenFile, store: GraphStore) -> ImportReport:
        """Write the traces of a file to a project's graph; stored elements stay unchanged.

        Raises:
            InputError: the file is malformed, or contradicts stored elements; nothing was written.
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
