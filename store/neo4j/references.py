"""Whether a batch holds together: its elements are its own, and what they refer to is in it or stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from schema.errors import InputError
from schema.models import Batch
from store.neo4j.read import Reader
from store.protocol import Label

_PLACES = ("sessions", "operations", "variables", "derivations", "failures", "attributions")


def check_ownership(batch: Batch, project_id: str) -> None:
    """Every element belongs to the trace of the batch, and that to the project.

    Raises:
        InputError: one does not.
    """
    trace = batch.trace
    if trace.project_id != project_id:
        raise InputError("batch", "trace", f"belongs to project {trace.project_id!r}, not to this one")
    for place in _PLACES:
        elements: Sequence[Any] = getattr(batch, place)
        for number, element in enumerate(elements):
            if element.trace_id != trace.id or element.project_id != project_id:
                problem = f"belongs to trace {element.trace_id} of project {element.project_id!r}, not to the batch's"
                raise InputError("batch", f"{place}[{number}]", problem)


async def check_references(batch: Batch, unique: Mapping[Label, Mapping[str, Any]], reader: Reader) -> None:
    """What is referred to is in the batch, or in the stored part of the trace.

    An edge to nothing would be lost without a word.

    Raises:
        InputError: something is in neither.
    """
    known: dict[Label, set[Any]] = {}
    for place, label, ids in _references(batch):
        if label not in known:
            known[label] = {None, *unique[label]}
        missing = ids - known[label]
        if not missing:
            continue
        stored: list[Any] = await reader.get(label, [id_ for id_ in missing if id_ is not None])
        known[label].update(element.id for element in stored if element.trace_id == batch.trace.id)
        for id_ in missing - known[label]:
            raise InputError("batch", place, f"refers to {label.lower()} {id_}, which does not exist")


def _references(batch: Batch) -> Iterator[tuple[str, Label, set[Any]]]:
    yield "operations", Label.SESSION, {o.session_id for o in batch.operations}
    yield "variables", Label.SESSION, {v.session_id for v in batch.variables}
    yield "variables", Label.OPERATION, {v.operation_id for v in batch.variables}
    yield "variables", Label.VARIABLE, {v.revision_of for v in batch.variables}
    yield "derivations", Label.VARIABLE, {d.source for d in batch.derivations} | {d.target for d in batch.derivations}
    yield "derivations", Label.OPERATION, {d.operation_id for d in batch.derivations}
    yield "usages", Label.OPERATION, {u.operation_id for u in batch.usages}
    yield "usages", Label.VARIABLE, {u.variable_id for u in batch.usages}
    yield "invalidations", Label.OPERATION, {i.operation_id for i in batch.invalidations}
    yield "invalidations", Label.VARIABLE, {i.variable_id for i in batch.invalidations}
    ends = [(f.question_id, f.answer_id, f.expected_id) for f in batch.failures]
    yield "failures", Label.VARIABLE, set(chain.from_iterable(ends))
    yield "attributions", Label.FAILURE, {a.failure_id for a in batch.attributions}
    yield "attributions", Label.OPERATION, {a.operation_id for a in batch.attributions}
