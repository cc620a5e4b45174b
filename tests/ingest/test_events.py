"""Wire events become an exact graph, however they are cut into calls and however often they come."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memtrace.events import Event, from_object

from ingest.events.taking import take_events
from schema.ids import trace_id
from schema.kinds import DerivationKind, OperationKind, Status, VariableKind
from schema.models import Derivation, Operation, Variable
from store.contract.answers import IN_ORDER, Direction, Label, Stored
from store.contract.protocol import Database, GraphStore

_START = datetime(2026, 1, 1, tzinfo=UTC)


class Sender:
    """Makes events of one trace, a microsecond apart."""

    def __init__(self, trace: str) -> None:
        self.trace = trace
        self.events: list[Event] = []

    def say(self, type_: str, **fields: Any) -> None:
        time = (_START + timedelta(microseconds=len(self.events))).isoformat(timespec="microseconds")
        said = {"v": 1, "type": type_, "trace": self.trace, "time": time.replace("+00:00", "Z"), **fields}
        self.events.append(from_object(said))

    def variable(self, id_: str, kind: str, value: str, **fields: Any) -> None:
        said = {"name": id_.partition("@")[0], "version": 0, "mediaType": "text/plain"} | fields
        self.say("variable", variable=id_, kind=kind, value=value, **said)

    def derived(self, target: str, *sources: str, operation: str, kind: str = "Derivation") -> None:
        for source in sources:
            self.say(
                "derived",
                derivation=f"{target}<{source}",
                source=source,
                target=target,
                operation=operation,
                kind=kind,
            )


def agent(trace: str) -> list[Event]:
    """An agent that extracts a fact, changes it, is asked, retrieves it and answers."""
    sender = Sender(trace)
    sender.say("trace", name="agent", attributes={"user": "mara"})
    sender.say("session", session="s1", name="talk")
    sender.variable("m1", "Message", "I have a dog, Bo.")
    sender.say("operationStarted", operation="extract", session="s1", name="extract", kind="Extraction")
    sender.say("used", operation="extract", variable="m1", position=0)
    sender.variable("unit@0", "MemoryUnit", "dog: Bo", operation="extract", session="s1")
    sender.derived("unit@0", "m1", operation="extract")
    sender.say("operationEnded", operation="extract", status="ok")
    sender.variable("m2", "Message", "Bo is a beagle. " + "Really. " * 500)
    sender.say("operationStarted", operation="update", name="update", kind="Update", parent="extract")
    sender.say("used", operation="update", variable="m2", position=0)
    sender.say("used", operation="update", variable="unit@0", position=1)
    sender.variable("unit@1", "MemoryUnit", "dog: Bo, a beagle", version=1, revisionOf="unit@0", operation="update")
    sender.derived("unit@1", "m2", operation="update")
    sender.derived("unit@1", "unit@0", operation="update", kind="Revision")
    sender.say("operationEnded", operation="update", status="ok", attributes={"model": "m"})
    sender.variable("q", "Query", "What breed is the dog?")
    sender.say("operationStarted", operation="search", name="search", kind="Retrieval")
    sender.say("used", operation="search", variable="q", position=0)
    sender.say("considered", operation="search", query="q", variable="unit@1", rank=0, score=0.9, returned=True)
    sender.say("considered", operation="search", query="q", variable="unit@0", rank=1, score=0.1, returned=False)
    sender.variable("read", "MemoryUnit", "dog: Bo, a beagle", name="unit", version=1, operation="search")
    sender.derived("read", "unit@1", operation="search", kind="Read")
    sender.derived("read", "q", operation="search")
    sender.say("operationEnded", operation="search", status="ok")
    sender.say("operationStarted", operation="answer", name="answer", kind="Generation")
    sender.variable("a", "Answer", "A beagle.", operation="answer")
    sender.derived("a", "read", "q", operation="answer")
    sender.say("operationEnded", operation="answer", status="error", error={"type": "Timeout", "message": "late"})
    sender.say("operationStarted", operation="forget", name="forget", kind="Deletion")
    sender.say("invalidated", variable="unit@1", operation="forget")
    return sender.events


def project_of(database: Database) -> GraphStore:
    return database.project(f"events-{uuid4().hex}")


async def _everything(store: GraphStore, external_id: str) -> dict[str, Any]:
    """The content of a trace, without data that depends on the project's name."""
    trace = trace_id(store.project_id, external_id)
    names: dict[str, str] = {}
    found: dict[str, Any] = {}
    for label in (Label.SESSION, Label.OPERATION, Label.VARIABLE):
        elements: list[Any] = list((await store.page(label, trace)).items)
        names |= {element.id: element.external_id for element in elements}
        found[label] = [
            (e.external_id, e.sequence, e.attributes, getattr(e, "status", None), getattr(e, "ended_at", None))
            for e in elements
        ]
    derivations = (await store.page(Label.DERIVATION, trace)).items
    found[Label.DERIVATION] = [
        (names[d.source], names[d.target], names[d.operation_id], d.kind, d.sequence)
        for d in derivations
        if isinstance(d, Derivation)
    ]
    found["usages"] = sorted(
        (names[u.operation_id], names[u.variable_id], u.role or "", u.position, u.score or 0.0)
        for u in await store.usages(trace)
    )
    found["invalidations"] = [(names[i.variable_id], names[i.operation_id]) for i in await store.invalidations(trace)]
    for operation in found[Label.OPERATION]:
        parent = operation[2]
        found.setdefault("parents", []).append(any(id_ in parent for id_ in names))
    found[Label.OPERATION] = [
        (name, sequence, None if "parentId" in attributes else attributes, status, ended)
        for name, sequence, attributes, status, ended in found[Label.OPERATION]
    ]
    return found


