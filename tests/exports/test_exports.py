"""Exports follow the specifications and contain the whole graph; tried with the sample and a large trace."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from memtrace.events import EventError
from prov.identifier import QualifiedName
from prov.model import (
    ProvActivity,
    ProvDerivation,
    ProvDocument,
    ProvElement,
    ProvEntity,
    ProvException,
    ProvGeneration,
    ProvInvalidation,
    ProvRelation,
    ProvUsage,
    ProvWarning,
)

from benchmarks.generator import Shape, batch_of
from ingest.events.reading import read
from ingest.events.taking import take_events
from ingest.exports.registry import EXPORTS
from ingest.files.registry import import_path
from schema.ids import trace_id
from schema.models import Derivation, Operation, Trace, Usage, Variable
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from store.shared.paging import elements
from tests.data import SAMPLE
from tests.exports.lineage_client import checked
from tests.memory_processes import ALICE, ask, forget, tell, update
from tests.otlp.conftest import Takes, takes
from tests.queue.sets import closed_set

__all__ = ["takes"]

LARGE = Shape(traces=1, variables=7_000, width=20)


@dataclass(frozen=True)
class Exported:
    """A stored trace, and its exports by format."""

    store: GraphStore
    trace: Trace
    files: dict[str, bytes]

    async def of(self, model: Any) -> list[Any]:
        found: list[Any] = await elements(self.store, model, self.trace.id)
        return found

    async def used(self) -> list[Usage]:
        return await self.store.usages(self.trace.id)


async def _exported(store: GraphStore, name: str) -> Exported:
    (trace,) = await store.get(Label.TRACE, [trace_id(store.project_id, name)])
    assert isinstance(trace, Trace)
    files = {}
    for form, export in EXPORTS.items():
        out = io.BytesIO()
        await export.write(store, trace, out)
        files[form] = out.getvalue()
    return Exported(store, trace, files)


@pytest_asyncio.fixture(scope="module", params=["sample", pytest.param("large", marks=pytest.mark.full), "memory"])
async def exported(request: pytest.FixtureRequest, sqlite_database: Database) -> Exported:
    """The sample, a trace of 7,000 variables, and a trace of several processes."""
    store = sqlite_database.project(f"test-{uuid4().hex}")
    if request.param == "sample":
        await import_path(store, SAMPLE)
        (only,) = (await store.traces()).items
        return await _exported(store, only.external_id)
    if request.param == "large":
        batch = batch_of(store.project_id, LARGE, 0)
        await store.write(batch)
        return await _exported(store, batch.trace.external_id)
    name, home = ALICE, ("u1", "Lives in Bergen")
    lines = [
        *tell("I moved to Bergen.", home[1]),
        *update("I moved on to Oslo.", home, "Lives in Oslo now"),
        *ask("Where do I live?", [home], "In Bergen.", considered=[("u0", "nobody recorded it")]),
        *forget(("u1", "Lives in Oslo now")),
        *closed_set(ALICE, 30, Random(5)),
    ]
    events = [event for event in read(lines) if not isinstance(event, EventError)]
    assert await take_events(store, events) == []
    return await _exported(store, name)


def _named(id_: Any) -> str:
    return str(id_).removeprefix("memtrace:")


class DamagedError(Exception):
    """An export is no valid PROV document."""


def _read_prov(document: dict[str, Any]) -> ProvDocument:
    """Parse a PROV-JSON document, and check that each relation connects declared elements.

    Raises:
        DamagedError: the document is invalid.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ProvWarning)
            found = ProvDocument.deserialize(content=json.dumps(document), format="json").unified()
    except (ProvException, ProvWarning, AttributeError, KeyError, TypeError) as error:
        raise DamagedError(str(error)) from error
    known = {str(one.identifier) for one in found.get_records(ProvElement)}
    for relation in found.get_records(ProvRelation):
        for name, value in relation.formal_attributes:
            if isinstance(value, QualifiedName) and str(value) not in known:
                raise DamagedError(f"{relation}: {name} {value} is not declared")
    return found


async def test_prov(exported: Exported) -> None:
    """The ``prov`` package reads it, and finds the nodes and edges that are stored."""
    found = _read_prov(json.loads(exported.files["prov-json"]))
    variables, operations = await exported.of(Variable), await exported.of(Operation)
    assert {_named(one.identifier) for one in found.get_records(ProvEntity)} == {one.id for one in variables}
    assert {_named(one.identifier) for one in found.get_records(ProvActivity)} == {one.id for one in operations}
    derived = [
        tuple(_named(value) for _, value in one.formal_attributes[:3]) for one in found.get_records(ProvDerivation)
    ]
    stored = [(one.target, one.source, one.operation_id) for one in await exported.of(Derivation)]
    assert sorted(derived) == sorted(stored)
    made = {tuple(_named(value) for _, value in one.formal_attributes[:2]) for one in found.get_records(ProvGeneration)}
    assert made == {(one.id, one.operation_id) for one in variables if one.operation_id is not None}
    used = [tuple(_named(value) for _, value in one.formal_attributes[:2]) for one in found.get_records(ProvUsage)]
    assert sorted(used) == sorted((one.operation_id, one.variable_id) for one in await exported.used())
    ended = {_named(one.formal_attributes[0][1]) for one in found.get_records(ProvInvalidation)}
    assert ended == {one.variable_id for one in await exported.store.invalidations(exported.trace.id)}


