"""Whether a batch is of one trace, and what its elements refer to: the same answer from both engines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import msgspec

from schema.errors import InputError
from schema.models import WHOLE_VALUE_BYTES, Attribution, Batch
from store.answers import Label

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
        if {(element.trace_id, element.project_id) for element in elements} <= {(trace.id, project_id)}:
            continue
        for number, element in enumerate(elements):
            if element.trace_id != trace.id or element.project_id != project_id:
                problem = f"belongs to trace {element.trace_id} of project {element.project_id!r}, not to the batch's"
                raise InputError("batch", f"{place}[{number}]", problem)


def references(batch: Batch) -> Iterator[tuple[str, Label, set[Any]]]:
    """What the elements refer to: place in the batch, label and ids (None among them means no reference)."""
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
    yield "endings", Label.OPERATION, {e.operation_id for e in batch.endings}
    yield "placings", Label.VARIABLE, {p.variable_id for p in batch.placings}
    ends = [(f.question_id, f.answer_id, f.expected_id) for f in batch.failures]
    yield "failures", Label.VARIABLE, set(chain.from_iterable(ends))
    yield "attributions", Label.FAILURE, {a.failure_id for a in batch.attributions}
    yield "attributions", Label.OPERATION, {a.operation_id for a in batch.attributions}
    yield "attributions", Label.VARIABLE, set(chain.from_iterable(map(cited, batch.attributions)))


def cited(attribution: Attribution) -> list[str]:
    """The variables that the steps of an attribution's evidence name, once each and in order.

    Raises:
        InputError: the evidence is no JSON.
    """
    try:
        steps = msgspec.json.decode(attribution.evidence)
    except msgspec.DecodeError as error:
        raise InputError("batch", "attributions", f"the evidence of {attribution.id} is no JSON: {error}") from error
    named = (step.get("variableId") for step in steps if isinstance(step, dict)) if isinstance(steps, list) else ()
    return list(dict.fromkeys(id_ for id_ in named if isinstance(id_, str)))


def check_values(batch: Batch, arrived: set[str], stored: set[str]) -> None:
    """Every value that does not stand on its variable whole came with the batch, or is stored.

    Raises:
        InputError: one is in neither.
    """
    for variable in batch.variables:
        value_hash = variable.value_hash
        if variable.size > WHOLE_VALUE_BYTES and value_hash not in arrived and value_hash not in stored:
            problem = f"value {value_hash} of {variable.external_id!r} is neither with the batch nor stored"
            raise InputError("batch", "variables", problem)
