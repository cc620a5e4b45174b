"""Converts records (keys, jobs, audit entries, policies, queues, ...) to values of rows, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from schema.annotation import AnnotationQueue, Assignment, CaseOrder, Progress, VerdictChange
from schema.control import ApiKey, AuditEntry, Job, JobKind, JobState, RetentionPolicy, Role
from schema.damage import reading_stored
from schema.errors import ConflictError, InputError
from schema.models import camel_case
from schema.times import from_microseconds, in_utc, to_microseconds
from store.contract.answers import Page

R = TypeVar("R", ApiKey, Job, AuditEntry, RetentionPolicy, VerdictChange, AnnotationQueue, Assignment)

_CURSOR = re.compile(r"(-?\d{1,18}):([\x21-\x7e]{1,100})", re.ASCII)
_AFTER_ALL = datetime.max.replace(tzinfo=UTC)

_TIMES = (
    "created_at",
    "expires_at",
    "revoked_at",
    "last_used_at",
    "started_at",
    "ended_at",
    "lease_until",
    "at",
    "changed_at",
    "due_at",
    "undone_at",
    "closed_at",
    "reserved_until",
)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """A tuple from a list, or from a JSON array as SQLite stores lists."""
    return tuple(json.loads(value) if isinstance(value, str) else value)


_READERS: dict[str, Callable[[Any], Any]] = {
    "role": Role,
    "kind": JobKind,
    "state": JobState,
    "cancel_requested": bool,
    "ordering": CaseOrder,
    "progress": Progress,
    **dict.fromkeys(("people", "failure_ids", "ranks"), _as_tuple),
    **dict.fromkeys(_TIMES, from_microseconds),
}


@dataclass(frozen=True, slots=True)
class Form(Generic[R]):
    """How records of one kind are stored.

    Attributes:
        label: of the nodes in Neo4j.
        model: the class of the records.
        time: the field by which pages are ordered.
        settled: fields that never change after a record was added.
    """

    label: str
    model: type[R]
    time: str
    settled: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Public names of the fields, in order."""
        return [camel_case(item.name) for item in fields(self.model)]

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the fields in SQLite, in order."""
        return tuple("project" if item.name == "project_id" else item.name for item in fields(self.model))

    def values(self, record: R) -> list[Any]:
        """The values in the order of the fields: times as microseconds, lists as JSON, words of closed lists as text.

        Raises:
            InputError: a time is out of range.
        """
        return [
            to_microseconds(value)
            if isinstance(value, datetime)
            else str(value)
            if isinstance(value, StrEnum)
            else json.dumps(value)
            if isinstance(value, tuple)
            else value
            for value in self.natives(record)
        ]

    def natives(self, record: R) -> list[Any]:
        """The values in the order of the fields; times are converted to UTC.

        Raises:
            InputError: a time is out of range.
        """
        found = ((item.name, getattr(record, item.name)) for item in fields(self.model))
        return [
            in_utc(value, self.label, camel_case(name)) if isinstance(value, datetime) else value
            for name, value in found
        ]

    def read(self, values: Iterable[Any]) -> R:
        """A record from its values; the inverse of ``values``."""
        with reading_stored(f"a row of {self.label}"):
            named = zip(fields(self.model), values, strict=True)
            return self.model(
                **{item.name: _READERS[item.name](value) if item.name in _READERS else value for item, value in named}
            )

    def check_project(self, record: R, project_id: str) -> None:
        """Check that a record is of a project.

        Raises:
            InputError: the record is of another project.
        """
        if record.project_id != project_id:
            raise InputError(self.label, record.id, f"belongs to project {record.project_id!r}, not to this one")

    def check_same(self, stored: R, new: R) -> None:
        """Check that a new record and the stored record of the same id agree in the fields that never change.

        Raises:
            ConflictError: another record has the id.
        """
        for name in self.settled:
            if getattr(stored, name) != getattr(new, name):
                raise ConflictError(self.label, new.id, camel_case(name))

    def page(self, records: Sequence[R], first: int) -> Page[R]:
        """The page of the first ``first`` records; a further record means that a next page exists."""
        items = list(records[:first])
        more = f"{to_microseconds(getattr(items[-1], self.time))}:{items[-1].id}" if len(records) > first > 0 else None
        return Page(items, more)


API_KEYS = Form("ApiKey", ApiKey, "created_at", ("project_id", "secret_hash", "role"))
JOBS = Form("Job", Job, "created_at", ("project_id",))
RETENTION_POLICIES = Form("RetentionPolicy", RetentionPolicy, "changed_at", ())
AUDIT_ENTRIES = Form("AuditEntry", AuditEntry, "at", ("project_id",))
QUEUES = Form("AnnotationQueue", AnnotationQueue, "created_at", ("project_id",))
ASSIGNMENTS = Form("Assignment", Assignment, "changed_at", ("project_id",))
VERDICT_CHANGES = Form("VerdictChange", VerdictChange, "changed_at", ("project_id",))


def read_cursor(cursor: str | None) -> tuple[datetime, str]:
    """The time and the id of the last record before a page (newest first).

    Raises:
        InputError: the cursor is not from a list of records.
    """
    if cursor is None:
        return _AFTER_ALL, ""
    found = _CURSOR.fullmatch(cursor)
    moment = None
    if found:
        with suppress(OverflowError):
            moment = from_microseconds(int(found[1]))
    if not found or moment is None:
        raise InputError("cursor", "", f"{cursor[:80]!r} is not a cursor of this list")
    return moment, found[2]


def check_end(state: JobState) -> None:
    """Check the state in which a runner ends a job.

    Raises:
        ValueError: the state is RUNNING.
    """
    if state is JobState.RUNNING:
        raise ValueError("a job that has ended is not running")


def all_states(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts of jobs by state, including the states without any."""
    return {state.value: counts.get(state, 0) for state in JobState}
