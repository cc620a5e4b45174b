"""Scans over whole values in a value store outside the file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from schema.words import contains
from store.contract.answers import ScanResult
from store.sqlite import find
from store.sqlite.context import ReadContext
from store.values.contract import ValueStore

Read = Callable[..., Awaitable[Any]]


async def scan_outside(
    read: Read, values: ValueStore, project_id: str, text: str, trace_id: str | None, bounds: find.ScanBounds
) -> ScanResult:
    """The same as ``find.scan``, but the packs are read from a value store."""
    progress: find.ScanProgress = await read(find.scan_inline, text, trace_id, bounds)
    traces: list[str] = [trace_id] if trace_id else await read(_trace_ids)
    for one in traces:
        async for value_hash, value in values.scan(project_id, one):
            if bounds.reached(progress.scanned):
                progress.truncated = True
                break
            progress.scanned += len(value)
            if contains(value, text):
                progress.matched.update(await read(_keys_of_hash, one, value_hash))
    result: ScanResult = await read(find.scan_result, text, bounds, progress)
    return result


def _trace_ids(context: ReadContext) -> list[str]:
    return [value.lower() for (value,) in context.rows("traces.ids")]


def _keys_of_hash(context: ReadContext, trace_id: str, value_hash: str) -> list[int]:
    digest = value_hash.partition(":")[2]
    return [k for (k,) in context.rows("values.by_hash", trace=trace_id, hash=digest)]