async def test_an_agent(database: Database) -> None:
    store = project_of(database)
    assert await take_events(store, agent("t")) == []
    answer = await store.resolve("a", Label.VARIABLE)
    closure = await store.closure([answer.id])
    assert {v.external_id for v in closure.variables} == {"a", "read", "q", "unit@1", "unit@0", "m1", "m2"}
    assert sum(v.kind is VariableKind.QUERY for v in closure.variables) == 1
    assert [o.kind for o in closure.operations] == [
        OperationKind.EXTRACTION,
        OperationKind.UPDATE,
        OperationKind.RETRIEVAL,
        OperationKind.GENERATION,
    ]
    kinds = {(d.kind) for d in closure.derivations}
    assert kinds == {DerivationKind.DERIVATION, DerivationKind.READ, DerivationKind.REVISION}
    unit = await store.resolve("unit@1", Label.VARIABLE)
    assert isinstance(unit, Variable)
    before = await store.resolve("unit@0", Label.VARIABLE)
    rated = {u.variable_id: (u.role, u.position, u.score) for u in await store.usages(unit.trace_id) if u.score}
    assert rated == {unit.id: ("returned", 0, 0.9), before.id: ("considered", 1, 0.1)}
    assert [v.version for v in await store.versions(unit.id)] == [0, 1, 1]
    forward = await store.closure([unit.id], Direction.FORWARD)
    assert {v.external_id for v in forward.variables} == {"unit@1", "read", "a"}
    message = await store.resolve("m2", Label.VARIABLE)
    assert isinstance(message, Variable)
    assert (await store.value(message)).decode() == "Bo is a beagle. " + "Really. " * 500


