"""Shows one trace: source, size, sessions and first operations."""

from __future__ import annotations

from api.cli.context import Target
from api.cli.errors import note
from api.cli.output import Output, print_json

STEPS = 20
"""So many operations are shown."""
_PAGE = 5_000
_MOST_COUNTED = 100_000
"""Counting operations by session stops at this number, because reading more would keep the user waiting."""


async def show_trace(place: Target, reference: str, limit: int = STEPS, as_json: bool = False) -> None:
    """Print what the command `trace` prints."""
    from collections import Counter

    from api.cli import documents
    from api.cli.find import find_trace
    from api.cli.render import sheets, tables
    from api.cli.render.text import short
    from schema.models import Operation, Session
    from store.contract.answers import Label
    from store.shared.paging import elements, in_trace

    async with place.open() as store:
        found = await find_trace(store, reference)
        stats = await store.stats(found.id)
        sessions = await elements(store, Session, found.id)
        total = stats.labels.get(Label.OPERATION.value, 0)
        steps: Counter[str | None] | None = Counter() if total <= _MOST_COUNTED else None
        first: list[Operation] = []
        async for one in in_trace(
            store, Label.OPERATION, found.id, first=_PAGE if steps is not None else max(1, min(limit, _PAGE))
        ):
            if steps is None and len(first) >= limit:
                break
            if isinstance(one, Operation):
                if steps is not None:
                    steps[one.session_id] += 1
                if len(first) < limit:
                    first.append(one)
    if as_json:
        print_json(documents.whole_trace(found, stats, sessions, steps))
        return
    out = Output()
    out.show(sheets.trace(found, stats))
    if sessions:
        out.lines("")
        out.show(tables.sessions(sessions, steps))
    if first:
        out.lines("", f"Operations, the first {len(first):,} of {total:,}:" if total > len(first) else "Operations:")
        out.show(tables.operations(first))
    if total > len(first):
        note(f"All {total:,} operations: memtrace operations --trace {short(found.id)}")
