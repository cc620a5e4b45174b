"""Checks that a batch is of one trace, and finds the references of its elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import msgspec

from schema.errors import InputError
from schema.models import WHOLE_VALUE_BYTES, Attribution, Batch
from store.contract.answers import Label
from store.shared.columns import DECLARED, Codec


def elements_of(batch: Batch) -> dict[Label, Sequence[Any]]:
    """The elements of a batch by label, in the order in which they may refer to each other."""
    return {
        Label.TRACE: [batch.trace],
        Label.SESSION: batch.sessions,
        Label.OPERATION: batch.operations,
        Label.VARIABLE: batch.variables,
        Label.DERIVATION: batch.derivations,
        Label.FAILURE: batch.failures,
        Label.ATTRIBUTION: batch.attributions,
    }


def place_of(label: Label) -> str:
    """The field of ``Batch`` with the elements of a label."""
    return f"{label.lower()}s"


def check_ownership(batch: Batch, project_id: str) -> None:
    """Check that every element belongs to the trace of the batch, and the trace to the project.

    Raises:
        InputError: an element belongs to another trace or project.
    """
    trace = batch.trace
    if trace.project_id != project_id:
        raise InputError("batch", "trace", f"belongs to project {trace.project_id!r}, not to this one")
    for label, elements in elements_of(batch).items():
        if label is Label.TRACE:
            continue
        if {(element.trace_id, element.project_id) for element in elements} <= {(trace.id, project_id)}:
            continue
        for number, element in enumerate(elements):
            if element.trace_id != trace.id or element.project_id != project_id:
                problem = f"belongs to trace {element.trace_id} of project {element.project_id!r}, not to the batch's"
                raise InputError("batch", f"{place_of(label)}[{number}]", problem)


def references(batch: Batch) -> Iterator[tuple[str, Label, set[Any]]]:
    """The references of a batch: field of the batch, label and ids (an id None means no reference)."""
    for label, elements in elements_of(batch).items():
        for column in DECLARED[label].of_codec(Codec.KEY):
            assert column.of is not None
            yield place_of(label), column.of, set(map(column.get, elements))
    yield "usages", Label.OPERATION, {u.operation_id for u in batch.usages}
    yield "usages", Label.VARIABLE, {u.variable_id for u in batch.usages}
    yield "invalidations", Label.OPERATION, {i.operation_id for i in batch.invalidations}
    yield "invalidations", Label.VARIABLE, {i.variable_id for i in batch.invalidations}
    yield "endings", Label.OPERATION, {e.operation_id for e in batch.endings}
    yield "placings", Label.VARIABLE, {p.variable_id for p in batch.placings}
    yield "completions", Label.VARIABLE, {id_ for c in batch.completions for id_ in (c.variable_id, c.revision_of)}
    yield "completions", Label.OPERATION, {c.operation_id for c in batch.completions}
    yield "completions", Label.SESSION, {c.session_id for c in batch.completions}
    yield "rightAnswers", Label.VARIABLE, set(batch.right_answers)
    yield "attributions", Label.OPERATION, {lost["operationId"] for one in batch.attributions for lost in losses(one)}
    yield "attributions", Label.VARIABLE, set(chain.from_iterable(map(cited, batch.attributions)))


def cited(attribution: Attribution) -> list[str]:
    """The ids of the variables that the steps of an attribution's evidence name, in order and without repetition.

    Raises:
        InputError: the evidence is not JSON.
    """
    named = (step.get("variableId") for step in _objects(attribution, "evidence", attribution.evidence))
    return list(dict.fromkeys(id_ for id_ in named if isinstance(id_, str)))


def losses(attribution: Attribution) -> list[dict[str, Any]]:
    """The pieces of an attribution that an operation lost, each with its ``position`` among all pieces.

    Raises:
        InputError: the losses are not JSON.
    """
    told = _objects(attribution, "losses", attribution.losses)
    return [one | {"position": number} for number, one in enumerate(told) if isinstance(one.get("operationId"), str)]


def _objects(attribution: Attribution, name: str, text: str) -> list[dict[str, Any]]:
    """The objects in a JSON list, a field of an attribution."""
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise InputError("batch", "attributions", f"{name} of {attribution.id}: no JSON: {error}") from error
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def check_values(batch: Batch, arrived: set[str], stored: set[str]) -> None:
    """Check that every value that is too long for its variable came with the batch, or is stored.

    Raises:
        InputError: a value is missing.
    """
    for variable in batch.variables:
        value_hash = variable.value_hash
        if variable.size > WHOLE_VALUE_BYTES and value_hash not in arrived and value_hash not in stored:
            problem = f"value {value_hash} of {variable.external_id!r} is neither with the batch nor stored"
            raise InputError("batch", "variables", problem)
