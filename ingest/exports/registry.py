"""The list of export formats, one line each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import BinaryIO

from schema.models import Trace
from store.contract.protocol import GraphStore

Write = Callable[[GraphStore, Trace, BinaryIO], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Export:
    """A format that can hold any trace.

    Attributes:
        suffix: ending of the file names.
        media_type: media type in HTTP.
        write: writes a trace.
    """

    suffix: str
    media_type: str
    write: Write


def _written_by(module: str) -> Write:
    """The ``write`` function of a module of this package.

    The module is loaded for the first trace, and in a thread: loading OpenTelemetry's messages takes 20 ms, which would
    delay the start of a server, or block its event loop.
    """

    async def write(store: GraphStore, trace: Trace, out: BinaryIO) -> None:
        loaded = await asyncio.to_thread(import_module, f"ingest.exports.{module}")
        await loaded.write(store, trace, out)

    return write


EVENTS = Export(".ndjson", "application/x-ndjson", _written_by("events"))
"""What the recorder sends, which an import reads again."""
_RECORDER = "memtrace"


def own_export(trace: Trace) -> Export | None:
    """The export in the format of the trace's source, if this is the recorder; else ``ingest.files`` has the format."""
    return EVENTS if trace.source == _RECORDER else None


EXPORTS: dict[str, Export] = {
    "otlp": Export(".otlp", "application/x-protobuf", _written_by("otlp")),
    "prov-json": Export(".prov.json", "application/json", _written_by("prov")),
    "openlineage": Export(".openlineage.ndjson", "application/x-ndjson", _written_by("openlineage")),
}
