"""Pages of idle traces in Neo4j."""

from __future__ import annotations

from datetime import datetime

from schema.microseconds import from_microseconds
from store.contract.answers import Label, Page
from store.contract.idle import IdlePosition, IdleTrace, end_of_list, idle_page, read_place
from store.neo4j.read import Reader


async def idle_traces(
    reader: Reader, until: datetime, before: datetime | None, keep: int | None, first: int, after: str | None
) -> Page[IdleTrace]:
    """A page of idle traces; see ``GraphStore.idle_traces``."""
    start = read_place(after)
    kept = [] if keep is None else await reader.items("written_in_order", skip=keep - 1)
    end = end_of_list(until, before, IdlePosition(*kept[0]) if kept else None)
    keys = await reader.items(
        "page_idle_trace",
        at=from_microseconds(start.at),
        last=start.id,
        until=from_microseconds(end.at),
        untilId=end.id,
        count=max(first, 0) + 1,
    )
    places = [IdlePosition(*key) for key in keys]
    found = await reader.get(Label.TRACE, [place.id for place in places[:first]])
    return idle_page(places, first, found)
