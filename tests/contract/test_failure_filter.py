"""Filters and orders of failures give, on each engine, what filtering and sorting in Python gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import cycle, islice, product
from random import Random
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from attribution.verdicts.stored import newest
from schema.errors import InputError
from schema.ids import make_id
from schema.kinds import HUMAN_METHOD, ErrorType, OperationKind, QuestionKind, VariableKind
from schema.models import Attribution, Failure
from store.contract.answers import ALL_FAILURES, FailureFilter, FailureKey, FailureOrder, VerdictGroup
from store.contract.protocol import Database, GraphStore
from store.shared.failure_cursor import cursor_at
from tests.contract.test_pages import all_pages
from tests.factory import TraceBuilder, moment

_TYPES = (ErrorType.EXTRACTION, ErrorType.RETRIEVAL, None)
_TEXTS = ("When did Ärzte play?", "100% of it", "under_score", "İstanbul'da", "ΣΊΣΥΦΟΣ", "plain")


def _traces(project: str) -> list[TraceBuilder]:
    random = Random(5)
    traces = []
    for name in ("one", "two"):
        trace = TraceBuilder(project, name)
        operations = [
            trace.operation("e", kind=OperationKind.EXTRACTION, name="extract"),
            trace.operation("s", kind=OperationKind.RETRIEVAL, name="search"),
            trace.operation("m", kind=OperationKind.UPDATE, name=None, category="merging"),
            trace.operation("u", kind=OperationKind.UPDATE, name=None, category=None),
            # In UTF-16 the second would come first.
            trace.operation("l", name="\ufb00 ligature"),
            trace.operation("f", name="\U0001f600 face"),
        ]
        for number, text in enumerate(islice(cycle(_TEXTS), 12)):
            question = trace.variable(f"question {number}", f"{text} {number}")
            answer = trace.variable(f"answer {number}", f"Answer {number}") if number % 3 else None
            gold = (text.upper(), "other") if number % 4 == 1 else ("gold",)
            created_at = None if number % 5 == 4 else moment(number // 2)
            failure = trace.failure(question, answer, gold_answers=gold, created_at=created_at)
            for method in random.sample(["flow", "llm", "human"], random.randrange(4)):
                kind = random.choice(_TYPES)
                blamed = random.choice(operations) if kind else None
                found = trace.attribution(
                    failure,
                    method,
                    error_type=kind,
                    operation_id=blamed and blamed.id,
                    question_kind=random.choice([QuestionKind.PLAIN, None]),
                    confidence=random.choice([0.0, 0.25, 0.5, 0.75, 1.0, None]),
                )
                if method != HUMAN_METHOD and random.random() < 0.5:
                    _add_newer(trace, failure, found, random)
        traces.append(trace)
    return traces


def _add_newer(trace: TraceBuilder, failure: Failure, found: Attribution, random: Random) -> None:
    """A further verdict by the same method, which replaces the first or stands beside it."""
    kind = random.choice(_TYPES)
    trace.attribution(
        failure,
        found.method,
        id=make_id("newer", found.id),
        error_type=kind,
        operation_id=found.operation_id if kind else None,
        confidence=random.choice([0.0, 0.5, 1.0]),
        model=random.choice([None, None, "small"]),
        author=random.choice([None, None, "a file"]),
        created_at=random.choice([None, found.created_at, moment(1000)]),
        attributes=random.choice(["{}", '{"failed":true}']) if kind is None else "{}",
    )


def _name(trace: TraceBuilder, verdict: Attribution) -> str | None:
    for operation in trace.operations:
        if operation.id == verdict.operation_id:
            return operation.name or operation.category or operation.kind.value
    return None


def _verdicts(trace: TraceBuilder, failure: Failure, wanted: FailureFilter) -> list[Attribution]:
    """The verdicts on a failure to which a filter applies."""
    return [
        one
        for one in _newest(trace, failure)
        if wanted.method in {None, one.method}
        and wanted.error_type in {None, one.error_type}
        and wanted.abstained in {None, one.error_type is None}
        and wanted.question_kind in {None, one.question_kind}
        and wanted.operation in {None, _name(trace, one)}
        and (wanted.min_confidence is None or (one.confidence is not None and one.confidence >= wanted.min_confidence))
        and (wanted.max_confidence is None or (one.confidence is not None and one.confidence <= wanted.max_confidence))
    ]


def _newest(trace: TraceBuilder, failure: Failure) -> list[Attribution]:
    """The verdicts on a failure that no newer one replaced."""
    early = datetime.min.replace(tzinfo=UTC)
    verdicts = [one for one in trace.attributions if one.failure_id == failure.id]
    return newest(sorted(verdicts, key=lambda one: (one.created_at or early, one.id)), failure)


def _matches(trace: TraceBuilder, failure: Failure, wanted: FailureFilter) -> bool:
    verdicts = [one for one in trace.attributions if one.failure_id == failure.id]
    if failure.id in wanted.without:
        return False
    at, since, until = failure.created_at, wanted.since, wanted.until
    if (since and (at is None or at < since)) or (until and (at is None or at >= until)):
        return False
    texts = [failure.question, failure.prediction or "", *failure.gold_answers]
    if wanted.text is not None and not any(wanted.text.lower() in text.lower() for text in texts):
        return False
    if wanted.labelled is not None and any(one.method == "human" for one in verdicts) != wanted.labelled:
        return False
    return not wanted.asks_verdicts or bool(_verdicts(trace, failure, wanted))


def _key(trace: TraceBuilder, failure: Failure, wanted: FailureFilter, order: FailureOrder) -> Any:
    """The sort key of a failure; None where the failure has no such value."""
    if order.by is FailureKey.TIME:
        return failure.created_at
    said: Callable[[Attribution], Any] = {
        FailureKey.CONFIDENCE: lambda one: one.confidence,
        FailureKey.ERROR_TYPE: lambda one: one.error_type,
        FailureKey.OPERATION: lambda one: _name(trace, one),
    }[order.by]
    found = [said(one) for one in _verdicts(trace, failure, wanted) if said(one) is not None]
    return None if not found else max(found) if order.descending else min(found)


def _sorted(traces: list[TraceBuilder], wanted: FailureFilter, order: FailureOrder) -> list[Failure]:
    keyed = [
        (_key(trace, one, wanted, order), one)
        for trace in traces
        for one in trace.failures
        if _matches(trace, one, wanted)
    ]
    placed = sorted(
        (pair for pair in keyed if pair[0] is not None),
        key=lambda pair: (pair[0], pair[1].id),
        reverse=order.descending,
    )
    others = sorted((one for key, one in keyed if key is None), key=lambda one: one.id, reverse=order.descending)
    return [one for _, one in placed] + others


FILTERS = [
    ALL_FAILURES,
    FailureFilter(text="ärzte"),
    FailureFilter(text="ΣΊΣυφ"),
    FailureFilter(text="istanbul"),
    FailureFilter(text="100%"),
    FailureFilter(text="r_s"),
    FailureFilter(text="ANSWER 5"),
    FailureFilter(text="nowhere ' OR 1=1 --"),
    FailureFilter(labelled=True),
    FailureFilter(labelled=False),
    FailureFilter(method="flow"),
    FailureFilter(abstained=True),
    FailureFilter(abstained=False, labelled=False),
    FailureFilter(error_type="RetrievalError"),
    FailureFilter(error_type="RetrievalError", method="flow"),
    FailureFilter(error_type="RetrievalError", operation="extract"),
    FailureFilter(operation="merging"),
    FailureFilter(operation="Update"),
    FailureFilter(operation="search", method="human", text="plain"),
    FailureFilter(question_kind="plain", error_type="ExtractionError"),
    FailureFilter(method="nobody"),
    FailureFilter(min_confidence=0.0),
    FailureFilter(min_confidence=0.5),
    FailureFilter(max_confidence=0.25),
    FailureFilter(min_confidence=0.25, max_confidence=0.5),
    FailureFilter(min_confidence=0.75, method="flow", error_type="RetrievalError"),
    FailureFilter(max_confidence=0.0, labelled=False),
    FailureFilter(since=moment(2)),
    FailureFilter(until=moment(3)),
    FailureFilter(since=moment(1), until=moment(4), abstained=False),
]
ORDERS = [FailureOrder(by, descending) for by in FailureKey for descending in (False, True)]


@pytest_asyncio.fixture(scope="module")
async def shared(database: Database) -> GraphStore:
    """A project that the tests of this module share: they only read."""
    return database.project(f"test-{uuid4().hex}")


@pytest_asyncio.fixture(scope="module")
async def traces(shared: GraphStore) -> list[TraceBuilder]:
    made = _traces(shared.project_id)
    for trace in made:
        await trace.write(shared)
    return made


@pytest.mark.parametrize("wanted", FILTERS, ids=range(len(FILTERS)))
async def test_a_filter_gives_what_a_look_at_each_gives(
    shared: GraphStore, traces: list[TraceBuilder], wanted: FailureFilter
) -> None:
    expected = sorted(
        (one for trace in traces for one in trace.failures if _matches(trace, one, wanted)),
        key=lambda one: (one.trace_id, one.id),
    )
    for first in (2, 100):
        assert await all_pages(lambda after, n=first: shared.failures(None, n, after, wanted), first) == expected  # type: ignore[misc]
    assert await shared.count_failures(None, wanted) == len(expected)
    out = frozenset(one.id for one in expected[::2]) | {"nobody's"}
    assert await shared.count_failures(None, replace(wanted, without=out)) == len(expected) // 2
    for trace in traces:
        id_ = trace.trace.id
        of_trace = [one for one in expected if one.trace_id == id_]
        assert await shared.count_failures(id_, wanted) == len(of_trace)
        assert await all_pages(lambda after, of=id_: shared.failures(of, 3, after, wanted), 3) == of_trace  # type: ignore[misc]
    for absent in (make_id("nothing", "at all"), "zzz", ""):
        assert (await shared.failures(absent, 3, None, wanted)).items == []


def test_the_filters_tell_failures_apart(project: str) -> None:
    """Else the test above proves nothing."""
    made = _traces(project)
    sizes = {sum(_matches(t, one, wanted) for t in made for one in t.failures) for wanted in FILTERS}
    assert len(sizes) >= 8


@pytest.mark.parametrize(
    "order",
    [pytest.param(one, marks=pytest.mark.each_engine if one is ORDERS[-1] else ()) for one in ORDERS],
    ids=lambda order: f"{order.by}-{'down' if order.descending else 'up'}",
)
async def test_an_order_holds_over_all_pages(
    shared: GraphStore, traces: list[TraceBuilder], order: FailureOrder
) -> None:
    some = tuple(FILTERS[place] for place in (0, 1, 9, 10, 12, 13, 16, 24, -1))
    without = frozenset(one.id for one in traces[0].failures[::2]) | {"nobody's"}
    for wanted in (*some, FailureFilter(without=without), FailureFilter(method="flow", without=without)):
        expected = _sorted(traces, wanted, order)
        for first in (2, 100):
            found = await all_pages(
                lambda after, n=first, w=wanted: shared.failures(None, n, after, w, order),  # type: ignore[misc]
                first,
            )
            assert found == expected, wanted
        for trace in traces:
            of_trace = (await shared.failures(trace.trace.id, 100, None, wanted, order)).items
            assert of_trace == _sorted([trace], wanted, order)
    assert (await shared.failures("zzz", 3, None, ALL_FAILURES, order)).items == []


def test_the_orders_tell_failures_apart(project: str) -> None:
    made = _traces(project)
    assert len({tuple(one.id for one in _sorted(made, ALL_FAILURES, order)) for order in ORDERS}) == len(ORDERS)


async def test_a_cursor_is_of_one_order(shared: GraphStore, traces: list[TraceBuilder]) -> None:
    cursors = {order: (await shared.failures(None, 2, None, ALL_FAILURES, order)).next for order in ORDERS}
    unsorted = (await shared.failures(None, 2)).next
    id_ = traces[0].failures[0].id
    made_up = (
        "",
        "[]",
        "{",
        f'["time",false,"now","{id_}"]',
        f'["time",false,true,"{id_}"]',
        f'["time",false,{10**30},"{id_}"]',
        f'["time",false,0,"{id_.upper()}x"]',
        f'["confidence",false,"0.5","{id_}"]',
        f'["errorType",false,1,"{id_}"]',
        f'["operation",false,[],"{id_}"]',
        f'["operation",false,"\\ud800","{id_}"]',
    )
    for order in ORDERS:
        for cursor in (*(one for of, one in cursors.items() if of != order), unsorted, *made_up):
            with pytest.raises(InputError, match="cursor"):
                await shared.failures(None, 2, cursor, ALL_FAILURES, order)
    with pytest.raises(InputError, match="cursor"):
        await shared.failures(None, 2, cursors[ORDERS[0]])


@pytest.mark.each_engine
async def test_groups_count_failures_by_what_their_verdicts_say(shared: GraphStore, traces: list[TraceBuilder]) -> None:
    for trace_id, shown in ((None, traces), (traces[0].trace.id, traces[:1])):
        counted = Counter(
            said
            for trace in shown
            for failure in trace.failures
            for said in {(one.method, one.error_type, _name(trace, one)) for one in _newest(trace, failure)}
        )
        found = await shared.verdict_groups(trace_id)
        assert {(g.method, g.error_type, g.operation): g.failures for g in found} == counted
        assert await shared.count_failures(trace_id) == sum(len(trace.failures) for trace in shown)
        assert [g.failures for g in found] == sorted(counted.values(), reverse=True)
    for group in await shared.verdict_groups():
        wanted = FailureFilter(
            method=group.method,
            error_type=group.error_type,
            abstained=group.error_type is None,
            operation=group.operation,
        )
        assert len((await shared.failures(None, 1000, None, wanted)).items) >= group.failures
    assert await shared.verdict_groups(make_id("nothing", "at all")) == []
    assert isinstance(found[0], VerdictGroup)


async def test_names_of_any_length_are_told_apart(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project, "long names")
    names = [f"{'n' * 199}{end}" for end in ("", "z", "za", "zb" * 9000, "y")]
    for place, name in enumerate(names):
        operation = trace.operation(f"o{place}", name=name)
        failure = trace.failure(trace.variable(f"q{place}", f"What is {place}?", kind=VariableKind.QUERY))
        trace.attribution(failure, "flow", operation_id=operation.id)
    await trace.write(store)
    for descending in (False, True):
        order = FailureOrder(FailureKey.OPERATION, descending)
        expected = _sorted([trace], ALL_FAILURES, order)
        for of in (None, trace.trace.id):
            found = await all_pages(
                lambda after, of=of, by=order: store.failures(of, 2, after, ALL_FAILURES, by),  # type: ignore[misc]
                2,
            )
            assert found == expected
    for name, failure in zip(names, trace.failures, strict=True):
        assert (await store.failures(None, 9, None, FailureFilter(operation=name))).items == [failure]


async def test_a_place_far_away_is_a_place(shared: GraphStore, traces: list[TraceBuilder]) -> None:
    """Cursors say a time as a number, also one that is no time of any calendar."""
    for descending, number in product((False, True), (-(10**18), 10**18)):
        order = FailureOrder(FailureKey.TIME, descending)
        cursor = cursor_at(order, number, "0" * 32)
        found = (await shared.failures(None, 100, cursor, ALL_FAILURES, order)).items
        everything = _sorted(traces, ALL_FAILURES, order)
        undated = [one for one in everything if one.created_at is None]
        assert found == (everything if (number > 0) == descending else undated)


_PAIRS: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({}, {}, False),
    ({}, {"error_type": None}, False),
    ({"model": "small"}, {"model": "small"}, False),
    ({"model": "small"}, {"model": "small", "error_type": None}, True),
    ({"model": "small"}, {"model": "large"}, True),
    ({"model": "small"}, {}, True),
    ({"author": "a file"}, {}, True),
    ({}, {"method": "walk"}, True),
    ({}, {"error_type": None, "attributes": '{"failed":true}'}, True),
    ({"method": HUMAN_METHOD}, {"method": HUMAN_METHOD}, True),
    ({"created_at": None}, {}, False),
    ({"created_at": moment(9)}, {"created_at": moment(8)}, True),
    ({"created_at": None}, {"created_at": None}, False),
    ({"created_at": moment(9)}, {"created_at": moment(9)}, False),
]
"""What an older and a newer verdict have, and whether the filter still finds the older one."""


@pytest.mark.each_engine
async def test_a_verdict_that_a_newer_one_replaced_does_not_count(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project, "replaced")
    kept: set[str] = set()
    for number, (old, new, is_kept) in enumerate(_PAIRS):
        failure = trace.failure(trace.variable(f"q{number}", f"What is {number}?", kind=VariableKind.QUERY))
        of = {"method": "flow", "error_type": ErrorType.EXTRACTION, "confidence": 0.1}
        trace.attribution(failure, id=f"{number:031x}1", **(of | {"created_at": moment(1)} | old))
        of = {"method": "flow", "error_type": ErrorType.UPDATE, "confidence": 0.9}
        trace.attribution(failure, id=f"{number:031x}2", **(of | {"created_at": moment(2)} | new))
        kept |= {failure.id} if is_kept else set()
    await trace.write(store)
    order = FailureOrder(FailureKey.CONFIDENCE)
    for wanted in (FailureFilter(error_type=ErrorType.EXTRACTION), FailureFilter(max_confidence=0.5)):
        for found in (
            await store.failures(None, 100, None, wanted),
            await store.failures(None, 100, None, wanted, order),
            await store.failures(trace.trace.id, 100, None, wanted, order),
        ):
            assert {one.id for one in found.items} == kept
        assert await store.count_failures(None, wanted) == len(kept)
    found = await store.failures(None, 100, None, ALL_FAILURES, order)
    assert {one.id for one in found.items[: len(kept)]} == kept
    groups = await store.verdict_groups()
    assert sum(one.failures for one in groups if one.error_type == ErrorType.EXTRACTION) == len(kept)
