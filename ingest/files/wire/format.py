"""The format of files with wire events. The reader is imported lazily, because importing it takes 0.25 s."""

from __future__ import annotations

from ingest.files.opening import first_keys
from ingest.files.protocol import ImportReport, OpenFile
from store.contract.protocol import GraphStore


class WireEvents:
    """Files with one wire event as JSON on each line."""

    name = "events of the recorder, line by line"
    source = "memtrace"
    suffix = ".ndjson"
    media_type = "application/x-ndjson"

    def recognises(self, head: bytes) -> bool:
        """Whether the file begins with an object that has the keys ``type`` and ``trace``."""
        return {"type", "trace"} <= set(first_keys(head))

    async def read(self, file: OpenFile, store: GraphStore) -> ImportReport:
        """See ``ingest.files.wire.read.read_events``."""
        from ingest.files.wire.read import read_events

        return await read_events(file, store)
