"""The JSON of `memtrace annotate`: public names, in camel case."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec

from attribution.review.annotation.agreement import QueueAgreement
from attribution.review.annotation.disputes import Dispute
from attribution.review.annotation.queues import QueueProgress
from schema.annotation import AnnotationQueue, Assignment
from schema.models import as_json, camel_case, format_time

Document = dict[str, Any]


def queue(found: AnnotationQueue, how_far: QueueProgress) -> Document:
    """A queue with its progress."""
    progress = asdict(how_far)
    return {
        "id": found.id,
        "projectId": found.project_id,
        "name": found.name,
        "ordering": found.ordering.value,
        "seed": found.seed,
        "annotators": found.annotators,
        "people": list(found.people),
        "reservationSeconds": found.reservation_seconds,
        "createdAt": format_time(found.created_at),
        "createdBy": found.created_by,
        "closedAt": None if found.closed_at is None else format_time(found.closed_at),
        "closedBy": found.closed_by,
        "progress": _named(progress) | {"people": [_named(one) for one in progress["people"]]},
    }


QUEUE_COLUMNS = (
    *("id", "projectId", "name", "ordering", "seed", "annotators", "people", "reservationSeconds"),
    *("createdAt", "createdBy", "closedAt", "closedBy", "progress"),
)
"""The members of ``queue``, in order."""


def agreement(found: QueueAgreement) -> Document:
    """How far the annotators of a queue agree."""
    agreed = asdict(found)
    return _named(agreed) | {"pairs": [_named(one) for one in agreed["pairs"]]}


def assignment(found: Assignment) -> Document:
    """A person and a case."""
    return {
        "queueId": found.queue_id,
        "failureId": found.failure_id,
        "person": found.person,
        "progress": found.progress.value,
        "reservedUntil": None if found.reserved_until is None else format_time(found.reserved_until),
        "attributionId": found.attribution_id,
        "draft": None if found.draft is None else msgspec.json.decode(found.draft),
    }


def dispute(found: Dispute) -> Document:
    """A disputed case: all verdicts of annotators, without names."""
    return {
        "failureId": found.failure.id,
        "question": found.failure.question,
        "prediction": found.failure.prediction,
        "sides": [
            {
                "name": one.name,
                "errorType": one.verdict.error_type,
                "operationId": one.verdict.operation_id,
                "reason": one.verdict.reason,
                "confidence": one.verdict.confidence,
                "candidates": msgspec.json.decode(one.verdict.candidates),
                "evidence": msgspec.json.decode(one.verdict.evidence),
            }
            for one in found.sides
        ],
        "adjudicated": None if found.adjudicated is None else as_json(found.adjudicated),
    }


def _named(fields: Document) -> Document:
    return {camel_case(name): value for name, value in fields.items()}
