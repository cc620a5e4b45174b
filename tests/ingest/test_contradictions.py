"""An event that is sent again changes nothing; an event that contradicts the graph is refused, naming the field."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from memtrace.events import Event, from_object

from ingest.events.taking import take_events
from schema.ids import trace_id
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from tests.ingest.test_events import Sender

pytestmark = pytest.mark.one_engine

LONG = "said again and again, " * 200


def told() -> list[Event]:
    """One event of each type with an id, with all optional fields."""
    sender = Sender("t")
    sender.say("trace", name="agent", attributes={"user": "mara", "n": 1})
    sender.say(
        "session", session="s", name="talk", category="c", comment="x", attributes={"a": [1, {"b": 2.5, "c": 0}]}
    )
    sender.say("session", session="s2")
    sender.say("operationStarted", operation="p", name="p", kind="Tool")
    more = {"session": "s", "parent": "p", "category": "c", "comment": "x", "location": "here"}
    sender.say("operationStarted", operation="o", name="o", kind="Update", attributes={"a": 1, "b": 2}, **more)
    sender.variable("m", "Message", LONG)
    sender.variable("n", "Message", "hi", role="r", session="s", className="C", category="c", comment="x", version=3)
    base = {"variable": "m", "kept": len(LONG), "size": len(LONG) + 1}
    sender.variable("u", "Buffer", "!", operation="o", revisionOf="m", attributes={"k": "v"}, base=base)
    sender.variable("cut", "Buffer", "abc", truncated=True, size=9)
    sender.variable("read", "Message", LONG, operation="o", reads="m", occurrence=2)
    sender.derived("u", "m", operation="o", kind="Revision")
    error = {"type": "Timeout", "message": "late"}
    sender.say("operationEnded", operation="o", status="error", attributes={"b": 3, "c": 4}, error=error)
    return sender.events


CHANGES: dict[str, tuple[int, dict[str, Any], str]] = {
    "trace's name": (0, {"name": "another"}, "name"),
    "session's name": (1, {"name": "another"}, "name"),
    "session's comment": (1, {"comment": "another"}, "comment"),
    "session's attributes": (1, {"attributes": {"a": [1, {"b": 2.5, "c": 1}]}}, "attributes.a"),
    "operation's name": (4, {"name": "another"}, "name"),
    "operation's kind": (4, {"kind": "Tool"}, "kind"),
    "operation's session": (4, {"session": "s2"}, "session"),
    "operation's parent": (3, {"parent": "o"}, "attributes.parentId"),
    "running operation's attributes": (3, {"attributes": {"z": 1}}, "attributes.z"),
    "operation's attributes": (4, {"attributes": {"z": 1}}, "attributes.z"),
    "operation's location": (4, {"location": "there"}, "location"),
    "value": (5, {"value": LONG + "!"}, "value"),
    "short value": (6, {"value": "ho"}, "value"),
    "variable's name": (6, {"name": "another"}, "name"),
    "variable's kind": (6, {"kind": "Answer"}, "kind"),
    "variable's version": (6, {"version": 4}, "version"),
    "variable's class": (6, {"className": "D"}, "className"),
    "variable's role": (6, {"role": "other"}, "attributes.role"),
    "variable's session": (6, {"session": "s2"}, "session"),
    "media type": (6, {"mediaType": "application/json"}, "mediaType"),
    "variable's operation": (7, {"operation": "p"}, "operation"),
    "variable's version before": (7, {"revisionOf": "n"}, "revisionOf"),
    "rebuilt value": (7, {"value": "?"}, "value"),
    "variable's attributes": (7, {"attributes": {"k": "w"}}, "attributes.k"),
    "variable with an attribute less": (7, {"attributes": {}}, "attributes.k"),
    "size it was cut from": (8, {"size": 10}, "attributes.truncatedFrom"),
    "what it reads": (9, {"reads": "n"}, "reads"),
    "occurrence": (9, {"occurrence": 3}, "occurrence"),
    "derivation's source": (10, {"source": "n"}, "source"),
    "derivation's target": (10, {"target": "read"}, "target"),
    "derivation's operation": (10, {"operation": "p"}, "operation"),
    "derivation's kind": (10, {"kind": "Read"}, "kind"),
    "end's status": (11, {"status": "ok"}, "status"),
    "end's attributes": (11, {"attributes": {"b": 2}}, "attributes.b"),
    "end's error": (11, {"error": {"type": "Timeout", "message": "early"}}, "attributes.error"),
}


def changed(event: Event, more: dict[str, Any]) -> Event:
    said = event.model_dump(mode="json", by_alias=True, exclude_none=True)
    return from_object(said | more)


async def _stored(store: GraphStore) -> dict[Label, Any]:
    trace = trace_id(store.project_id, "t")
    labels = (Label.SESSION, Label.OPERATION, Label.VARIABLE, Label.DERIVATION)
    return {label: list((await store.page(label, trace)).items) for label in labels} | {
        Label.TRACE: await store.get(Label.TRACE, [trace])
    }


@pytest.mark.parametrize("is_together", [False, True])
async def test_a_contradiction_is_refused_with_what_differs_and_the_same_again_is_not(
    database: Database, is_together: bool
) -> None:
    store = database.project(f"contradictions-{uuid4().hex}")
    events = told()
    again = [changed(events[index], more) for index, more, _ in CHANGES.values()]
    later = [changed(events[index], {"time": "2027-01-01T00:00:00.000000Z"}) for index in (3, 4, 5, 7, 10, 11)]
    if is_together:
        everything = await take_events(store, [*events, *events, *again, *later])
        assert all(one.index >= 2 * len(events) for one in everything), everything[0]
        refused = {one.index - 2 * len(events): one for one in everything}
    else:
        assert await take_events(store, events) == []
        before = await _stored(store)
        assert await take_events(store, events) == []
        for event in events:
            assert await take_events(store, [event]) == []
        refused = {one.index: one for one in await take_events(store, [*again, *later])}
        assert await _stored(store) == before
    for place, (name, (_, _, field)) in enumerate(CHANGES.items()):
        assert place in refused, name
        assert refused[place].reason.startswith(f"{field}: "), (name, refused[place])
        assert not refused[place].is_early
    for place in range(len(CHANGES), len(CHANGES) + len(later)):
        assert refused[place].reason.startswith("time: contradicts")


async def test_what_may_change_or_is_left_out_contradicts_nothing(database: Database) -> None:
    store = database.project(f"contradictions-{uuid4().hex}")
    events = told()
    assert await take_events(store, events) == []
    later = {"time": (events[0].time + timedelta(days=1)).isoformat(timespec="microseconds").replace("+00:00", "Z")}
    more = [
        changed(events[0], later | {"attributes": {"n": 2, "more": True}}),
        from_object({"v": 1, "type": "trace", "trace": "t", **later}),
        changed(events[1], later),
        from_object({"v": 1, "type": "session", "trace": "t", "session": "s", **later}),
        # The operation's end has changed an attribute from its beginning.
        changed(events[4], {"attributes": {"b": 2, "a": 1}}),
        changed(events[1], {"attributes": {"a": [1, {"c": 0, "b": 2.5}]}}),
    ]
    assert await take_events(store, more) == []
    (trace,) = (await store.traces()).items
    assert (trace.name, trace.attributes) == ("agent", '{"user":"mara","n":2,"more":true}')


async def test_a_trace_gets_its_name_when_it_is_told(database: Database) -> None:
    """A trace may get its name after its other events."""
    store = database.project(f"contradictions-{uuid4().hex}")
    sender = Sender("t")
    sender.variable("m", "Message", "hi")
    sender.say("trace", name="agent")
    sender.say("trace", name="another")
    assert await take_events(store, sender.events[:1]) == []
    assert [one.index for one in await take_events(store, sender.events[1:])] == [1]
    (trace,) = (await store.traces()).items
    assert trace.name == "agent"


async def test_another_source_is_a_contradiction_though_it_came_after_the_target(database: Database) -> None:
    store = database.project(f"contradictions-{uuid4().hex}")
    events = told()
    assert await take_events(store, events) == []
    (refused,) = await take_events(store, [changed(events[10], {"source": "read"})])
    assert refused.reason.startswith("source: contradicts")
