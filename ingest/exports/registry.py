"""The list of exports, with one line for each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import BinaryIO

from ingest.exports import openlineage, otlp, prov
from schema.models import Trace
from store.protocol import GraphStore

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


EXPORTS: dict[str, Export] = {
    "otlp": Export(".otlp", "application/x-protobuf", otlp.write),
    "prov-json": Export(".prov.json", "application/json", prov.write),
    "openlineage": Export(".openlineage.ndjson", "application/x-ndjson", openlineage.write),
}
