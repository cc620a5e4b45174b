"""Loads the cases of a benchmark file into a store, without their labels.

A file of MemTraceBench is a graph with ``data.annotations``, which name the faulty operation of each wrong answer.
``data.controls`` (ours) name questions with right answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from attribution.benchmark.controls import control_failures
from attribution.benchmark.labels import label_of, labels_of
from attribution.review.labels import Label as LabelLine
from attribution.verdicts.stored import by_id, every_failure
from ingest.files.opening import plain_name
from ingest.files.protocol import Progress
from ingest.files.registry import import_path
from ingest.files.smartcomment.failures import ERROR_TYPE_ALIASES, annotations_of
from ingest.files.smartcomment.leftover import KEY
from schema.errors import InputError
from schema.kinds import HUMAN_METHOD, ErrorType
from schema.models import NO_ATTRIBUTES, Batch, Failure, Trace, Variable
from store.contract.protocol import GraphStore


@dataclass(frozen=True, slots=True)
class CaseLabel:
    """The known cause of a failure.

    Attributes:
        accepted: further error types that count as right.
        operation: external id of the decisive operation; None if there is none.
        also: equally good verdicts, each an error type and the external id of an operation.
        kinds: the kinds of the question, if labelled.
    """

    error_type: ErrorType
    operation: str | None
    accepted: frozenset[ErrorType] = frozenset()
    also: frozenset[tuple[ErrorType, str | None]] = frozenset()
    kinds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class BenchCase:
    """A failure, or a right answer presented as a failure, as the method under test sees it.

    Attributes:
        record: the file's own record, with all keys.
        failure: without attributes, because an import keeps labels there.
        label: None for a control, and for a record without labels.
        evidence: external ids of the messages that contain the answer, according to the file.
    """

    graph_path: str
    record: dict[str, Any]
    failure: Failure
    label: CaseLabel | None
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BenchFile:
    """The cases of one file, whose graph is in a store.

    Attributes:
        system: the recorded memory system.
        conversation: the remembered conversation, which other systems may have had, too.
    """

    path: str
    split: str
    annotated: list[BenchCase]
    controls: list[BenchCase]
    system: str
    conversation: str


async def load(store: GraphStore, path: Path, progress: Progress | None = None) -> BenchFile:
    """Import a file, and remove the labels from the store, so that no method can see them.

    Args:
        store: of the file alone, because failures and verdicts of the trace are overwritten.
        path: a graph file, see ``ingest.files.registry.import_path``.
        progress: is called with the progress of the import.

    Raises:
        InputError: the file is malformed, or has neither annotations nor controls.
    """
    report = await import_path(store, path, progress=progress)
    (trace,) = (await by_id(store, Trace, [report.trace_id])).values()
    failures = await every_failure(store, trace.id)
    records = {failure.id: annotations_of(failure) for failure in failures}
    attributes = msgspec.json.decode(trace.attributes)
    controls = attributes.get(KEY, {}).get("data", {}).pop("controls", [])
    if not isinstance(controls, list):
        raise InputError(str(path), "data.controls", "Expected 'array'")
    if not controls and not any(records.values()):
        raise InputError(str(path), "data", "has neither annotations nor controls: it is no benchmark")
    blind = [replace(failure, attributes=NO_ATTRIBUTES) for failure in failures]
    negatives = await control_failures(store, trace.id, controls, str(path))
    await _forget(store, trace, attributes, blind, negatives)
    names = await by_id(store, Variable, (id_ for failure in (*blind, *negatives) for id_ in failure.evidence_ids))
    placed = [(position, record, failure) for failure in blind for position, record in records[failure.id]]
    annotated = [
        _case(path, record, failure, _label(record, f"data.annotations[{position}]", path), names)
        for position, record, failure in sorted(placed, key=lambda item: item[0])
    ]
    return BenchFile(
        str(path),
        _split_of(path),
        annotated,
        [_case(path, record, failure, None, names) for record, failure in zip(controls, negatives, strict=True)],
        *_origin(trace),
    )


async def load_labelled(
    store: GraphStore, path: Path, labels: Sequence[LabelLine], progress: Progress | None = None
) -> BenchFile:
    """Import a file with labels from a separate file; returns the labelled failures.

    Raises:
        InputError: the file is malformed, or a label names an unknown failure.
    """
    report = await import_path(store, path, progress=progress)
    (trace,) = (await by_id(store, Trace, [report.trace_id])).values()
    failures = await every_failure(store, trace.id)
    named = (id_ for one in failures for id_ in (one.question_id, one.answer_id, *one.evidence_ids))
    names = await by_id(store, Variable, named)
    blind = [replace(failure, attributes=NO_ATTRIBUTES) for failure in failures]
    await _forget(store, trace, msgspec.json.decode(trace.attributes), blind, [])
    left = labels_of(labels, {plain_name(path), trace.external_id, trace.id, trace.name or trace.id})
    cases = []
    for failure in blind:
        asked, said = names[failure.question_id].external_id, names.get(failure.answer_id or "")
        known = label_of(left, asked, said.external_id if said else None)
        if known is None:
            continue
        left.pop((known.line.query_id, known.line.prediction_id))
        label = CaseLabel(*known.primary, also=known.also, kinds=known.kinds)
        cases.append(_case(path, known.line.model_dump(mode="json"), failure, label, names))
    # A label that names no trace may belong to another file.
    missing = [one.line.query_id for one in left.values() if one.line.trace is not None]
    if missing:
        raise InputError(str(path), "labels", f"there is no failure with the question and answer of {missing[0]}")
    return BenchFile(str(path), plain_name(path), cases, [], *_origin(trace))


def _origin(trace: Trace) -> tuple[str, str]:
    """The memory system and the conversation of a trace; the trace's name if the source does not say."""
    said = msgspec.json.decode(trace.attributes)
    kept = said.get(KEY, {})
    system = kept.get("project_id") or said.get("program") or trace.source
    return str(system), str(kept.get("user_id") or said.get("user") or trace.external_id)


