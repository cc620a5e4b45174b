"""Changes of a memory that nobody recorded: reads unlike the unit, another text in the store, and emptied stores."""

from __future__ import annotations

import json
from typing import Any

from attribution.trace.graph import TraceGraph
from attribution.trace.out_of_sight import ChangedRead, changed_elsewhere, changed_reads, emptied
from schema.kinds import DerivationKind, OperationKind, VariableKind
from schema.models import Operation, Variable
from store.contract.protocol import Database
from tests.factory import TraceBuilder


async def _loaded(database: Database, builder: TraceBuilder) -> TraceGraph:
    store = database.project(builder.project)
    await builder.write(store)
    return await TraceGraph.load(store, builder.trace.id)


PLAIN, JSON = "text/plain", "application/json"
SAID = "Mara lives in Leeds."
READS: list[tuple[str, str, dict[str, Any], dict[str, Any], bool]] = [
    (SAID, "Mara lives in York.", {}, {}, True),
    (SAID, SAID, {}, {}, False),
    (SAID, "mara LIVES in leeds", {}, {}, False),
    (SAID, "Mara lives in Leeds, as she said in March.", {}, {}, False),
    (SAID, "Leeds", {}, {}, False),
    ("Mara has 3 cats.", "Mara has 4 cats.", {}, {}, False),  # a number alone may be a rank or a score
    ("", "Mara lives in York.", {}, {}, False),
    ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', {"media_type": JSON}, {"media_type": JSON}, False),
    ('{"a": 1, "b": 2}', '{"b": 2, "a": 3}', {"media_type": JSON}, {"media_type": JSON}, True),
    ('{"a": 1}', '{"a": 3}', {"media_type": JSON}, {"media_type": PLAIN}, False),
    ('{"a": 1', '{"a": 3', {"media_type": JSON}, {"media_type": JSON}, True),
    (SAID, "Mara lives in York.", {"kind": VariableKind.MESSAGE}, {}, False),
    (SAID, "Mara lives in York.", {"kind": VariableKind.BUFFER}, {}, True),
    (SAID, "Mara lives in York.", {}, {"how": DerivationKind.DERIVATION}, False),
    (SAID, "Mara lives in York.", {}, {"how": DerivationKind.REVISION}, False),
]


async def test_a_read_with_other_words_than_its_unit_shows_a_change(sqlite_database: Database) -> None:
    builder = TraceBuilder("changed-reads")
    builder.session("talk")
    wanted: list[ChangedRead] = []
    places: list[int] = []
    for number, (before, now, of_unit, of_read, is_changed) in enumerate(READS):
        unit = builder.variable(f"unit {number}", before, builder.operation(f"add {number}"), **of_unit)
        search = builder.operation(f"search {number}", kind=OperationKind.RETRIEVAL)
        how = of_read.pop("how", DerivationKind.READ)
        read = builder.variable(f"unit {number}", now, search, occurrence=1, **of_read)
        builder.derive(read, unit, by=search, kind=how)
        if is_changed:
            wanted.append(ChangedRead(read.id, unit.id))
            places.append(search.sequence)
    graph = await _loaded(sqlite_database, builder)
    assert await changed_reads(graph) == wanted
    assert await changed_reads(graph, places[0]) == wanted[:1]
    assert await changed_reads(graph, places[0] - 1) == []


async def test_another_text_in_the_store_than_this_process_wrote_was_written_elsewhere(
    sqlite_database: Database,
) -> None:
    builder = TraceBuilder("changed-elsewhere")
    builder.session("talk")

    def unit(name: str, text: str, said: Any, by: Operation | None = None, **more: Any) -> Variable:
        return builder.variable(name, text, by, attributes=json.dumps(said), **more)

    at = {"store": "s", "storeId": "1"}
    early = unit("early", "other", at)  # nothing was written before
    unit("old", "one", at, builder.operation("add"))
    new = unit("new", "two", at, builder.operation("change"))
    read = {
        "changed": unit("changed", "three", at),
        "as the old one": unit("as old", "one", at),
        "equal": unit("equal", "two", at),
        "of another id": unit("id", "three", {"store": "s", "storeId": "2"}),
        "of another store": unit("store", "three", {"store": "t", "storeId": "1"}),
        "of no store": unit("none", "three", {"store": "s"}),
        "no object": unit("list", "three", ["storeId"]),
        "a message": unit("message", "three", at, kind=VariableKind.MESSAGE),
    }
    outside = unit("outside", "three", at)
    graph = await _loaded(sqlite_database, builder)
    past = {early.id, new.id, *(one.id for one in read.values())}
    assert outside.id not in past
    assert await changed_elsewhere(graph, past) == [
        ChangedRead(read[name].id, new.id) for name in ("changed", "as the old one")
    ]
    assert await changed_elsewhere(graph, set()) == []


async def test_the_first_search_that_should_have_found_units_shows_an_emptied_store(sqlite_database: Database) -> None:
    builder = TraceBuilder("emptied")
    builder.session("talk")
    question = builder.variable("question", "what?", kind=VariableKind.QUERY)
    other = builder.variable("other", "what else?", kind=VariableKind.QUERY)

    def search(name: str, asked: Variable, found: str = "[]", **said: Any) -> Operation:
        kind = OperationKind.GENERATION if name == "no search" else OperationKind.RETRIEVAL
        made = builder.operation(name, kind=kind, attributes=json.dumps({"store": "s", **said}))
        builder.use(made, asked)
        builder.variable(f"found {name}", found, made, kind=VariableKind.RETRIEVAL_RESULT)
        return made

    search("before any unit", question)
    unit = builder.variable("unit", "tea", builder.operation("add"), attributes='{"store": "s", "storeId": "1"}')
    search("no search", question)
    search("limited", question, threshold=0.5)
    search("found", question, "tea")
    first = search("first", question)
    second = search("second", question)
    for_other = search("other", other)
    graph = await _loaded(sqlite_database, builder)
    end = for_other.sequence + 1
    assert emptied(graph, [question.id], end) == (first.id, [unit.id])
    assert emptied(graph, [other.id], end) == (for_other.id, [unit.id])
    assert emptied(graph, [other.id, question.id], end) == (first.id, [unit.id])
    assert emptied(graph, [question.id], first.sequence + 1) == (first.id, [unit.id])
    assert emptied(graph, [question.id], first.sequence) is None
    assert emptied(graph, [unit.id], end) is None
    assert second.sequence > first.sequence
