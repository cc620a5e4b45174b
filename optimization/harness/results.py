"""Writes what a running program records to the graph, so that the results so far can be seen."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from ingest.files.registry import import_path
from schema.errors import NotFoundError
from schema.ids import trace_id
from store.contract.protocol import GraphStore


class ResultsSoFar:
    """The file of events of one conversation while it grows.

    Args:
        store: the project to write to.
        events: the file, which need not exist yet.
        trace: the recorder's id of the trace.
    """

    def __init__(self, store: GraphStore, events: Path, trace: str) -> None:
        self._store = store
        self._events = events
        self._trace = trace
        self._written = 0

    async def forget(self) -> None:
        """Delete the trace of an earlier, unfinished run, which is about to be recorded again."""
        with suppress(NotFoundError):
            await self._store.delete_trace(trace_id(self._store.project_id, self._trace))

    async def write(self) -> None:
        """Write the new events to the graph. Events that need later ones are written with the whole file."""
        part = await asyncio.to_thread(self._part)
        if part is not None:
            await import_path(self._store, part)

    def _part(self) -> Path | None:
        """A file with the complete lines that are new; None if there are none."""
        if not self._events.exists():
            return None
        with self._events.open("rb") as file:
            file.seek(self._written)
            data = file.read()
        end = data.rfind(b"\n") + 1
        if not end:
            return None
        part = self._events.with_name("part.ndjson")
        part.write_bytes(data[:end])
        self._written += end
        return part
