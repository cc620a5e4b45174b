"""Reading elements, failures and the blamed operations from a store."""

from __future__ import annotations

import json
from dataclasses import replace

from attribution.verdicts.failure_columns import failure_rows
from attribution.verdicts.stored import by_id, every_failure, operations_at_fault
from schema.kinds import VariableKind
from schema.models import Operation, Variable
from store.contract.protocol import Database
from tests.factory import TraceBuilder


def _loss(operation_id: str | None) -> dict[str, object]:
    return {
        "piece": "tea", "errorType": None, "operationId": operation_id, "confidence": 0.5, "reason": "", "path": [],
        "reached": False,
    }  # fmt: skip


async def test_operations_at_fault_are_those_blamed_and_those_that_lost_a_piece(sqlite_database: Database) -> None:
    builder = TraceBuilder("at-fault")
    builder.session("talk")
    blamed, lost, other = (builder.operation(name) for name in ("blamed", "lost", "other"))
    question = builder.variable("question", "what?", kind=VariableKind.QUERY)
    failure = builder.failure(question, builder.variable("answer", "that", kind=VariableKind.ANSWER))
    with_both = builder.attribution(
        failure, "flow", operation_id=blamed.id, losses=json.dumps([_loss(lost.id), _loss(None)])
    )
    abstention = replace(with_both, error_type=None, operation_id=None, losses="[]")
    store = sqlite_database.project("at-fault")
    await builder.write(store)
    assert await operations_at_fault(store, [with_both]) == {blamed.id: blamed, lost.id: lost}
    assert await operations_at_fault(store, [replace(with_both, operation_id="gone")]) == {lost.id: lost}
    assert await operations_at_fault(store, [abstention]) == {}
    assert await operations_at_fault(store, []) == {}
    assert await by_id(store, Operation, [other.id, None, "gone", other.id]) == {other.id: other}
    assert await by_id(store, Variable, [other.id]) == {}
    failures = await every_failure(store, None)
    assert [one.id for one in failures] == [failure.id]
    assert await every_failure(store, builder.trace.id) == failures
    assert await every_failure(store, "another trace") == []
    (row,) = await failure_rows(store, failures)
    assert row.operations == {blamed.id: blamed, lost.id: lost}
    assert (row.operation, row.verdict) == (blamed, with_both)
    assert row.question is not None
    assert (row.question.id, row.failure) == (question.id, failures[0])
