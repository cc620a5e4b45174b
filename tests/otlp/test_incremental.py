"""Linking costs what the new part of a trace costs, and many edges go through the queue like other work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest_asyncio
from memtrace.events import decode

from ingest.otlp import admission
from ingest.otlp.contained import contained
from ingest.otlp.known_spans import MOST_SPANS, KnownSpans, SpanMemory, newest_texts
from ingest.otlp.linking import Linker
from ingest.otlp.media_types import PROTOBUF
from ingest.otlp.names import INPUT, OUTPUT
from ingest.otlp.rules import EQUAL, Node
from ingest.queue.packets import pack
from ingest.queue.protocol import Delivery, Packet, Settlement
from ingest.queue.write_packets import Waiting, WaitingBudget
from ingest.queue.writing import Slots, write
from schema.ids import trace_id
from schema.models import Derivation
from store.contract.protocol import Database, GraphStore
from store.open import open_database
from store.shared.paging import elements
from tests.factory import TraceBuilder
from tests.otlp.spans import Sent, chat, memory, protobuf
from tests.queue.sets import event_line

_PART = 30
_KEYS = count()


@pytest_asyncio.fixture
async def place(tmp_path: Path) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path / 'store.db'}") as found:
        yield found


class _Counting:
    """A store that counts the calls and the elements that come back."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self.calls = self.rows = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found):
            return found

        async def counted(*args: Any, **kwargs: Any) -> Any:
            answer = await found(*args, **kwargs)
            self.calls += 1
            if name == "stored":
                self.rows += sum(map(len, answer.elements.values()))
            elif name == "page":
                self.rows += len(answer.items)
            elif name in {"get", "operations", "values", "named"}:
                self.rows += len(answer)
            return answer

        return counted


def _deliveries(spans: list[Sent], project: str = "p") -> list[Delivery]:
    lines = admission.read(project, protobuf(spans), PROTOBUF, 100_000).pieces
    return [_delivery(packet) for packet, _ in pack(project, [(line, decode(line)) for line in lines])]


def _delivery(packet: Packet) -> Delivery:
    return Delivery(packet, 1, datetime.now(UTC), next(_KEYS))


async def _write(place: Database, deliveries: list[Delivery], linker: Linker) -> Settlement:
    return await write(place, deliveries, 3, Slots(1), Waiting(WaitingBudget()), linker)


def _part(number: int, text: str = "") -> list[Sent]:
    """Spans of the same OpenTelemetry trace as those of the other parts."""
    first = number * _PART
    return [
        Sent(f"s{one}", "chat", one * 10, one * 10 + 5, chat([("user", text or f"q{one}")], text or f"answer {one}"))
        for one in range(first, first + _PART)
    ]


async def test_a_later_part_of_a_trace_reads_no_more_than_an_earlier_one(place: Database) -> None:
    store = _Counting(place.project("p"))
    linker, costs = Linker(), list[tuple[int, int]]()
    for number in range(8):
        deliveries = _deliveries(_part(number))
        await _write(place, deliveries, Linker(SpanMemory(0)))
        lines = admission.read("p", protobuf(_part(number)), PROTOBUF, 100_000).pieces
        store.calls = store.rows = 0
        await linker.link(cast("GraphStore", store), [decode(line) for line in lines])
        costs.append((store.calls, store.rows))
    assert len(set(costs)) == 1
    assert costs[0][1] <= 5 * _PART


async def test_edges_to_spans_that_are_only_remembered_are_found(place: Database) -> None:
    """The second request's prompt contains a text that only the first request has."""
    said = "Rex is a dog that likes long walks"
    first = Sent("a", "chat", 0, 5, chat([("user", "who is Rex?")], said), resource={"memtrace.trace": "t"})
    second = Sent("b", "chat", 10, 15, chat([("user", said)], "I see"), resource={"memtrace.trace": "t"})
    for linker in (Linker(), Linker(SpanMemory(0))):  # the second one forgets everything at once
        project = f"p{id(linker)}"
        for span in (first, second):
            assert (await _write(place, _deliveries([span], project), linker)).dead == []
        store = place.project(project)
        edges = [one for one in await elements(store, Derivation, trace_id(project, "t")) if one.comment == EQUAL]
        assert len(edges) == 1


async def test_what_is_remembered_of_a_deleted_trace_is_not_compared_with_what_comes_under_its_name(
    place: Database,
) -> None:
    said = "Rex is a dog that likes long walks"
    resource: dict[str, Any] = {"resource": {"memtrace.trace": "t"}}
    old = [Sent(f"old{one}", "chat", one, one + 1, chat([("user", f"q{one}")], said), **resource) for one in range(3)]
    store, trace, linker = place.project("p"), trace_id("p", "t"), Linker()
    await _write(place, _deliveries(old), linker)
    await store.delete_trace(trace)
    # Another worker has written the first span of the new trace.
    await _write(place, _deliveries([Sent("a", "chat", 10, 15, chat([("user", "who?")], said), **resource)]), Linker())
    later = Sent("b", "chat", 20, 25, chat([("user", said)], "I see"), **resource)
    settled = await _write(place, _deliveries([later]), linker)
    assert (settled.dead, settled.later, settled.found) == ([], [], [])
    edges = [one for one in await elements(store, Derivation, trace) if one.comment == EQUAL]
    assert len(edges) == 1


