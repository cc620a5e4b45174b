"""Attributes: bounded, written as JSON once, and long ones in a thread, so that the event loop goes on."""

from __future__ import annotations

import threading
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from memtrace import events as wire

import ingest.events.attributes
from ingest.events.attributes import MOST_BYTES, Attributes
from ingest.events.elements import Elements
from ingest.events.taking import take_events
from schema.ids import make_id, trace_id
from schema.kinds import OperationKind, Status
from schema.models import Batch, Operation, Trace
from store.contract.answers import Label
from store.contract.protocol import Database
from tests.ingest.test_events import Sender

pytestmark = pytest.mark.one_engine

_TEXT = "x" * 1000


class _Counted:
    """msgspec's JSON functions, counting the bytes that are read and written."""

    def __init__(self) -> None:
        self.bytes = 0

    def encode(self, value: Any) -> bytes:
        made = msgspec.json.encode(value)
        self.bytes += len(made)
        return made

    def decode(self, data: str | bytes, **how: Any) -> Any:
        self.bytes += len(data)
        return msgspec.json.decode(data, **how)


class _Module:
    Raw = msgspec.Raw

    def __init__(self) -> None:
        self.json = _Counted()


async def test_the_attributes_of_a_trace_are_merged_once_a_batch_and_bounded(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = database.project(f"attributes-{uuid4().hex}")
    sender = Sender("t")
    for number in range(1000):
        sender.say("trace", attributes={f"k{number}": _TEXT})
    counting = _Module()
    monkeypatch.setattr(ingest.events.attributes, "msgspec", counting)
    refused = await take_events(store, sender.events)
    monkeypatch.undo()
    # Each event's attributes are written once, and the merged attributes once at the end, not once per event.
    assert counting.json.bytes < 3 * len(_TEXT) * len(sender.events)
    assert [one.index for one in refused] == list(range(len(sender.events)))[-len(refused) :]
    assert refused[0].reason.startswith("attributes: ")
    assert f"{MOST_BYTES:,}" in refused[0].reason
    (trace,) = (await store.traces()).items
    assert MOST_BYTES - 2 * len(_TEXT) < len(trace.attributes) <= MOST_BYTES
    # An existing key may get a new value even without room for new keys; this shorter value makes room for a key.
    sender.say("trace", attributes={"k1": "short"})
    assert await take_events(store, sender.events[-1:]) == []
    assert [one.index for one in await take_events(store, sender.events[500:520])] == list(range(1, 20))
    (trace,) = (await store.traces()).items
    assert msgspec.json.decode(trace.attributes)["k1"] == "short"


@pytest.mark.parametrize("is_stored", [True, False])
async def test_what_an_operation_has_is_bounded_with_its_end(database: Database, is_stored: bool) -> None:
    store = database.project(f"attributes-{uuid4().hex}")
    sender = Sender("t")
    sender.say("operationStarted", operation="o", name="o", kind="Tool", attributes={"a": "x" * (MOST_BYTES - 2000)})
    sender.say("operationEnded", operation="o", status="ok", attributes={"b": "x" * 2000})
    sender.say("operationEnded", operation="o", status="ok", attributes={"b": "x" * 1000})
    if is_stored:
        assert await take_events(store, sender.events[:1]) == []
    refused = await take_events(store, sender.events[1 if is_stored else 0 :])
    assert [one.index for one in refused] == [0 if is_stored else 1]
    operation = await store.resolve("o", Label.OPERATION)
    assert isinstance(operation, Operation)
    assert (operation.status, operation.ended_at) == (Status.OK, sender.events[2].time)
    assert len(operation.attributes) > MOST_BYTES - 1000


async def test_what_an_older_version_let_in_is_never_read_anew(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = database.project(f"attributes-{uuid4().hex}")
    sender = Sender("t")
    for name in ("o", "p"):
        for _ in range(50):
            sender.say("operationEnded", operation=name, status="ok", attributes={"b": 1} if name == "o" else {})
    trace = Trace(trace_id(store.project_id, "t"), store.project_id, "t", None, "memtrace", sender.events[0].time)
    huge = msgspec.json.encode({f"k{number}": _TEXT for number in range(5000)}).decode()
    operations = [
        Operation(
            make_id("Operation", trace.id, name),
            *(trace.project_id, trace.id, None, name, name, OperationKind.TOOL, None, None, Status.RUNNING),
            *(place, trace.created_at, None, None, huge),
        )
        for place, name in enumerate(("o", "p"))
    ]
    await store.write(Batch(trace, operations=operations))
    counting = _Module()
    monkeypatch.setattr(ingest.events.attributes, "msgspec", counting)
    refused = await take_events(store, sender.events)
    monkeypatch.undo()
    assert counting.json.bytes < len(huge)
    # Events of `o` would add to full attributes; the first of `p` adds nothing, the others have another end time.
    assert {one.index for one in refused} == set(range(50)) | set(range(51, 100))
    assert all(f"{len(huge):,} bytes" in one.reason for one in refused[:50])
    found = {one.external_id: one for one in await store.get(Label.OPERATION, [one.id for one in operations])}  # type: ignore[union-attr]
    assert [found[name].status for name in ("o", "p")] == [Status.RUNNING, Status.OK]  # type: ignore[union-attr]
    assert [found[name].attributes for name in ("o", "p")] == [huge, huge]


async def test_elements_are_not_made_where_all_else_waits(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()
    add = Elements.add

    def noted(self: Elements, event: wire.Event) -> None:
        threads.add(threading.get_ident())
        add(self, event)

    monkeypatch.setattr(Elements, "add", noted)
    store = database.project(f"attributes-{uuid4().hex}")
    many, large = Sender("many"), Sender("large")
    for number in range(200):
        many.say("trace", attributes={f"k{number}": 1})
    large.variable("m", "Message", _TEXT * 500)
    for events in (many.events, large.events):
        assert await take_events(store, events) == []
    assert threading.get_ident() not in threads


def test_sizes_are_those_of_the_text() -> None:
    said = Attributes('{"a": 1, "ü": [1, 2]}')
    said.merge({"ü": "ö", "b": {"c": None}})
    assert msgspec.json.decode(said.text()) == {"a": 1, "ü": "ö", "b": {"c": None}}
    full = Attributes("{}")
    full.merge({"k": "x" * (MOST_BYTES - 100)})
    for number in range(9):
        full.merge({"n": number})
    assert len(full.text()) <= MOST_BYTES
