"""W3C PROV as PROV-JSON (W3C member submission of 24 April 2013): variables are entities, operations activities."""

from __future__ import annotations

from typing import Any, BinaryIO

import msgspec

from ingest.exports.content import Content, content_of
from ingest.exports.turns import in_turn
from schema.kinds import DerivationKind
from schema.models import Operation, Trace, Variable, format_time
from store.contract.protocol import GraphStore

_PREFIX = "memtrace"
_NAMESPACE = "urn:memtrace:"


async def write(store: GraphStore, trace: Trace, out: BinaryIO) -> None:
    """Write a trace as one document. A value over 2 KB is replaced by its beginning, hash and size."""
    content = await content_of(store, trace)
    await in_turn(lambda: out.write(msgspec.json.encode(_document(content))))


def _document(content: Content) -> dict[str, Any]:
    trace = content.trace
    document: dict[str, Any] = {
        "prefix": {_PREFIX: _NAMESPACE, "xsd": "http://www.w3.org/2001/XMLSchema#"},
        "entity": {_name(one.id): _entity(one) for one in content.variables.values()},
        "activity": {_name(one.id): _activity(content, one) for one in content.operations},
        "agent": {
            _name(trace.id): _attributes(trace=trace.external_id, label=trace.name, source=trace.source)
            | {"prov:type": {"$": "prov:SoftwareAgent", "type": "xsd:QName"}}
        },
        "used": {
            f"_:u{usage.operation_id}-{usage.position}-{usage.variable_id}": {
                "prov:activity": _name(usage.operation_id),
                "prov:entity": _name(usage.variable_id),
            }
            | _attributes(role=usage.role, position=usage.position, score=usage.score)
            for uses in content.used.values()
            for usage in uses
        },
        "wasGeneratedBy": {
            f"_:g{variable.id}": {"prov:entity": _name(variable.id), "prov:activity": _name(operation)}
            | {"prov:time": format_time(content.time(variable.created_at))}
            for operation, made in content.made.items()
            if operation is not None
            for variable in made
        },
        "wasDerivedFrom": {
            f"_:d{one.id}": {
                "prov:generatedEntity": _name(one.target),
                "prov:usedEntity": _name(one.source),
                "prov:activity": _name(one.operation_id),
            }
            | _type(one.kind)
            | _attributes(comment=one.comment)
            for derived in content.derived.values()
            for one in derived
        },
        "wasInvalidatedBy": {
            f"_:i{one.variable_id}-{one.operation_id}": {
                "prov:entity": _name(one.variable_id),
                "prov:activity": _name(one.operation_id),
            }
            for ended in content.ended.values()
            for one in ended
        },
        "wasAssociatedWith": {
            f"_:a{one.id}": {"prov:activity": _name(one.id), "prov:agent": _name(trace.id)}
            for one in content.operations
        },
        "specializationOf": _specializations(content),
    }
    return {name: part for name, part in document.items() if part}


def _name(id_: str) -> str:
    return f"{_PREFIX}:{id_}"


def _entity(variable: Variable) -> dict[str, Any]:
    return {"prov:value": variable.value if variable.value is not None else variable.preview} | _attributes(
        id=variable.external_id,
        name=variable.name,
        kind=variable.kind.value,
        version=variable.version,
        occurrence=variable.occurrence,
        valueHash=variable.value_hash,
        size=variable.size,
    )


def _activity(content: Content, operation: Operation) -> dict[str, Any]:
    found = {"prov:startTime": format_time(content.time(operation.started_at))}
    if operation.ended_at is not None:
        found["prov:endTime"] = format_time(operation.ended_at)
    return found | _attributes(
        id=operation.external_id, name=operation.name, kind=operation.kind.value, status=operation.status.value
    )


def _specializations(content: Content) -> dict[str, Any]:
    """A specializationOf for each occurrence: from the occurrence to the recorded variable."""
    recorded = {one.external_id: one.id for one in content.variables.values() if not one.occurrence}
    return {
        f"_:s{one.id}": {
            "prov:specificEntity": _name(one.id),
            "prov:generalEntity": _name(recorded[one.external_id]),
        }
        for one in content.variables.values()
        if one.occurrence and one.external_id in recorded
    }


def _type(kind: DerivationKind) -> dict[str, Any]:
    if kind is DerivationKind.REVISION:
        return {"prov:type": {"$": "prov:Revision", "type": "xsd:QName"}}
    return {}


def _attributes(**found: Any) -> dict[str, Any]:
    return {f"{_PREFIX}:{name}": value for name, value in found.items() if value is not None}
