"""Audit log entries that stay consistent with their acts, whatever is killed, cancelled or unreachable.

An act of one transaction writes the entry in the transaction. An act of several transactions, or in another database
than the audit log, writes the entry as ``BEGUN`` before the act and sets the outcome afterwards. An entry that stays
``BEGUN`` means that the outcome of the act is unknown.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from schema.control import BEGUN, AuditEntry
from schema.errors import MemTraceError, StoreError

if TYPE_CHECKING:
    from store.contract.records import ProjectRecords


@asynccontextmanager
async def begun(log: ProjectRecords, entry: AuditEntry | None) -> AsyncIterator[None]:
    """Write an entry as ``BEGUN`` before the act in the block; if the act fails, set the outcome to the error's name.

    The act itself has to set the outcome of a success, with or after its last change: see ``ProjectRecords.settle``.
    """
    if entry is None:
        yield
        return
    await log.log([replace(entry, outcome=BEGUN)])
    try:
        yield
    except MemTraceError as error:
        await _settle(log, replace(entry, outcome=type(error).__name__))
        raise


@asynccontextmanager
async def apart(log: ProjectRecords | None, entry: AuditEntry | None) -> AsyncIterator[AuditEntry | None]:
    """Write the audit entry of the act in the block, if the audit log is in another database.

    Args:
        log: the audit log in the other database; None if the log is in the act's database.
        entry: the entry of the act.

    Yields:
        The entry that the act's own transaction has to write; None if the entry is written here.
    """
    if log is None or entry is None:
        yield entry
        return
    async with begun(log, entry):
        yield None
    await _settle(log, entry)


async def _settle(log: ProjectRecords, entry: AuditEntry) -> None:
    """Write the outcome of an act to the audit log.

    The act is over and its caller must learn the outcome, so an unreachable audit log is only reported in the server's
    log.
    """
    try:
        await log.settle(entry)
    except StoreError as error:
        import structlog  # here, because every command opens a store and few write logs

        logger = structlog.get_logger("memtrace.store")
        logger.error(
            "an entry of the audit log stays as begun", entry=entry.id, outcome=entry.outcome, reason=str(error)
        )
