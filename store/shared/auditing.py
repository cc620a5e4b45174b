"""How an act and its entry in the audit log stay together, whatever is killed, cancelled or unreachable.

Where one transaction does the act, it writes the entry too. If an act takes several transactions, or is done in another
database than the audit log, its entry is written as ``BEGUN`` before the act begins, and its outcome is added
afterwards. If an entry stays ``BEGUN``, it is not known how the act ended.
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
    """Write an entry before the act in the block begins, and the name of the error if it fails.

    That it succeeded has to be said with its last change, or after it: see ``ProjectRecords.settle``.
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
    """Write the audit entry for the act in the block, if the act's own transaction can't do that.

    Args:
        log: the audit log, if it is in another database than the act; else None.
        entry: tells of the act.

    Yields:
        The entry that the act's own transaction has to write, if any.
    """
    if log is None or entry is None:
        yield entry
        return
    async with begun(log, entry):
        yield None
    await _settle(log, entry)


async def _settle(log: ProjectRecords, entry: AuditEntry) -> None:
    """Write to the audit log how an act ended.

    The act itself is over, so a log that can't be reached is only reported in the server's log: the caller must learn
    how the act went.
    """
    try:
        await log.settle(entry)
    except StoreError as error:
        import structlog  # here, because every command opens a store and few write logs

        logger = structlog.get_logger("memtrace.store")
        logger.error(
            "an entry of the audit log stays as begun", entry=entry.id, outcome=entry.outcome, reason=str(error)
        )
