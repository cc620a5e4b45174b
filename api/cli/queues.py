"""Opens the queue of events for commands."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from api.cli.context import Target
from api.cli.errors import UsageError
from schema.errors import InputError

if TYPE_CHECKING:
    from ingest.queue.protocol import EventQueue


@asynccontextmanager
async def queue_of(place: Target) -> AsyncIterator[EventQueue | None]:
    """The queue at ``MEMTRACE_NATS``, else the journal beside the store; None without a journal.

    Raises:
        UsageError: a setting can't be used.
        StoreError: the queue can't be reached or used.
    """
    import structlog

    from api.settings.loading import journal_path, load_settings, open_queue

    # Messages of the connection must not mix with the command's result on standard output.
    structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))
    try:
        settings = load_settings(None, {"store": place.store, "values": place.values})
        if settings.nats is None and not journal_path(settings).exists():
            yield None
            return
        queue = await open_queue(settings)
    except InputError as error:
        raise UsageError(str(error)) from error
    async with queue:
        yield queue
