"""Whoever is blind to a case learns nothing of its verdicts by filtering and sorting failures, on each engine.

The pages of a blind annotator are compared before and after others change their verdicts: the failures, the lengths of
pages and the cursors must stay the same.
"""

from __future__ import annotations

from typing import Any

from schema.kinds import ErrorType, OperationKind, QuestionKind, VariableKind
from schema.models import Attribution, Batch, Failure
from store.blind import blind_store
from store.contract.answers import ALL_FAILURES, FailureFilter, FailureOrder
from store.contract.protocol import Database, GraphStore
from tests.contract.annotating import queue_of
from tests.contract.test_failure_filter import ORDERS
from tests.factory import TraceBuilder

_FILTERS = [
    ALL_FAILURES,
    FailureFilter(labelled=True),
    FailureFilter(labelled=False),
    FailureFilter(method="flow"),
    FailureFilter(method="human"),
    FailureFilter(error_type="UpdateError"),
    FailureFilter(error_type="RetrievalError", operation="search"),
    FailureFilter(abstained=True),
    FailureFilter(min_confidence=0.5),
    FailureFilter(min_confidence=0.2, max_confidence=0.4, labelled=True),
]
_ORDERS = (None, ORDERS[0], ORDERS[2], ORDERS[3], ORDERS[4], ORDERS[7])
_SIZES = (1, 100)
_WHOLE = (100,)


def _made(project: str) -> tuple[TraceBuilder, Failure, list[list[Attribution]]]:
    """A trace, the failure in its middle, and verdicts that others may give."""
    trace = TraceBuilder(project, "blind")
    search = trace.operation("s", name="search", kind=OperationKind.RETRIEVAL)
    merge = trace.operation("m", name="merge", kind=OperationKind.UPDATE)
    failures = [trace.failure(trace.variable(f"q{n}", f"What is {n}?", kind=VariableKind.QUERY)) for n in range(5)]
    case = sorted(failures, key=lambda one: one.id)[2]
    kinds = (ErrorType.UPDATE, ErrorType.RETRIEVAL, None, ErrorType.EXTRACTION)
    others = [one for one in failures if one is not case]
    for place, (failure, kind) in enumerate(zip(others, kinds, strict=True)):
        blamed = None if kind is None else (merge if place % 2 else search).id
        trace.attribution(failure, "flow", error_type=kind, operation_id=blamed, confidence=0.2 + 0.2 * place)
    trace.attribution(others[0], "human", error_type=ErrorType.UPDATE, operation_id=merge.id, author="Ben")
    variants: list[dict[str, Any]] = [
        {"error_type": ErrorType.UPDATE, "operation_id": merge.id, "confidence": 0.3},
        {"error_type": ErrorType.RETRIEVAL, "operation_id": search.id, "confidence": 0.99},
        {"error_type": None, "operation_id": None, "confidence": None},
    ]
    said = []
    for place, one in enumerate(variants):
        needs = QuestionKind.PLAIN if place else None
        said.append(
            [
                trace.attribution(case, "flow", question_kind=needs, **one),
                trace.attribution(case, "human", author="Ben", **one),
            ][: 1 + place % 2]
        )
        del trace.attributions[-2:]
    return trace, case, said


async def _pages(
    store: GraphStore, first: int, wanted: FailureFilter, order: FailureOrder | None
) -> list[tuple[list[str], str | None]]:
    """The ids and the cursor of each page."""
    pages = []
    after = None
    while True:
        page = await store.failures(None, first, after, wanted, order)
        pages.append(([one.id for one in page.items], page.next))
        after = page.next
        if after is None:
            return pages


async def _seen(store: GraphStore, sizes: tuple[int, ...] = _SIZES) -> dict[object, Any]:
    """All pages of all filters and orders."""
    return {
        (wanted, order, first): await _pages(store, first, wanted, order)
        for wanted in _FILTERS
        for order in _ORDERS
        for first in sizes
    }


async def test_filters_and_orders_tell_nothing(database: Database, project: str) -> None:
    trace, case, said = _made(project)
    store = database.project(project)
    await trace.write(store)
    await queue_of(database, project, people=("Ada", "Cleo"), failure_ids=(case.id,))
    ada = blind_store(store, database.records(project), "Ada")
    nothing_said, keeper = await _seen(ada), await _seen(store, _WHOLE)
    listed = [id_ for ids, _ in nothing_said[ALL_FAILURES, None, 1] for id_ in ids]
    assert case.id in listed
    assert len(listed) == 5
    for verdicts in said:
        await store.write(Batch(trace=trace.trace, attributions=list(verdicts)))
        assert await _seen(ada) == nothing_said
        changed = await _seen(store, _WHOLE)
        assert changed != keeper
        keeper = changed


async def test_what_is_left_out_makes_no_page_short(database: Database, project: str) -> None:
    trace, case, said = _made(project)
    store = database.project(project)
    await trace.write(store)
    await store.write(Batch(trace=trace.trace, attributions=said[1]))
    await queue_of(database, project, people=("Ada", "Cleo"), failure_ids=(case.id,))
    ada = blind_store(store, database.records(project), "Ada")
    for wanted in _FILTERS[1:]:
        pages = (await _pages(ada, 1, wanted, None)) + (await _pages(ada, 1, wanted, ORDERS[2]))
        assert all(len(ids) == 1 for ids, more in pages if more is not None), wanted
        assert all(case.id not in ids and case.id not in (more or "") for ids, more in pages), wanted
