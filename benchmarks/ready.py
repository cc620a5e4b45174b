"""The elements that events make, ready to be stored. Storing only them is the peer of the queue's writers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memtrace.events import Event, decode

from ingest.events.taking import take_events
from schema.models import Batch, Derivation, Operation, Session, Variable
from store.contract.protocol import GraphStore
from store.open import open_database
from store.shared.paging import elements
from store.values.packs import PackWriter


@dataclass(frozen=True, slots=True)
class Ready:
    """A trace, and its values that lie beside the graph, by hash."""

    batch: Batch
    values: dict[str, bytes]


async def ready(project: str, conversations: Iterable[list[bytes]], folder: Path) -> list[Ready]:
    """Make the elements of events, a batch for each trace, with the help of a temporary store."""
    made = []
    async with await open_database(f"sqlite:///{folder / f'{project}.db'}") as database:
        store = database.project(project)
        for lines in conversations:
            events: list[Event] = [decode(line) for line in lines]
            refused = await take_events(store, events)
            if refused:
                raise RuntimeError(f"an event of the benchmark is refused: {refused[0].reason}")
        for trace in (await store.traces(1000)).items:
            batch = Batch(
                trace,
                await elements(store, Session, trace.id),
                await elements(store, Operation, trace.id),
                await elements(store, Variable, trace.id),
                await elements(store, Derivation, trace.id),
                await store.usages(trace.id),
            )
            made.append(Ready(batch, await store.values([one for one in batch.variables if one.value is None])))
    return made


async def write_ready(store: GraphStore, made: Sequence[Ready], writers: int) -> None:
    """Write batches with this many concurrent writers."""
    slots = asyncio.Semaphore(writers)

    async def write(one: Ready) -> None:
        async with slots:
            with PackWriter() as values:
                for value_hash, data in one.values.items():
                    values.add(value_hash, data)
                await store.write(one.batch, values)

    await asyncio.gather(*map(write, made))