async def test_operations_end_or_go_on(database: Database) -> None:
    store = project_of(database)
    events = agent("t")
    middle = next(i for i, e in enumerate(events) if e.type == "operationEnded")
    await take_events(store, events[:middle])
    extract = await store.resolve("extract", Label.OPERATION)
    assert isinstance(extract, Operation)
    assert (extract.status, extract.ended_at) == (Status.RUNNING, None)
    await take_events(store, events[middle:])
    found: list[Any] = list((await store.page(Label.OPERATION, extract.trace_id)).items)
    operations = {operation.external_id: operation for operation in found}
    said = {name: operation.status for name, operation in operations.items()}
    assert said == {"extract": "ok", "update": "ok", "search": "ok", "answer": "error", "forget": "running"}
    assert operations["extract"].ended_at == events[middle].time
    assert "late" in operations["answer"].attributes
    assert extract.id in operations["update"].attributes


async def test_what_is_sent_again_changes_nothing(database: Database) -> None:
    store = project_of(database)
    events = agent("t")
    await take_events(store, events)
    before = await _everything(store, "t")
    assert await take_events(store, events) == []
    for event in events:
        assert await take_events(store, [event]) == []
    assert await _everything(store, "t") == before


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.sets(st.integers(1, 38), max_size=6), again=st.integers(0, 3))
async def test_any_cutting_gives_the_same_graph(database: Database, cuts: set[int], again: int) -> None:
    whole, pieces = project_of(database), project_of(database)
    events = agent("t")
    await take_events(whole, events)
    places = [0, *sorted(cuts), len(events)]
    for start, end in pairwise(places):
        assert await take_events(pieces, events[max(0, start - again) : end]) == []
    assert await _everything(pieces, "t") == await _everything(whole, "t")


async def test_a_bad_event_keeps_nobody_out(database: Database) -> None:
    store = project_of(database)
    sender = Sender("t")
    sender.variable("m", "Message", "hello")
    sender.derived("nothing", "m", operation="nobody")
    sender.say("operationStarted", operation="o", name="o", kind="Tool", session="nowhere")
    sender.say("operationStarted", operation="p", name="p", kind="Tool")
    sender.variable("n", "Message", "hello", operation="p")
    sender.derived("m", "n", operation="p")
    sender.say("used", operation="p", variable="n", position=0)
    sender.derived("n", "m", operation="p")
    refused = await take_events(store, sender.events)
    assert [(one.index, one.is_early) for one in refused] == [(1, True), (2, True), (5, False), (6, False)]
    assert "target: there is no variable 'nothing'" in refused[0].reason
    assert "session: there is no session 'nowhere'" in refused[1].reason
    assert "close a cycle" in refused[2].reason
    assert "made itself" in refused[3].reason
    found = await store.resolve("n", Label.VARIABLE)
    assert len((await store.closure([found.id])).derivations) == 1


async def test_what_came_early_is_taken_later(database: Database) -> None:
    store = project_of(database)
    events = agent("t")
    early = next(i for i, e in enumerate(events) if e.type == "derived")
    (refused,) = await take_events(store, [events[early]])
    assert refused.is_early
    assert await take_events(store, events) == []


async def test_text_that_is_no_unicode_is_refused_alone(database: Database) -> None:
    store = project_of(database)
    sender = Sender("t")
    sender.variable("m", "Message", "good")
    sender.variable("x", "Message", "bad \ud800")
    sender.variable("n", "Message", "good too")
    refused = await take_events(store, sender.events)
    assert [one.index for one in refused] == [1]
    assert "not valid Unicode" in refused[0].reason
    for name in ("m", "n"):
        assert await store.resolve(name, Label.VARIABLE)


async def test_equal_texts_are_never_one_variable_and_traces_stay_apart(database: Database) -> None:
    store = project_of(database)
    first, second = Sender("t1"), Sender("t2")
    for sender in (first, second):
        sender.variable("a", "Message", "the same")
        sender.variable("b", "Message", "the same")
    mixed = [event for pair in zip(first.events, second.events, strict=True) for event in pair]
    assert await take_events(store, mixed) == []
    for name in ("t1", "t2"):
        counts = await store.counts([trace_id(store.project_id, name)])
        assert counts[trace_id(store.project_id, name)]["Variable"] == 2