def _split_of(path: Path) -> str:
    """The part of the data set of a file: the name of its folder."""
    return path.absolute().parent.name


async def _forget(
    store: GraphStore, trace: Trace, attributes: dict[str, Any], failures: list[Failure], negatives: list[Failure]
) -> None:
    """Write the trace and its failures without labels, and remove verdicts by people.

    Controls are written as failures, because a verdict needs a failure.
    """
    known = {failure.id for failure in failures}
    verdicts = await store.attributions([failure.id for failure in failures])
    voided = [
        replace(verdict, error_type=None, operation_id=None, reason=None)
        for verdict in verdicts
        if verdict.method == HUMAN_METHOD
    ]
    unnamed = replace(trace, attributes=msgspec.json.encode(attributes).decode())
    batch = Batch(unnamed, attributions=voided)
    batch.failures.extend(failures)
    batch.failures.extend(failure for failure in negatives if failure.id not in known)
    await store.write(batch)


def _case(
    path: Path, record: dict[str, Any], failure: Failure, label: CaseLabel | None, names: Mapping[str, Variable]
) -> BenchCase:
    evidence = tuple(names[id_].external_id for id_ in failure.evidence_ids if id_ in names)
    return BenchCase(str(path), record, failure, label, evidence)


def _label(record: dict[str, Any], place: str, path: Path) -> CaseLabel | None:
    name = record.get("final_error_type")
    if name is None:
        return None
    accepted = record.get("accepted_error_types") or []
    if not isinstance(accepted, list):
        raise InputError(str(path), f"{place}.accepted_error_types", "Expected 'array'")
    return CaseLabel(
        _error_type(name),
        record.get("final_op_id"),
        frozenset(_error_types(accepted, f"{place}.accepted_error_types", path)),
    )


def _error_type(name: Any) -> ErrorType:
    return ERROR_TYPE_ALIASES.get(name) or ErrorType(name)


def _error_types(names: Iterable[Any], place: str, path: Path) -> Iterable[ErrorType]:
    for name in names:
        try:
            yield _error_type(name)
        except (ValueError, TypeError) as error:
            raise InputError(str(path), place, f"{name!r} is none of {', '.join(ErrorType)}") from error
