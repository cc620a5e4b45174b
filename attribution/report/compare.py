"""Two reports side by side: what became rarer, what became more frequent, and which questions it was.

The rates compared are shares of each run's own failures. Questions are the same where their external id and their
text are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from attribution.intervals import difference
from attribution.report.model import Case, Part, ReportData, Scope, Share, Totals
from schema.errors import InputError
from schema.kinds import ErrorType


class Side(Part, frozen=True):
    """One of the two reports."""

    created_at: datetime
    scope: Scope
    totals: Totals


class Change(Part, frozen=True):
    """A part of the failures in both reports.

    Attributes:
        difference: rate after, less rate before.
        low, high: its 95 % interval (Newcombe), as of two independent samples.
    """

    key: str
    label: str
    before: int
    after: int
    rate_before: float
    rate_after: float
    difference: float
    low: float
    high: float


class CaseRef(Part, frozen=True):
    """A failed question.

    Attributes:
        before: its number in the first report; None where it did not fail there.
        after: its number in the second report.
    """

    question_external_id: str | None
    question: str
    before: int | None
    after: int | None
    failure_before: str | None
    failure_after: str | None
    error_type_before: ErrorType | None
    error_type_after: ErrorType | None


class Comparison(Part, frozen=True, kw_only=True, tag_field="format", tag="memtrace-comparison"):
    """Two reports side by side.

    Attributes:
        gone: questions that failed in the first only.
        new: questions that failed in the second only.
        moved: questions that failed in both, of another error type.
        same: how many failed in both, of the same error type.
    """

    version: Literal[1] = 1
    before: Side
    after: Side
    by_error_type: list[Change]
    by_operation: list[Change]
    by_prompt: list[Change]
    gone: list[CaseRef]
    new: list[CaseRef]
    moved: list[CaseRef]
    same: int


def read_report(path: Path) -> ReportData:
    """A report that was written as JSON.

    Raises:
        InputError: the file can't be read, or holds no report.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=ReportData)
    except OSError as error:
        raise InputError(str(path), "", f"can't be read: {error.strerror or error}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(
            str(path), "", f"is no report in JSON, as `report --format json` writes it: {error}"
        ) from error


def compare(before: ReportData, after: ReportData) -> Comparison:
    """Two reports side by side."""
    pairs = _pairs(before.cases, after.cases)
    both = [(one, two) for one, two in pairs if one and two]
    return Comparison(
        before=Side(before.created_at, before.scope, before.totals),
        after=Side(after.created_at, after.scope, after.totals),
        by_error_type=_changes(before, after, before.by_error_type, after.by_error_type),
        by_operation=_by_size(_changes(before, after, before.by_operation, after.by_operation)),
        by_prompt=_by_size(_changes(before, after, before.by_prompt, after.by_prompt)),
        gone=[_reference(one, two) for one, two in pairs if two is None],
        new=[_reference(one, two) for one, two in pairs if one is None],
        moved=[_reference(one, two) for one, two in both if one.error_type is not two.error_type],
        same=sum(one.error_type is two.error_type for one, two in both),
    )


def _changes(before: ReportData, after: ReportData, ones: Sequence[Share], others: Sequence[Share]) -> list[Change]:
    first, second = {part.key: part for part in ones}, {part.key: part for part in others}
    total, other_total = _judged(before), _judged(after)
    found = []
    for key in dict.fromkeys([*first, *second]):
        one, two = first.get(key), second.get(key)
        label = two.label if two else first[key].label
        count, other = one.count if one else 0, two.count if two else 0
        rate, other_rate = one.rate if one else 0.0, two.rate if two else 0.0
        interval = difference(count, total, other, other_total)
        found.append(Change(key, label, count, other, rate, other_rate, other_rate - rate, interval.low, interval.high))
    return found


def _judged(report: ReportData) -> int:
    return report.totals.attributed + report.totals.abstained


def _by_size(changes: Sequence[Change]) -> list[Change]:
    return sorted(changes, key=lambda change: (-abs(change.difference), change.label, change.key))


def _pairs(before: Sequence[Case], after: Sequence[Case]) -> list[tuple[Case | None, Case | None]]:
    """Failures of the same question, in the order of the first report, then those that only the second has."""
    waiting: dict[tuple[str | None, str], list[Case]] = defaultdict(list)
    for case in after:
        waiting[case.question_external_id, case.question].append(case)
    found: list[tuple[Case | None, Case | None]] = []
    for case in before:
        same = waiting[case.question_external_id, case.question]
        found.append((case, same.pop(0) if same else None))
    left = sorted((case for cases in waiting.values() for case in cases), key=lambda case: case.number)
    return found + [(None, case) for case in left]


def _reference(before: Case | None, after: Case | None) -> CaseRef:
    known = after or before
    assert known is not None
    return CaseRef(
        known.question_external_id,
        known.question,
        before.number if before else None,
        after.number if after else None,
        before.failure_id if before else None,
        after.failure_id if after else None,
        before.error_type if before else None,
        after.error_type if after else None,
    )