async def test_lineage(exported: Exported) -> None:
    """Each line is an event by the specification's own classes; the runs are the operations."""
    lines = [json.loads(line) for line in exported.files["openlineage"].splitlines()]
    runs: dict[str, list[str]] = {}
    times: dict[str, list[str]] = {}
    columns = 0
    for line in lines:
        event = checked(line)
        assert event.eventType is not None
        runs.setdefault(event.run.runId, []).append(event.eventType.value)
        times.setdefault(event.run.runId, []).append(line["eventTime"])
        for output in line["outputs"]:
            if (facet := output["facets"].get("columnLineage")) is not None:
                columns += len(facet["fields"]["value"]["inputFields"])
    operations = await exported.of(Operation)
    assert len(runs) == len(operations)
    lasted = [one for one in operations if one.started_at and one.ended_at and one.started_at < one.ended_at]
    assert sum(began < ended for began, ended in times.values()) == len(lasted)
    assert all(kinds[0] == "START" and len(kinds) == 2 for kinds in runs.values())
    made = {one.id: one.operation_id for one in await exported.of(Variable)}
    own = [one for one in await exported.of(Derivation) if made[one.target] == one.operation_id]
    assert columns == len(own)


async def test_traces_of_opentelemetry_taken_in_again(exported: Exported, takes: Takes) -> None:
    """The same operations, variables and edges come out, without anything that was refused."""
    takes.anew()
    await takes.take(exported.files["otlp"])
    await takes.written()
    again = await _exported(takes.store, exported.trace.external_id)
    assert await _content(again) == await _content(exported)


async def _content(found: Exported) -> dict[str, Any]:
    """The content of a trace, without ids, which depend on the project."""
    variables = {one.id: one for one in await found.of(Variable)}
    operations = {one.id: one.external_id for one in await found.of(Operation)}
    names = {id_: (one.external_id, one.occurrence, one.value_hash) for id_, one in variables.items()}
    return {
        "operations": sorted(
            (one.external_id, one.name or one.kind, one.kind, one.status, one.category or "", one.comment or "")
            for one in await found.of(Operation)
        ),
        "variables": sorted(
            (
                names[one.id],
                (one.name, one.kind, one.version, one.media_type, one.class_name or "", one.comment or ""),
                operations.get(one.operation_id, ""),
                names.get(one.revision_of, ()),
                str(one.created_at) if one.created_at is None or found.trace.created_at != one.created_at else "",
            )
            for one in variables.values()
        ),
        "derivations": sorted(
            (names[one.source], names[one.target], operations[one.operation_id], one.kind, one.comment or "")
            for one in await found.of(Derivation)
        ),
        "usages": sorted(
            (operations[one.operation_id], names[one.variable_id], one.role or "", one.position, one.score or 0.0)
            for one in await found.used()
        ),
        "invalidations": sorted(
            (names[one.variable_id], operations[one.operation_id])
            for one in await found.store.invalidations(found.trace.id)
        ),
    }


@pytest.mark.parametrize(
    "damage",
    [
        lambda found: found["entity"].pop(next(iter(found["entity"]))),
        lambda found: found["activity"].pop(next(iter(found["activity"]))),
        lambda found: found["prefix"].pop("memtrace"),
        lambda found: next(iter(found["activity"].values())).update({"prov:startTime": "yesterday"}),
        lambda found: next(iter(found["wasDerivedFrom"].values())).update({"prov:usedEntity": "memtrace:nothing"}),
    ],
)
@pytest.mark.parametrize("exported", ["sample"], indirect=True)
async def test_damaged_documents_are_noticed(exported: Exported, damage: Callable[[dict[str, Any]], object]) -> None:
    """Shows that the check of the previous test can fail."""
    document = json.loads(exported.files["prov-json"])
    damage(document)
    with pytest.raises(DamagedError):
        _read_prov(document)


@pytest.mark.parametrize(
    "damage",
    [
        lambda event: event.pop("job"),
        lambda event: event.update(eventType="BEGIN"),
        lambda event: event.update(eventTime="2026-01-01"),
        lambda event: event["run"].update(runId="1"),
        lambda event: event.update(more=1),
        lambda event: event["outputs"][0].pop("namespace"),
        lambda event: event["outputs"][0]["facets"]["version"].update(_schemaURL="https://example.org"),
        lambda event: event["outputs"][0]["facets"]["columnLineage"]["fields"]["value"].pop("inputFields"),
    ],
)
@pytest.mark.parametrize("exported", ["sample"], indirect=True)
async def test_damaged_events_are_noticed(exported: Exported, damage: Callable[[dict[str, Any]], object]) -> None:
    lines = [json.loads(line) for line in exported.files["openlineage"].splitlines()]
    event = next(one for one in lines if any("columnLineage" in output["facets"] for output in one["outputs"][:1]))
    damage(event)
    with pytest.raises((ValueError, TypeError)):
        checked(event)
