"""Batches that would break a trace are refused, and nothing of them is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from schema.errors import InputError
from schema.ids import make_id
from schema.models import Batch, Invalidation, Usage
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from tests.contract.samples import assistant
from tests.factory import TraceBuilder

pytestmark = pytest.mark.values

ABSENT = make_id("nothing", "at all")


async def assert_refused(store: GraphStore, trace: TraceBuilder, batch: Batch, named: str | None) -> None:
    before = await store.stats()
    with trace.values() as values, pytest.raises(InputError, match=named):
        await store.write(batch, values)
    assert (await store.stats()).labels == before.labels


REFERENCES: list[tuple[str, str]] = [
    ("operations", "session_id"),
    ("variables", "session_id"),
    ("variables", "operation_id"),
    ("variables", "revision_of"),
    ("derivations", "source"),
    ("derivations", "target"),
    ("derivations", "operation_id"),
    ("failures", "question_id"),
    ("failures", "answer_id"),
    ("failures", "expected_id"),
    ("attributions", "failure_id"),
    ("attributions", "operation_id"),
]


@pytest.mark.once
@pytest.mark.parametrize(("name", "field"), REFERENCES)
async def test_a_reference_to_nothing(store: GraphStore, project: str, name: str, field: str) -> None:
    trace = assistant(project)
    batch = trace.batch()
    *others, last = getattr(batch, name)
    changes: dict[str, Any] = {name: [*others, replace(last, **{field: ABSENT})]}
    await assert_refused(store, trace, replace(batch, **changes), ABSENT)


async def test_a_use_of_nothing(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    batch, operation, variable = trace.batch(), trace.operations[0].id, trace.variables[0].id
    for usage in (Usage(operation, ABSENT, None, 9), Usage(ABSENT, variable, None, 9)):
        await assert_refused(store, trace, replace(batch, usages=[usage]), ABSENT)
    for invalidation in (Invalidation(ABSENT, operation), Invalidation(variable, ABSENT)):
        await assert_refused(store, trace, replace(batch, invalidations=[invalidation]), ABSENT)


async def test_evidence_that_cites_nothing(store: GraphStore, project: str) -> None:
    first, second = assistant(project, "first"), assistant(project, "second")
    await first.write(store)
    batch = second.batch()
    own = second.variables[0].id
    for unknown in (ABSENT, first.variables[0].id, "note", "ünï", second.operations[0].id):
        steps = f'[{{"variableId":"{own}"}},{{"variableId":"{unknown}"}}]'
        verdict = replace(second.attributions[0], evidence=steps)
        await assert_refused(store, second, replace(batch, attributions=[verdict]), unknown)
        assert await store.attributions([verdict.failure_id]) == []


async def test_evidence_that_is_no_json(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    for text in ("", "[", "path", '[{"variableId":"x"}'):
        verdict = replace(trace.attributions[0], evidence=text)
        await assert_refused(store, trace, replace(trace.batch(), attributions=[verdict]), "evidence")


@pytest.mark.once
@pytest.mark.parametrize(("name", "field"), REFERENCES)
async def test_a_reference_to_another_trace(store: GraphStore, project: str, name: str, field: str) -> None:
    first, second = assistant(project, "first"), assistant(project, "second")
    await first.write(store)
    batch = second.batch()
    *others, last = getattr(batch, name)
    own = getattr(last, field) or second.operations[0].id
    places = {
        element.id: (kind, place)
        for kind in ("sessions", "operations", "variables", "failures")
        for place, element in enumerate(getattr(batch, kind))
    }
    kind, place = places[own]
    foreign = getattr(first, kind)[place].id
    changes: dict[str, Any] = {name: [*others, replace(last, **{field: foreign})]}
    await assert_refused(store, second, replace(batch, **changes), foreign)


@pytest.mark.once
@pytest.mark.parametrize("name", ["sessions", "operations", "variables", "derivations", "failures", "attributions"])
@pytest.mark.parametrize("field", ["trace_id", "project_id"])
async def test_an_element_of_another_trace_or_project(store: GraphStore, project: str, name: str, field: str) -> None:
    trace = assistant(project)
    batch = trace.batch()
    *others, last = getattr(batch, name)
    changes: dict[str, Any] = {name: [*others, replace(last, **{field: ABSENT})]}
    await assert_refused(store, trace, replace(batch, **changes), None)


async def test_a_batch_of_another_project(store: GraphStore, database: Database, project: str) -> None:
    other = assistant(project + "-other")
    await assert_refused(store, other, other.batch(), "project")
    assert (await database.project(project + "-other").traces()).items == []


async def test_a_large_value_that_did_not_come_along(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    variable = trace.variable("large", "large " * 1000)
    with pytest.raises(InputError, match=variable.value_hash):
        await store.write(trace.batch())
    assert (await store.traces()).items == []
    await trace.write(store)
    trace.variable("large again", "large " * 1000)
    await store.write(trace.batch())
    assert len(await store.get(Label.VARIABLE, [one.id for one in trace.variables])) == 2
