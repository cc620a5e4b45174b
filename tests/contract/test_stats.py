from __future__ import annotations

from collections import Counter

import pytest

from schema.errors import NotFoundError
from schema.ids import make_id
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from tests.contract.samples import assistant, random_trace
from tests.factory import TraceBuilder


def counted(*traces: TraceBuilder) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    labels = {
        "Trace": len(traces),
        "Session": sum(len(trace.sessions) for trace in traces),
        "Operation": sum(len(trace.operations) for trace in traces),
        "Variable": sum(len(trace.variables) for trace in traces),
        "Derivation": sum(len(trace.derivations) for trace in traces),
        "Failure": sum(len(trace.failures) for trace in traces),
        "Attribution": sum(len(trace.attributions) for trace in traces),
    }
    kinds = {
        "Operation": Counter(operation.kind.value for trace in traces for operation in trace.operations),
        "Variable": Counter(variable.kind.value for trace in traces for variable in trace.variables),
        "Derivation": Counter(derivation.kind.value for trace in traces for derivation in trace.derivations),
    }
    return labels, {label: dict(counter) for label, counter in kinds.items() if counter}


@pytest.mark.each_engine
async def test_counts_by_label_and_kind(store: GraphStore, project: str) -> None:
    first, second = assistant(project), random_trace(project, seed=2)
    await first.write(store)
    await second.write(store)
    for trace_id, traces in ((None, (first, second)), (first.trace.id, (first,)), (second.trace.id, (second,))):
        stats = await store.stats(trace_id)
        assert (stats.labels, stats.kinds) == counted(*traces)


async def test_nothing_is_counted_as_zero(store: GraphStore, project: str) -> None:
    zeros = dict.fromkeys((label.value for label in Label), 0)
    assert ((await store.stats()).labels, (await store.stats()).kinds) == (zeros, {})
    await assistant(project).write(store)
    for absent in (make_id("nothing", "at all"), "", "x"):
        stats = await store.stats(absent)
        assert (stats.labels, stats.kinds) == (zeros, {})


@pytest.mark.values
async def test_bytes_are_those_of_the_database(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    trace.variable("v", "".join(map(str, range(20_000))))
    before = await store.stats()
    await trace.write(store)
    after = await store.stats()
    assert before.value_bytes is not None
    assert after.value_bytes is not None
    assert after.value_bytes > before.value_bytes
    if after.total_bytes is not None:
        assert after.total_bytes == (after.graph_bytes or 0) + after.value_bytes


@pytest.mark.each_engine
async def test_what_does_not_exist_can_not_be_deleted(store: GraphStore, project: str) -> None:
    trace = assistant(project)
    await trace.write(store)
    for absent in (make_id("nothing", "at all"), "", "x", "ünï", trace.variables[0].id, trace.trace.id[:8]):
        with pytest.raises(NotFoundError) as caught:
            await store.delete_trace(absent)
        assert caught.value.reference == absent
    assert (await store.stats()).labels == counted(trace)[0]


@pytest.mark.each_engine
async def test_the_layout_is_up_to_date_and_healthy(database: Database) -> None:
    assert await database.migrate() == []
    health = await database.health()
    assert health.problems == []
    assert health.engine in {"sqlite", "neo4j"}
    assert health.version
    if health.engine == "neo4j":
        assert set(health.details["limits"]) == {
            "db.memory.transaction.max",
            "dbms.memory.transaction.total.max",
            "db.transaction.timeout",
        }
        unlimited = [name for name, value in health.details["limits"].items() if value in {"0B", "0s"}]
        warnings = health.details.get("warnings", [])
        assert [name for name in unlimited if not any(name in said for said in warnings)] == []
        assert len(warnings) == len(unlimited)
