"""Suspected errors of a data set: gold answers that nothing supports, and right answers that were judged wrong."""

from __future__ import annotations

from collections.abc import Iterable

from attribution.report.case import ReportedCase
from schema.kinds import NOT_THE_MEMORY


def suspected_labels(cases: Iterable[ReportedCase]) -> list[ReportedCase]:
    """The cases in which the memory is not at fault, the surest first."""
    found = [case for case in cases if case.error_type in NOT_THE_MEMORY]
    return sorted(found, key=lambda case: (-(case.confidence or 0.0), case.trace_external_id, case.failure_id))