async def test_many_edges_come_as_packets_of_their_own(place: Database) -> None:
    """One request of equal texts has more edges than events; a turn must not write them all."""
    linker = Linker()
    settlement = await _write(place, _deliveries(_part(0, "the same text in all of them")), linker)
    trace = _part(0)[0].trace_id.hex()
    store = place.project("p")
    assert [one for one in await elements(store, Derivation, trace_id("p", trace)) if one.comment == EQUAL] == []
    assert sum(packet.count for packet in settlement.found) == 2 * _PART * (
        _PART - 1
    )  # each pair twice: query and prompt
    assert all(packet.is_found and packet.count <= 1_000 for packet in settlement.found)
    written = await _write(place, [_delivery(packet) for packet in settlement.found], linker)
    assert (written.dead, written.later, written.found) == ([], [], [])
    edges = [one for one in await elements(store, Derivation, trace_id("p", trace)) if one.comment == EQUAL]
    assert len(edges) == _PART * (_PART - 1) // 2


async def test_found_edges_that_cannot_be_written_are_no_dead_letters(place: Database) -> None:
    """The trace was deleted in between, for example."""
    line = event_line("used", "t", operation="nobody", variable="nothing", position=0)
    ((packet, _),) = pack("p", [(line, decode(line))])
    found = Packet("p", "t", packet.body, 1, is_found=True)
    settlement = await _write(place, [_delivery(found)], Linker())
    assert (len(settlement.done), settlement.dead, settlement.later) == (1, [], [])
    assert len((await _write(place, [_delivery(packet)], Linker())).later) == 1


async def test_a_unit_beyond_the_remembered_spans_is_found_by_its_id(place: Database) -> None:
    old = Sent("old", "create_memory", 0, 1, memory("create_memory", "u1") | {"gen_ai.memory.store.id": "m"})
    linker = Linker()
    await _write(place, _deliveries([old]), linker)
    known = linker._memory.take("p", old.trace_id.hex())
    assert known is not None
    linker._memory.keep("p", old.trace_id.hex(), KnownSpans(next=known.next, is_whole=False))
    new = Sent("new", "update_memory", 5, 6, memory("update_memory", "u1") | {"gen_ai.memory.store.id": "m"})
    await _write(place, _deliveries([new]), linker)
    (edge,) = await elements(place.project("p"), Derivation, trace_id("p", old.trace_id.hex()))
    assert edge.kind == "Revision"


def test_remembered_spans_are_bounded() -> None:
    spans = SpanMemory(10_000_000)
    known = KnownSpans({f"s{number}": Node(f"s{number}", "t", None) for number in range(MOST_SPANS + 10)})
    spans.keep("p", "t", known)
    assert next(iter(known.nodes)) == "s10"
    assert not known.is_whole
    for number in range(5):
        spans.keep("p", f"t{number}", KnownSpans(dict(known.nodes)))
    assert spans.take("p", "t") is None
    assert spans.take("p", "t4") is not None
    spans.keep("p", "u", KnownSpans())
    spans.forget(lambda project_id, trace: (project_id, trace) == ("p", "u"))
    assert spans.take("p", "u") is None


def test_of_the_long_texts_of_a_trace_the_newest_are_read() -> None:
    trace = TraceBuilder("p")
    span = f"{'a' * 32}-{'b' * 16}"
    some = [trace.variable(f"{span}/{OUTPUT}/{number}", "x" * 3000) for number in range(4)]
    some.append(trace.variable("of no span", "x" * 3000))
    some.append(trace.variable(f"{span}/{INPUT}/0", "short"))
    assert newest_texts(some, 8_999) == [some[3], some[2]]
    assert newest_texts(some, 6_000) == [some[3], some[2]]
    assert newest_texts(some, 5_999) == [some[3]]


def test_texts_in_texts_are_found_the_same_way_for_few_and_for_many() -> None:
    texts = [f"text number {number} that is long enough" for number in range(200)]
    whole = ["before " + text + " after" for text in texts[::3]] + texts[:10] + ["short"]
    expected = {(needle, text) for needle in texts for text in whole if needle in text and needle != text}
    assert set(contained(texts, whole, lambda _: True)) == expected
    few = texts[:20]
    assert set(contained(few, whole, lambda _: True)) == {pair for pair in expected if pair[0] in few}
    left = iter([True] * 5 + [False] * 10_000)
    assert len(set(contained(texts, whole, lambda _: next(left)))) < len(expected)
