"""OpenLineage 2-0-2: an operation is a run, a variable is a dataset; one event per line."""

from __future__ import annotations

from typing import Any, BinaryIO
from uuid import UUID

import msgspec

from ingest.exports.content import Content, content_of
from ingest.exports.turns import in_turn
from schema.kinds import STORED, Status
from schema.models import Operation, Trace, Variable, format_time
from store.contract.protocol import GraphStore
from store.runtime.processor_share import ProcessorShare

PRODUCER = "urn:memtrace:export"
_SPEC = "https://openlineage.io/spec"
_RUN_EVENT = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FACETS = {
    "version": "1-0-1/DatasetVersionDatasetFacet",
    "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
    "errorMessage": "1-0-1/ErrorMessageRunFacet",
    "parent": "1-2-0/ParentRunFacet",
}
_STEPS = 50
"""Steps of the processor share per operation; an operation takes some tenths of a millisecond."""

_ENDS = {
    Status.OK: "COMPLETE",
    Status.ERROR: "FAIL",
    Status.CANCELLED: "ABORT",
    Status.RUNNING: "RUNNING",
    Status.UNKNOWN: "OTHER",
}
"""Type of a run's last event, which lists inputs and outputs; ``OTHER`` for a run whose end was not recorded."""


async def write(store: GraphStore, trace: Trace, out: BinaryIO) -> None:
    """Write a trace: for each operation a START event, and an event with inputs and outputs for its end."""
    content = await content_of(store, trace)
    await in_turn(_write, content, out)


def _write(content: Content, out: BinaryIO) -> None:
    share = ProcessorShare()
    for operation in content.operations:
        share.step(_STEPS)
        out.writelines(msgspec.json.encode(event) + b"\n" for event in _events(content, operation))


def _events(content: Content, operation: Operation) -> list[dict[str, Any]]:
    attributes = msgspec.json.decode(operation.attributes)
    run: dict[str, Any] = {"runId": _uuid(operation.id), "facets": {}}
    parent = content.of_id.get(attributes.get("parentId", ""))
    if parent is not None:
        job = _job(content, parent)
        run["facets"]["parent"] = _facet("parent", run={"runId": _uuid(parent.id)}, job=job)
    event = {
        "eventType": "START",
        "eventTime": format_time(content.time(operation.started_at)),
        "run": run,
        "job": _job(content, operation),
        "inputs": [],
        "outputs": [],
        "producer": PRODUCER,
        "schemaURL": _RUN_EVENT,
    }
    last = event | {
        "eventType": _ENDS[operation.status],
        "eventTime": format_time(content.time(operation.ended_at or operation.started_at)),
        "inputs": _inputs(content, operation),
        "outputs": [_output(content, operation, one) for one in content.made.get(operation.id, ())],
    }
    error = attributes.get("error")
    if operation.status is Status.ERROR and isinstance(error, dict):
        message = f"{error.get('type', 'error')}: {error.get('message', '')}"
        facet = _facet("errorMessage", message=message, programmingLanguage="unknown")
        last["run"] = run | {"facets": run["facets"] | {"errorMessage": facet}}
    return [event, last]


def _inputs(content: Content, operation: Operation) -> list[dict[str, Any]]:
    used = dict.fromkeys(usage.variable_id for usage in content.used.get(operation.id, ()))
    return [_dataset(content, content.variables[id_]) for id_ in used]


def _output(content: Content, operation: Operation, variable: Variable) -> dict[str, Any]:
    found = _dataset(content, variable)
    derived = [one for one in content.derived.get(operation.id, ()) if one.target == variable.id]
    if derived:
        sources = [
            {
                "namespace": _namespace(content),
                "name": _dataset_name(content, content.variables[one.source]),
                "field": "value",
            }
            for one in derived
        ]
        found["facets"]["columnLineage"] = _facet("columnLineage", fields={"value": {"inputFields": sources}})
    return found


def _dataset(content: Content, variable: Variable) -> dict[str, Any]:
    return {
        "namespace": _namespace(content),
        "name": _dataset_name(content, variable),
        "facets": {"version": _facet("version", datasetVersion=variable.id)},
    }


def _dataset_name(content: Content, variable: Variable) -> str:
    """One name for all versions of a unit or buffer; any other variable is a dataset by itself."""
    name = variable.name if variable.kind in STORED else variable.external_id
    return f"{content.trace.external_id}/{name}"


def _job(content: Content, operation: Operation) -> dict[str, str]:
    return {"namespace": _namespace(content), "name": operation.name or operation.kind.value}


def _namespace(content: Content) -> str:
    return f"memtrace://{content.trace.project_id}"


def _uuid(id_: str) -> str:
    """An id has 128 bits, as a UUID has (RFC 9562, version 8: as the sender pleases)."""
    number = int(id_, 16) & ~(0xF << 76) & ~(0x3 << 62)
    return str(UUID(int=number | (0x8 << 76) | (0x2 << 62)))


def _facet(name: str, **fields: Any) -> dict[str, Any]:
    file = _FACETS[name]
    url = f"{_SPEC}/facets/{file}.json#/$defs/{file.rpartition('/')[2]}"
    return {"_producer": PRODUCER, "_schemaURL": url} | fields