async def test_what_was_only_read_is_an_occurrence(database: Database) -> None:
    """A read is not a version of the unit, but has the unit's external id."""
    store = project_of(database)
    trace = uuid4().hex
    sender = Sender(trace)
    sender.variable("first", "MemoryUnit", "dog: Bo", name="unit")
    sender.variable("second", "MemoryUnit", "dog: Bo, a beagle", name="unit", version=1, revisionOf="first")
    sender.say("operationStarted", operation="search", name="search", kind="Retrieval")
    for number, what in enumerate(("second", "second", "read 2"), 1):
        more: dict[str, Any] = {"name": "unit", "version": 1, "operation": "search"}
        sender.variable(f"read {number}", "MemoryUnit", "dog", reads=what, occurrence=number, **more)
    assert await take_events(store, sender.events) == []
    second = await store.resolve("second", Label.VARIABLE)
    assert isinstance(second, Variable)
    assert [one.external_id for one in await store.versions(second.id)] == ["first", "second"]
    page = await store.page(Label.VARIABLE, trace_id(store.project_id, trace))
    found = [(one.external_id, one.occurrence) for one in page.items if isinstance(one, Variable)]
    assert found == [("first", 0), ("second", 0), ("second", 1), ("second", 2), ("second", 3)]
    early = Sender(trace)
    early.variable("read", "MemoryUnit", "dog", name="unit", operation="search", reads="third", occurrence=1)
    (refusal,) = await take_events(store, early.events)
    assert refusal.is_early
    assert "reads: there is no variable 'third'" in refusal.reason


async def test_projects_stay_apart(database: Database) -> None:
    one, other = project_of(database), project_of(database)
    await take_events(one, agent("t"))
    (refused,) = await take_events(other, [agent("t")[-1]])
    assert refused.is_early


@pytest.mark.each_engine
async def test_what_is_stored(database: Database) -> None:
    store = project_of(database)
    trace = trace_id(store.project_id, "t")
    for id_ in (trace, "no id"):
        assert await store.stored(id_, {}) == Stored(None, dict.fromkeys(IN_ORDER, 0), {})
    await take_events(store, agent("t"))
    page = await store.page(Label.VARIABLE, trace)
    (listed,) = (await store.traces()).items
    wanted = [variable.id for variable in page.items[:3]]
    found = await store.stored(trace, {Label.VARIABLE: [*wanted, wanted[0], "0" * 32], Label.SESSION: []})
    assert found.trace == listed
    assert found.next == {Label.SESSION: 1, Label.OPERATION: 5, Label.VARIABLE: 7, Label.DERIVATION: 7}
    assert found.elements == {Label.VARIABLE: dict(zip(wanted, page.items, strict=False)), Label.SESSION: {}}
    other = database.project(f"{store.project_id}-other")
    foreign = await other.stored(trace, {Label.VARIABLE: wanted})
    assert (foreign.trace, set(foreign.next.values()), foreign.elements) == (None, {0}, {})


def test_the_kinds_of_the_wire_are_those_of_the_graph() -> None:
    from memtrace import kinds as wire

    assert {kind.value for kind in wire.OperationKind} == {kind.value for kind in OperationKind}
    assert {kind.value for kind in wire.VariableKind} == {kind.value for kind in VariableKind}
    assert {kind.value for kind in wire.DerivationKind} == {kind.value for kind in DerivationKind}
    assert {kind.value for kind in wire.EndStatus} < {status.value for status in Status}


@pytest.mark.parametrize("count", [0, 1])
async def test_nothing_comes_of_nothing(database: Database, count: int) -> None:
    store = project_of(database)
    events = [from_object({"v": 1, "type": "trace", "trace": "t", "time": "2026-01-01T00:00:00.000000Z"})] * count
    assert await take_events(store, events) == []
    assert len((await store.traces()).items) == count
