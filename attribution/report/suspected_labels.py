"""Suspected errors of a data set: unsupported gold answers, and right answers that were judged wrong."""

from __future__ import annotations

from collections.abc import Iterable

from attribution.report.failure_report import FailureReport
from schema.kinds import NOT_THE_MEMORY


def suspected_labels(cases: Iterable[FailureReport]) -> list[FailureReport]:
    """The cases whose error type is not the memory's fault, the surest first."""
    found = [case for case in cases if case.error_type in NOT_THE_MEMORY]
    return sorted(found, key=lambda case: (-(case.confidence or 0.0), case.trace_external_id, case.failure_id))
