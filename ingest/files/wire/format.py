"""Files of wire events, as a format. What reads them is loaded where it is needed: that takes a quarter of a second."""

from __future__ import annotations

from ingest.files.heads import first_keys
from ingest.files.protocol import ImportReport, OpenFile
from store.protocol import GraphStore


class WireEvents:
    """Lines of JSON, as they go over the wire."""

    name = "events of the recorder, line by line"
    source = "memtrace"
    suffix = ".ndjson"
    media_type = "application/x-ndjson"

    def recognises(self, head: bytes) -> bool:
        """Whether it begins with an object that names its type and its trace."""
        return {"type", "trace"} <= set(first_keys(head))

    async def read(self, file: OpenFile, store: GraphStore) -> ImportReport:
        """Look at all lines, and write what they say, trace by trace; see ``read_events``.

        Raises:
            InputError: a line is no event; nothing was written.
        """
        from ingest.files.wire.read import read_events

        return await read_events(file, store)
