"""What the recorder writes of a memory, as attribution reads it."""

from __future__ import annotations

import json
from uuid import uuid4

import memtrace
from memtrace.events import decode
from memtrace.exporters.memory import MemoryExporter

from attribution.run import Options, attribute
from attribution.trace.graph import TraceGraph
from ingest.events.feedback import Complaint, record_failure
from ingest.events.taking import take_events
from schema.ids import trace_id
from schema.kinds import ErrorType, VariableKind
from schema.models import Attribution
from store.contract.protocol import Database

MESSAGE = "My rabbit is called Pim. My canoe is made of birch bark. My aunt Vera repairs clocks."


@memtrace.operation(kind="Extraction", output="MemoryUnit", each=True)
def extract(message: str) -> list[str]:
    return [f"{sentence}." for sentence in message.rstrip(".").split(". ")]


@memtrace.operation(kind="Retrieval")
def search(question: str, units: list[str], count: int) -> list[str]:
    return units[:count]


@memtrace.operation(kind="Deletion", output=False)
def forget(request: str, unit: str) -> None:
    memtrace.deleted(unit)


@memtrace.operation(kind="Generation", output="Answer")
def answer(question: str, units: list[str]) -> str:
    return "I don't know."


async def verdict(database: Database, recorded: MemoryExporter) -> tuple[Attribution, str | None]:
    """The verdict on the last answer, and the name of the operation that it blames."""
    store = database.project(f"units-{uuid4().hex}")
    assert await take_events(store, [decode(json.dumps(event)) for event in recorded.events]) == []
    graph = await TraceGraph.load(store, trace_id(store.project_id, "t"))
    last = {one.kind: one.id for one in graph.variables.values()}
    first = next(one.id for one in graph.variables.values() if one.kind is VariableKind.MESSAGE)
    said = Complaint(last[VariableKind.QUERY], last[VariableKind.ANSWER], ("birch bark",), (first,))
    failure = await record_failure(store, said, "somebody")
    (outcome,) = [one async for one in attribute(store, [failure], Options())]
    found = outcome.attribution
    assert found.operation_id is not None
    return found, graph.operations[found.operation_id].name


async def test_units_of_one_name_are_no_versions(sqlite_database: Database, recorded: MemoryExporter) -> None:
    with memtrace.trace(id="t"):
        units = extract(memtrace.variable(MESSAGE, "Message", "m"))
        question = memtrace.variable("What is the canoe made of?", "Query", "q")
        answer(question, search(question, units, 1))
    found, blamed = await verdict(sqlite_database, recorded)
    assert (found.error_type, blamed) == (ErrorType.RETRIEVAL, "search")


async def test_what_was_read_before_is_no_version(sqlite_database: Database, recorded: MemoryExporter) -> None:
    with memtrace.trace(id="t"):
        units = extract(memtrace.variable(MESSAGE, "Message", "m"))
        for number in range(2):
            question = memtrace.variable("What is the canoe made of?", "Query", f"q{number}")
            answer(question, search(question, units, 3))
            if number == 0:
                forget(memtrace.variable("Forget the canoe.", "Message", "m2"), units.pop(1))
    found, blamed = await verdict(sqlite_database, recorded)
    assert (found.error_type, blamed) == (ErrorType.DELETION, "forget")
