"""The format of files with wire events. Its reader is imported only when it is needed, as that takes 0.25 s."""

from __future__ import annotations

from ingest.files.heads import first_keys
from ingest.files.protocol import ImportReport, OpenFile
from store.contract.protocol import GraphStore


class WireEvents:
    """Files with one wire event as JSON on each line."""

    name = "events of the recorder, line by line"
    source = "memtrace"
    suffix = ".ndjson"
    media_type = "application/x-ndjson"

    def recognises(self, head: bytes) -> bool:
        """Whether it begins with an object that has the keys for its type and its trace."""
        return {"type", "trace"} <= set(first_keys(head))

    async def read(self, file: OpenFile, store: GraphStore) -> ImportReport:
        """Check all lines, and write their events, trace by trace; see ``read_events``.

        Raises:
            InputError: a line is not an event; nothing was written.
        """
        from ingest.files.wire.read import read_events

        return await read_events(file, store)
