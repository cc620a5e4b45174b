"""Which headers carry the current place, and which place headers name."""

from __future__ import annotations

import json
from urllib.parse import quote

import memtrace
import pytest
from memtrace.context import scope, unsampled
from memtrace.exporters.memory import MemoryExporter
from memtrace.kinds import MAX_ID_CHARACTERS
from memtrace.propagation import MAX_BAGGAGE

OUTER, SPAN = "ab" * 16, "cd" * 8
PARENT = f"00-{OUTER}-{SPAN}-01"


def place(**headers: str) -> tuple[str | None, str | None, str | None] | str | None:
    """Trace, session and operation that headers name; the trace alone if it is not recorded; None without a trace."""
    with memtrace.extract(headers):
        here, left_out = scope.get(), unsampled.get()
    if here is None:
        return left_out
    assert left_out is None
    return here.trace.id, here.session, here.ancestor


def baggage(**said: str) -> str:
    return ",".join(f"memtrace.{name}={value}" for name, value in said.items())


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ({}, None),
        ({"traceparent": PARENT}, (OUTER, None, None)),
        ({"TraceParent": f" {PARENT} "}, (OUTER, None, None)),
        ({"traceparent": f"00-{OUTER}-{SPAN}-00"}, OUTER),
        ({"traceparent": f"00-{OUTER}-{SPAN}-02"}, OUTER),
        ({"traceparent": f"00-{OUTER}-{SPAN}-03"}, (OUTER, None, None)),
        ({"traceparent": f"cc-{OUTER}-{SPAN}-01-more"}, (OUTER, None, None)),
        ({"traceparent": f"ff-{OUTER}-{SPAN}-01"}, None),
        ({"traceparent": f"00-{'0' * 32}-{SPAN}-01"}, None),
        ({"traceparent": f"00-{OUTER}-{'0' * 16}-01"}, None),
        ({"traceparent": f"00-{OUTER.upper()}-{SPAN}-01"}, None),
        ({"traceparent": f"00-{OUTER[:-1]}-{SPAN}-01"}, None),
        ({"baggage": baggage(trace="t")}, ("t", None, None)),
        ({"baggage": baggage(trace="t", session="s", operation="o")}, ("t", "s", "o")),
        ({"baggage": baggage(session="s", operation="o")}, None),
        ({"baggage": baggage(session="s"), "traceparent": PARENT}, (OUTER, "s", None)),
        ({"baggage": baggage(trace="t"), "traceparent": PARENT}, ("t", None, None)),
        ({"baggage": baggage(trace="t"), "traceparent": f"00-{OUTER}-{SPAN}-00"}, "t"),
        ({"baggage": baggage(trace="t"), "traceparent": f"ff-{OUTER}-{SPAN}-00"}, ("t", None, None)),
        ({"baggage": " user=ann , memtrace.trace = a%20b ;p=1 ,"}, ("a b", None, None)),
        ({"baggage": "trace=t"}, None),
        ({"baggage": baggage(trace="")}, None),
        ({"baggage": baggage(trace="x" * MAX_ID_CHARACTERS)}, ("x" * MAX_ID_CHARACTERS, None, None)),
        ({"baggage": baggage(trace="x" * (MAX_ID_CHARACTERS + 1))}, None),
        ({"baggage": f"a={'b' * (MAX_BAGGAGE - 19)},{baggage(trace='t')}"}, ("t", None, None)),
        ({"baggage": f"a={'b' * (MAX_BAGGAGE - 1)},{baggage(trace='t')}"}, None),
    ],
)
def test_headers_name_a_place(recorded: MemoryExporter, headers: dict[str, str], found: object) -> None:
    assert place(**headers) == found
    assert (scope.get(), unsampled.get()) == (None, None)


def test_headers_of_the_caller_are_gone_after_the_block(recorded: MemoryExporter) -> None:
    with memtrace.trace(id="mine"):
        before = memtrace.inject()
        with memtrace.extract({"traceparent": PARENT, "baggage": baggage(trace="theirs")}):
            inside = memtrace.inject()
        assert memtrace.inject() == before
    assert inside["traceparent"][3:35] == OUTER
    assert inside["baggage"] == "memtrace.trace=theirs"
    assert before["traceparent"][3:35] != OUTER


def test_nothing_is_added_where_nothing_is(recorded: MemoryExporter) -> None:
    assert memtrace.inject({"a": "b"}) == {"a": "b"}
    with memtrace.trace(id="t"):
        headers = memtrace.inject()
    assert headers["baggage"] == "memtrace.trace=t"


def test_old_entries_are_replaced_and_others_stay(recorded: MemoryExporter) -> None:
    theirs = {"baggage": f"a=1, {baggage(trace='old', session='old', operation='old')} ,b=2;p"}
    with memtrace.trace(id="t"):
        assert memtrace.inject(theirs)["baggage"] == "memtrace.trace=t,a=1,b=2;p"


def test_the_span_is_the_operation(recorded: MemoryExporter) -> None:
    with memtrace.trace(id="t") as trace:
        outside = memtrace.inject()["traceparent"]
        with memtrace.operation("step"):
            inside = memtrace.inject()
        with memtrace.extract({"baggage": baggage(trace=trace.id, operation="no digits / é")}):
            named = memtrace.inject()
        with memtrace.extract({"baggage": baggage(trace=trace.id, operation="0" * 16)}):
            zeros = memtrace.inject()
    (step,) = recorded.of("operationStarted")
    assert inside["traceparent"].split("-")[2] == step["operation"][:16]
    assert f"memtrace.operation={quote(step['operation'])}" in inside["baggage"]
    spans = [one.split("-")[2] for one in (outside, named["traceparent"], zeros["traceparent"])]
    assert len(set(spans)) == 1
    assert "0" * 16 not in spans
    assert json.dumps(named)


def test_a_caller_that_is_not_recorded_is_told_on(recorded: MemoryExporter) -> None:
    with memtrace.extract({"traceparent": f"00-{OUTER}-{SPAN}-00", "baggage": baggage(trace="t", session="s")}):
        headers = memtrace.inject()
    assert headers["baggage"] == "memtrace.trace=t"
    assert headers["traceparent"].startswith(f"00-{OUTER}-")
    assert headers["traceparent"].endswith("-00")
