"""The list of exports, with one line for each."""

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
    """A format in which every trace can be written, wherever it came from.

    Attributes:
        suffix: the ending of the names of its files.
        media_type: its media type in HTTP.
        write: writes a trace.
    """

    suffix: str
    media_type: str
    write: Write


def _written_by(module: str) -> Write:
    """What ``write`` of a module of this package does.

    The module is loaded for the first trace, and in a thread: with the messages of OpenTelemetry this takes 20 ms, and
    neither the start of a server nor its event loop should wait for that.
    """

    async def write(store: GraphStore, trace: Trace, out: BinaryIO) -> None:
        loaded = await asyncio.to_thread(import_module, f"ingest.exports.{module}")
        await loaded.write(store, trace, out)

    return write


EXPORTS: dict[str, Export] = {
    "otlp": Export(".otlp", "application/x-protobuf", _written_by("otlp")),
    "prov-json": Export(".prov.json", "application/json", _written_by("prov")),
    "openlineage": Export(".openlineage.ndjson", "application/x-ndjson", _written_by("openlineage")),
}
