"""Events in an order that puts what is referred to first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from memtrace.events import Derived, Event, OperationStarted, SessionEvent, TraceEvent, Used, VariableEvent
from memtrace.kinds import DerivationKind, OperationKind, VariableKind

from ingest.events.ordering import in_order, order_of

AT = datetime(2026, 1, 1, tzinfo=UTC)

TRACE = TraceEvent(trace="t", time=AT)
SESSION = SessionEvent(trace="t", time=AT, session="s")
STEP = OperationStarted(trace="t", time=AT, operation="o", session="s", name="o", kind=OperationKind.UPDATE)
INNER = OperationStarted(trace="t", time=AT, operation="i", parent="o", name="i", kind=OperationKind.UPDATE)
USED = Used(trace="t", time=AT, operation="o", variable="a", position=0)


def made(name: str, operation: str | None = None) -> VariableEvent:
    said = {"trace": "t", "time": AT, "variable": name, "name": name, "kind": VariableKind.OTHER, "version": 1}
    return VariableEvent.model_validate(said | {"value": "x", "mediaType": "text/plain", "operation": operation})


def derived(target: str, source: str, operation: str = "o") -> Derived:
    return Derived(
        trace="t",
        time=AT,
        derivation=f"{source}>{target}",
        source=source,
        target=target,
        operation=operation,
        kind=DerivationKind.DERIVATION,
    )


@pytest.mark.parametrize(
    ("events", "order"),
    [
        ([], None),
        ([TRACE, SESSION, STEP, INNER, made("a"), USED, made("b", "o"), derived("b", "a")], None),
        ([STEP, SESSION], [1, 0]),
        ([INNER, STEP, SESSION], [2, 1, 0]),
        ([USED, made("a"), STEP], [1, 2, 0]),
        ([made("b", "o"), STEP], [1, 0]),
        ([STEP, made("b"), made("a"), derived("b", "a")], [0, 2, 1, 3]),
        ([STEP, derived("b", "a"), made("a"), made("b")], [0, 2, 3, 1]),
        ([STEP, made("a"), derived("a", "a")], None),
        ([derived("b", "a"), STEP], [1, 0]),
        ([USED, made("a"), made("a")], [1, 0, 2]),
        ([TRACE, made("b"), made("a"), derived("b", "a", "x"), derived("a", "b", "x"), STEP], [0, 5, 1, 2, 3, 4]),
    ],
)
def test_references_come_first(events: list[Event], order: list[int] | None) -> None:
    assert in_order(events) == order


def test_events_with_increasing_times_are_taken_as_they_come() -> None:
    later = STEP.model_copy(update={"time": AT + timedelta(seconds=1)})
    assert order_of([INNER, later, SESSION]) == [2, 1, 0]
    assert order_of([INNER, later]) is None
    assert order_of([INNER, STEP]) is None
