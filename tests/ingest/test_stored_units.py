"""Units that outlive a process: an answer derives from messages to another process, in any order of their events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from uuid import uuid4

import pytest
from memtrace.events import EventError

from attribution.run import Options, attribute
from attribution.trace.graph import TraceGraph
from attribution.trace.holes import holes
from ingest.events.ordering import in_order, with_late_sources
from ingest.events.reading import read
from ingest.events.taking import Refusal, take_events
from schema.ids import trace_id
from schema.kinds import ErrorType, Status
from schema.models import Operation
from store.contract.protocol import Database, GraphStore
from store.shared.paging import elements
from tests.memory_processes import ALICE, BOB, NOW, WEEK, ask, forget, past, tell, unit, update, variables

pytestmark = pytest.mark.one_engine

BERGEN = ("u1", "Lives in Bergen")
OSLO = ("u1", "Lives in Oslo now")
PAST = [
    "Answer: In Bergen.",
    "MemoryUnit: Lives in Bergen",
    "Message: I moved to Bergen.",
    "Query: Where do I live?",
]


@pytest.fixture
def store(database: Database) -> GraphStore:
    return database.project(f"test-{uuid4().hex}")


async def refusals(store: GraphStore, lines: Sequence[bytes]) -> list[Refusal]:
    """Write events together, as a worker does."""
    events = [event for event in read(lines) if not isinstance(event, EventError)]
    assert len(events) == len(lines)
    order = in_order(events)
    if order is not None:
        events = [events[place] for place in order]
    return await with_late_sources(store, events, await take_events(store, events))


async def take(store: GraphStore, *processes: Sequence[bytes]) -> None:
    """Write the recordings of several processes in turn."""
    for lines in processes:
        assert [one.reason for one in await refusals(store, lines)] == []


async def test_an_answer_reaches_what_was_said_to_another_process_a_week_ago(store: GraphStore) -> None:
    await take(store, tell("I moved to Bergen.", BERGEN[1]), ask("Where do I live?", [BERGEN], "In Bergen."))
    assert await past(store, "In Bergen.") == PAST
    made = await unit(store, BERGEN[1])
    assert made.created_at is not None
    assert made.created_at.date() == NOW.date()
    assert json.loads(made.attributes) == {"store": "mem0:/data/memory", "storeId": "u1"}


async def test_the_reader_may_be_heard_of_first(store: GraphStore) -> None:
    written, asked = tell("I moved to Bergen.", BERGEN[1]), ask("Where do I live?", [BERGEN], "In Bergen.")
    await take(store, asked)
    assert await past(store, "In Bergen.") == [one for one in PAST if not one.startswith("Message")]
    before = await unit(store, BERGEN[1])
    assert (before.operation_id, before.created_at, before.session_id) == (None, None, None)
    assert json.loads(before.attributes)["mentioned"] is True
    await take(store, written)
    assert await past(store, "In Bergen.") == PAST
    after = await unit(store, BERGEN[1])
    assert after.id == before.id
    assert after.operation_id is not None
    assert "mentioned" not in json.loads(after.attributes)
    (extract,) = [one for one in await elements(store, Operation, after.trace_id) if one.name == "extract"]
    detail = (await store.operations([extract.id]))[extract.id]
    assert [one.id for one in detail.generated] == [after.id]
    graph = await variables(store)
    await take(store, asked, written, asked)
    assert await variables(store) == graph


async def test_both_may_be_heard_of_together(store: GraphStore) -> None:
    written, asked = tell("I moved to Bergen.", BERGEN[1]), ask("Where do I live?", [BERGEN], "In Bergen.")
    await take(store, [*asked, *written])
    assert await past(store, "In Bergen.") == PAST


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_a_reader_has_the_version_that_it_read(store: GraphStore, order: tuple[int, ...]) -> None:
    processes = (
        tell("I moved to Bergen.", BERGEN[1]),
        update("I moved on to Oslo.", BERGEN, OSLO[1], at=NOW + 2 * WEEK),
        ask("Where do I live?", [BERGEN], "In Bergen."),
    )
    await take(store, *(processes[place] for place in order))
    assert await past(store, "In Bergen.") == PAST
    first, second = await unit(store, BERGEN[1]), await unit(store, OSLO[1])
    assert second.revision_of == first.id
    assert [one.id for one in await store.versions(first.id)] == [first.id, second.id]
    later = ask("Where do I live now?", [OSLO], "In Oslo.", at=NOW + 3 * WEEK)
    await take(store, later)
    assert await past(store, "In Oslo.") == [
        "Answer: In Oslo.",
        "MemoryUnit: Lives in Bergen",
        "MemoryUnit: Lives in Oslo now",
        "Message: I moved on to Oslo.",
        "Message: I moved to Bergen.",
        "Query: Where do I live now?",
    ]


@pytest.mark.parametrize("is_late", [False, True])
async def test_a_unit_is_deleted_by_another_process(store: GraphStore, is_late: bool) -> None:
    written, gone = tell("I moved to Bergen.", BERGEN[1]), forget(BERGEN, at=NOW + 2 * WEEK)
    await take(store, *((gone, written) if is_late else (written, gone)))
    made = await unit(store, BERGEN[1])
    (end,) = await store.invalidations(made.trace_id)
    assert end.variable_id == made.id
    (delete,) = [one for one in await elements(store, Operation, made.trace_id) if one.name == "delete"]
    assert end.operation_id == delete.id


async def test_what_nobody_recorded_comes_from_outside(store: GraphStore) -> None:
    """The unit is in the graph at once, with its text, and the hole in the recording is reported."""
    await take(store, ask("Where do I live?", [BERGEN], "In Bergen.", gold="In Oslo."))
    found = await unit(store, BERGEN[1])
    assert found.value == BERGEN[1]
    assert found.operation_id is None
    graph = await TraceGraph.load(store, found.trace_id)
    told = {one.problem: one.examples for one in await holes(graph)}
    assert told["what the memory keeps came from outside"] == (found.id,)
    (failure,) = (await store.failures()).items
    (outcome,) = [one async for one in attribute(store, [failure], Options())]
    assert outcome.attribution.error_type is None


async def test_last_weeks_extraction_is_blamed(store: GraphStore) -> None:
    said = "My dog is called Rufus, he is a beagle."
    await take(
        store,
        tell("I work as a baker in Lisbon.", "The user is a baker in Lisbon.", "u1"),
        tell(said, "The user has a beagle.", "u2"),
        ask(
            "What is my dog called?",
            [("u2", "The user has a beagle.")],
            "You have a beagle, but I do not know its name.",
            considered=[("u1", "The user is a baker in Lisbon.")],
            gold="Rufus",
        ),
    )
    (failure,) = (await store.failures()).items
    (outcome,) = [one async for one in attribute(store, [failure], Options(min_confidence=0.0))]
    assert outcome.attribution.error_type is ErrorType.EXTRACTION
    made = await unit(store, "The user has a beagle.")
    assert outcome.attribution.operation_id == made.operation_id


async def test_another_user_has_units_of_their_own(store: GraphStore) -> None:
    """Even if the store gave Bob a unit of Alice: her messages are not in his past, and her unit stays unchanged."""
    await take(store, tell("I moved to Bergen.", BERGEN[1]))
    alice = await variables(store)
    await take(store, ask("Where do I live?", [BERGEN], "In Bergen.", BOB))
    assert "Message: I moved to Bergen." not in await past(store, "In Bergen.", BOB)
    assert await variables(store) == alice


async def test_another_project_has_units_of_its_own(store: GraphStore, database: Database) -> None:
    other = database.project(f"test-{uuid4().hex}")
    await take(store, tell("I moved to Bergen.", BERGEN[1]))
    await take(other, ask("Where do I live?", [BERGEN], "In Bergen."))
    assert "Message: I moved to Bergen." not in await past(other, "In Bergen.")
    assert (await unit(store, BERGEN[1])).operation_id is not None
    assert (await unit(other, BERGEN[1])).operation_id is None
    await other.delete_trace(trace_id(other.project_id, ALICE))
    assert len(await variables(store)) == 2


async def test_two_processes_that_store_the_same_have_stored_one_unit(store: GraphStore) -> None:
    """The first writer is the unit's maker; the second writer's inputs are no sources."""
    await take(store, tell("I moved to Bergen.", BERGEN[1]), tell("Bergen is where I live.", BERGEN[1]))
    await take(store, ask("Where do I live?", [BERGEN], "In Bergen."))
    assert await past(store, "In Bergen.") == PAST
    operations = await elements(store, Operation, trace_id(store.project_id, ALICE))
    assert [one.name for one in operations] == ["extract", "extract", "search", "answer"]
    assert {one.status for one in operations} == {Status.OK}


async def test_a_store_that_numbers_its_versions_tells_equal_ones_apart(store: GraphStore) -> None:
    await take(
        store,
        tell("I moved to Bergen.", BERGEN[1], version="1"),
        tell("No, to Oslo.", OSLO[1], version="2"),
        tell("I am back in Bergen.", BERGEN[1], version="3"),
        ask("Where do I live?", [BERGEN], "In Bergen.", version="3"),
    )
    assert "Message: I am back in Bergen." in await past(store, "In Bergen.")
    assert "Message: I moved to Bergen." not in await past(store, "In Bergen.")


async def test_what_contradicts_a_unit_is_refused_and_named(store: GraphStore) -> None:
    await take(store, tell("I moved to Bergen.", BERGEN[1], version="1"))
    (refused,) = await refusals(store, [one for one in ask("?", [OSLO], "!", version="1") if b"mentioned" in one])
    assert refused.reason.startswith("value: contradicts what is known of variable")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"stored": "mentioned"}, "operation: what is only mentioned has none"),
        ({"operation": None}, "operation: what is written has one"),
        ({"revisionOf": "SELF"}, "revisionOf: a variable is no version of itself"),
        ({"stored": "kept"}, "stored: Input should be"),
    ],
)
async def test_what_an_event_can_not_say_is_refused(
    store: GraphStore, change: dict[str, str | None], problem: str
) -> None:
    lines = tell("I moved to Bergen.", BERGEN[1])
    place = next(place for place, line in enumerate(lines) if b'"written"' in line)
    said = json.loads(lines[place])
    event = said | {name: said["variable"] if value == "SELF" else value for name, value in change.items()}
    await take(store, [line for line in ask("?", [BERGEN], "!") if b'"mentioned"' in line])
    lines[place] = json.dumps({name: said for name, said in event.items() if said is not None}).encode()
    (found,) = read(lines[place : place + 1])
    if isinstance(found, EventError):
        assert str(found).startswith(problem)
    else:
        assert (await refusals(store, lines[: place + 1]))[-1].reason.startswith(problem)
