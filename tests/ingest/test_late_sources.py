"""Derivations whose source came after their target: taken, unless they close a cycle."""

from __future__ import annotations

from random import Random
from typing import Any, cast
from uuid import uuid4

import pytest
from memtrace.events import Derived, Event

import ingest.events.ordering
from ingest.events.ordering import Steps, take_late_sources
from ingest.events.reading import read
from ingest.events.taking import take_events
from schema.errors import InputError
from schema.ids import trace_id
from schema.models import Batch, Derivation, Variable
from store.contract.answers import WriteResult
from store.contract.protocol import Database, GraphStore
from store.shared.paging import elements
from tests.queue.sets import event_line

pytestmark = pytest.mark.one_engine

VARIABLES = 14


def _event(type_: str, **fields: Any) -> Event:
    (found,) = read([event_line(type_, "t", **fields)])
    return cast("Event", found)


def _derived(source: int, target: int) -> Derived:
    name = f"{source}-{target}"
    fields = {"source": f"v{source}", "target": f"v{target}", "operation": "o", "kind": "Derivation"}
    return cast("Derived", _event("derived", derivation=name, **fields))


async def _store(database: Database, variables: int = VARIABLES) -> GraphStore:
    """A project with a trace of unconnected variables."""
    store = database.project(f"test-{uuid4().hex}")
    said = {"name": "v", "kind": "Message", "version": 0, "value": "v", "mediaType": "text/plain"}
    events = [_event("operationStarted", operation="o", name="o", kind="Other")]
    events += [_event("variable", variable=f"v{number}", **said) for number in range(variables)]
    assert await take_events(store, events) == []
    return store


async def _edges(store: GraphStore) -> set[str | None]:
    """The stored derivations, after a check that each source has a smaller sequence number than its target."""
    id_ = trace_id(store.project_id, "t")
    places = {one.id: one.sequence for one in await elements(store, Variable, id_)}
    assert sorted(places.values()) == list(range(len(places)))
    found = await elements(store, Derivation, id_)
    assert all(places[one.source] < places[one.target] for one in found)
    return {one.external_id for one in found}


def _closes(edges: set[tuple[int, int]], source: int, target: int) -> bool:
    """Whether the source derives from the target already."""
    reached, waiting = set[int](), [source]
    while waiting:
        here = waiting.pop()
        if here == target:
            return True
        if here not in reached:
            reached.add(here)
            waiting += [one for one, other in edges if other == here]
    return False


@pytest.mark.parametrize("levels", [1, 32])
@pytest.mark.parametrize("seed", range(6))
async def test_all_are_taken_but_those_that_close_a_cycle(
    database: Database, seed: int, levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest.events.ordering, "_LEVELS_ONE_BY_ONE", levels)
    store, random = await _store(database), Random(seed)
    known: set[tuple[int, int]] = set()
    for _ in range(8):
        pairs = list({(random.randrange(VARIABLES), random.randrange(VARIABLES)) for _ in range(6)} - known)
        expected = []
        for index, pair in enumerate(pairs):
            if _closes(known, *pair):
                expected.append(index)
            else:
                known.add(pair)
        refused = await take_late_sources(store, [_derived(*pair) for pair in pairs])
        assert [one.index for one in refused] == expected
        assert all("close a cycle" in one.reason for one in refused)
        assert await _edges(store) == {f"{source}-{target}" for source, target in known}
    assert len(known) > VARIABLES


async def test_what_is_there_already_changes_nothing(database: Database) -> None:
    store = await _store(database)
    for _ in range(2):
        assert await take_late_sources(store, [_derived(5, 2), _derived(2, 1)]) == []
        assert await _edges(store) == {"5-2", "2-1"}


async def test_what_is_not_there_yet_is_early(database: Database) -> None:
    store = await _store(database)
    refused = await take_late_sources(store, [_derived(5, 99), _derived(5, 2)])
    assert [(one.index, one.is_early) for one in refused] == [(0, True)]
    assert await _edges(store) == {"5-2"}


async def test_an_event_that_the_store_refuses_is_named_among_the_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await _store(database)
    write = store.write

    async def write_all_but_one(batch: Batch, **more: Any) -> WriteResult:
        if any(one.external_id == "5-2" for one in batch.derivations):
            raise InputError("derivation", "5-2", "is refused")
        return await write(batch, **more)

    monkeypatch.setattr(store, "write", write_all_but_one)
    pairs = [(9, 8), (7, 6), (4, 3), (5, 2)]
    (refused,) = await take_late_sources(store, [_derived(*pair) for pair in pairs])
    assert refused.index == 3
    assert await _edges(store) == {"9-8", "7-6", "4-3"}


async def test_no_more_than_so_many_change_their_places(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest.events.ordering, "MOST_LOOKED_AT", 6)
    store = await _store(database)
    chain = [_derived(number, number + 1) for number in range(VARIABLES - 2)]
    assert await take_events(store, chain) == []
    (refused,) = await take_late_sources(store, [_derived(VARIABLES - 1, 0)])
    assert "would have to change their places" in refused.reason
    assert not refused.is_early
    assert await take_late_sources(store, [_derived(VARIABLES - 1, VARIABLES - 4)]) == []
    assert len(await _edges(store)) == VARIABLES - 1


async def test_a_long_chain_is_read_at_once(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest.events.ordering, "_LEVELS_ONE_BY_ONE", 3)
    monkeypatch.setattr(ingest.events.ordering, "MOST_LOOKED_AT", VARIABLES)
    store, reads = await _store(database), 0
    assert await take_events(store, [_derived(number, number + 1) for number in range(VARIABLES - 1)]) == []
    read = store.derivations_of

    async def counted(*args: Any) -> dict[str, list[Derivation]]:
        nonlocal reads
        reads += 1
        return await read(*args)

    monkeypatch.setattr(store, "derivations_of", counted)
    (refused,) = await take_late_sources(store, [_derived(VARIABLES - 1, 0)])
    assert "close a cycle" in refused.reason
    assert reads <= 5


async def test_what_a_turn_has_no_time_for_is_put_off(database: Database) -> None:
    store = await _store(database)
    assert await take_events(store, [_derived(number, number + 1) for number in range(VARIABLES - 1)]) == []
    cycles = [_derived(VARIABLES - 1, 0), _derived(VARIABLES - 2, 1), _derived(0, VARIABLES - 1)]
    refused = await take_late_sources(store, cycles, Steps(1))
    assert [(one.index, one.is_early, one.is_put_off) for one in refused] == [(0, False, False), (1, True, True)]
    assert "close a cycle" in refused[0].reason
    (refused_later,) = await take_late_sources(store, cycles[1:2], Steps(1))
    assert "close a cycle" in refused_later.reason
