"""What an event defines and refers to, which names it may have, and the elements that are known while it is taken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from memtrace.events import Event, EventError, VariableEvent, decode

from ingest.events import reading
from ingest.events.names import EventRefusedError, Known, Names, defined, references
from ingest.events.reading import checked, read
from ingest.events.stored_units import MARK, check, completed, completion, is_mentioned
from ingest.events.values import MOST_REBUILT_BYTES
from schema.ids import make_id, trace_id
from schema.models import Completion
from store.contract.answers import Label, Stored
from tests.factory import TraceBuilder, moment
from tests.queue.sets import event_line

VALUE = {"name": "n", "kind": "Message", "version": 0, "value": "x", "mediaType": "text/plain"}
V, OP, S, D = Label.VARIABLE, Label.OPERATION, Label.SESSION, Label.DERIVATION


def _event(type_: str, **fields: Any) -> Event:
    return decode(event_line(type_, "t", **fields))


EVENTS: list[tuple[Event, tuple[Label, str] | None, list[tuple[Label, str]]]] = [
    (_event("trace", name="n"), None, []),
    (_event("session", session="s"), (S, "s"), []),
    (_event("operationStarted", operation="o", name="n", kind="Other"), (OP, "o"), []),
    (
        _event("operationStarted", operation="o", name="n", kind="Other", session="s", parent="p"),
        (OP, "o"),
        [(S, "s"), (OP, "p")],
    ),
    (_event("operationEnded", operation="o", status="ok"), None, [(OP, "o")]),
    (_event("variable", variable="v", **VALUE), (V, "v"), []),
    (
        _event(
            "variable",
            variable="v",
            **VALUE,
            session="s",
            operation="o",
            revisionOf="r",
            reads="w",
            occurrence=1,
            base={"variable": "b", "kept": 1, "size": 2},
        ),
        (V, "v"),
        [(S, "s"), (OP, "o"), (V, "r"), (V, "w"), (V, "b")],
    ),
    (_event("used", operation="o", variable="v", position=0), None, [(OP, "o"), (V, "v")]),
    (
        _event("considered", operation="o", query="q", variable="v", rank=1, score=0.5, returned=True),
        None,
        [(OP, "o"), (V, "q"), (V, "v")],
    ),
    (
        _event("derived", derivation="d", source="a", target="b", operation="o", kind="Derivation"),
        (D, "d"),
        [(V, "a"), (V, "b"), (OP, "o")],
    ),
    (
        _event("feedback", answer="a", question="q", gold=["g"], evidence=["e", "f"], right=False),
        None,
        [(V, "a"), (V, "q"), (V, "e"), (V, "f")],
    ),
    (_event("invalidated", variable="v", operation="o"), None, [(V, "v"), (OP, "o")]),
]


@pytest.mark.parametrize(("event", "made", "needed"), EVENTS, ids=[type(one[0]).__name__ for one in EVENTS])
def test_an_event_defines_one_element_and_needs_others(
    event: Event, made: tuple[Label, str] | None, needed: list[tuple[Label, str]]
) -> None:
    assert defined(event) == made
    assert references(event) == needed
    ids = Names(trace_id("p", "t")).ids([event])
    named = {(label, id_) for label, of_label in ids.items() for id_ in of_label}
    mine = [*needed, *([made] if made else [])]
    assert named == {(label, make_id(label.value, trace_id("p", "t"), name)) for label, name in mine}


def test_a_name_has_one_id_and_is_listed_once() -> None:
    names = Names(trace_id("p", "t"))
    used = _event("used", operation="o", variable="v", position=0)
    assert names.ids([used, used]) == {OP: [names.id(OP, "o")], V: [names.id(V, "v")]}
    assert names.id(OP, "x") != names.id(V, "x")
    assert names.id(V, "x") == names.id(V, "x") == make_id("Variable", trace_id("p", "t"), "x")
    assert Names(trace_id("p", "u")).id(V, "x") != names.id(V, "x")


def test_known_elements_are_new_changed_or_stored() -> None:
    names, trace = Names(trace_id("p", "t")), TraceBuilder("p", "t")
    stored, other = (trace.variable(name, id=names.id(V, name)) for name in ("stored", "other"))
    known = Known(names, Stored(None, {V: 7, OP: 2}, {V: {stored.id: stored}}))
    assert (known.find(V, "stored"), known.find(V, "other"), known.next[V]) == (stored, None, 7)
    known.add(V, other)
    assert (known.find(V, "other"), known.next[V], known.next[OP]) == (other, 8, 2)
    assert (known.is_new(V, other.id), known.is_new(V, stored.id)) == (True, False)
    again, changed = replace(other, name="again"), replace(stored, name="changed")
    known.change(V, again)
    assert known.new[V] == {again.id: again}
    known.change(V, changed)
    assert known.find(V, "stored") is changed
    assert not known.is_new(V, stored.id)
    with pytest.raises(EventRefusedError) as caught:
        known.get(OP, "o", "parent")
    assert (str(caught.value), caught.value.is_early) == ("parent: there is no operation 'o' in this trace", True)
    assert known.get(V, "stored", "x") is changed
    assert not EventRefusedError("x").is_early


def _unit(**fields: Any) -> VariableEvent:
    event = _event("variable", variable="v", **(VALUE | fields))
    assert isinstance(event, VariableEvent)
    return event


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, None),
        ({"operation": "o"}, None),
        ({"stored": "mentioned"}, None),
        ({"stored": "written", "operation": "o", "revisionOf": "u"}, None),
        (
            {"stored": "mentioned", "operation": "o"},
            "operation: what is only mentioned has none; its maker says stored: written",
        ),
        ({"stored": "written"}, "operation: what is written has one; a reader says stored: mentioned"),
        ({"stored": "mentioned", "revisionOf": "v"}, "revisionOf: a variable is no version of itself"),
    ],
)
def test_a_stored_unit_is_written_or_mentioned(fields: dict[str, Any], problem: str | None) -> None:
    if problem is None:
        check(_unit(**fields))
        return
    with pytest.raises(EventRefusedError) as caught:
        check(_unit(**fields))
    assert str(caught.value) == problem


def test_a_mentioned_variable_is_completed_by_its_maker() -> None:
    trace = TraceBuilder("p")
    step = trace.operation("o")
    before = trace.variable("v", right=True, attributes='{"mentioned":true}')
    made = trace.variable(
        "v",
        by=step,
        version=3,
        category="c",
        location="a.py:7",
        session_id="s",
        revision_of="r",
        attributes='{"a":1}',
        created_at=moment(9),
    )
    assert [is_mentioned(one) for one in (before, made, trace.variable("w"))] == [True, False, False]
    assert MARK == {"mentioned": True}
    after = completed(before, made)
    assert (after.sequence, after.right, after.version, after.operation_id) == (before.sequence, True, 3, step.id)
    expected = Completion(made.id, "s", 3, "c", moment(9), "a.py:7", '{"a":1}', step.id, "r")
    assert completion(made) == expected


def _long(value: str, size: int, **fields: Any) -> bytes:
    return event_line("variable", "t", variable="v", **(VALUE | {"value": value * size} | fields))


def test_a_long_event_is_checked_without_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 1_000)
    monkeypatch.setattr(reading, "MAX_EVENT_BYTES", 5_000)
    event = checked(_long("x", 2_000))
    assert isinstance(event, VariableEvent)
    assert (event.value, event.variable, event.kind) == ("", "v", "Message")
    short = checked(_long("x", 100))
    assert isinstance(short, VariableEvent)
    assert short.value == "x" * 100
    beside = len(_long("x", 0, comment="y" * 2_000)) - 2
    for piece, problem in (
        (_long("x", 6_000), f"{len(_long('x', 6_000)):,} bytes; an event has at most 5,000"),
        (
            _long("x", 2_000, comment="y" * 2_000),
            f"attributes: {beside:,} bytes beside the value; an event has at most 1,000",
        ),
        (_long("x", 2_000)[:-1], "not JSON: Input data was truncated"),
        (_long("x", 2_000).replace(b'"xx', b'[1,"xx', 1).replace(b'xx"', b'xx"]', 1), "value: no text, or no valid"),
        (
            _long("x", 2_000).replace(b"xx", b"\\ud800", 1),
            "value, or a text beside it: no valid Unicode, which can't be ",
        ),
        (
            _long("x", 2_000).replace(b"xx", b"\xff\xff", 1),
            "value: no text, or no valid Unicode, which can't be stored: ",
        ),
    ):
        with pytest.raises(EventError) as caught:
            checked(piece)
        assert str(caught.value).startswith(problem)


def test_a_base_is_checked_on_arrival() -> None:
    base = {"variable": "u", "kept": 1, "size": MOST_REBUILT_BYTES + 1}
    with pytest.raises(EventError) as caught:
        checked(_long("x", 1, base=base))
    assert str(caught.value) == (
        f"base.size: {MOST_REBUILT_BYTES + 1} bytes; a value is rebuilt up to {MOST_REBUILT_BYTES}"
    )


def test_lines_of_the_queue_are_read_one_by_one() -> None:
    good, bad, odd = _long("x", 3), b"{}", _long("x", 3).replace(b'"xxx"', b'"\\ud83d\\ude00"')
    one, two, three = read([good, bad, odd])
    assert isinstance(one, VariableEvent)
    assert one.value == "xxx"
    assert isinstance(two, EventError)
    assert isinstance(three, VariableEvent)
    assert three.value == "\N{GRINNING FACE}"
    assert read([]) == []
