"""Compares two reports by rates and by single questions.

Rates are shares of each run's own failures, and of all questions that each run asked. Two questions are the same if
their external ids are equal, or else if their texts are equal, ignoring spaces and capitals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from attribution.compare.known_gold import judged
from attribution.compare.pairing import Places, pairs
from attribution.report.failure_report import FailureReport, Part
from attribution.report.model import Asked, AskedQuestion, ReportData, Scope, Share, Totals
from attribution.statistics.intervals import difference
from attribution.statistics.mcnemar import mcnemar
from schema.errors import InputError
from schema.kinds import ErrorType


class Side(Part, frozen=True):
    """One of the two reports.

    Attributes:
        wrong: the share of questions with a wrong answer; None if the report does not say.
        right: the share of questions with an answer judged right; None if the report does not say.
    """

    created_at: datetime
    scope: Scope
    totals: Totals
    wrong: Share | None = None
    right: Share | None = None


class Change(Part, frozen=True):
    """A share in both reports.

    Attributes:
        difference: rate after minus rate before.
        low, high: the 95 % interval of the difference (Newcombe), for two independent samples.
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


class FailureRef(Part, frozen=True):
    """A failed question.

    Attributes:
        before: the case's number in the first report; None if the question did not fail there.
        after: the case's number in the second report; None if the question did not fail there.
        trace: where the question was asked; if it failed in both runs, the second report's trace.
    """

    question_external_id: str | None
    question: str
    before: int | None
    after: int | None
    failure_before: str | None
    failure_after: str | None
    error_type_before: ErrorType | None
    error_type_after: ErrorType | None
    trace: str = ""
    trace_external_id: str = ""
    trace_id: str = ""


class PairedTest(Part, frozen=True):
    """Whether the two runs differ by more than chance; see ``attribution.statistics.mcnemar``.

    Attributes:
        fixed: number of questions in ``Comparison.fixed``.
        broken: number of questions in ``Comparison.broken``.
        p_value: of the exact two-sided McNemar test.
        is_known: whether both reports list the questions asked. Otherwise a question without a failure counts as
            answered well.
    """

    fixed: int
    broken: int
    p_value: float
    is_known: bool


class Comparison(Part, frozen=True, kw_only=True, tag_field="format", tag="memtrace-comparison"):
    """Two reports side by side.

    Attributes:
        gone: questions that failed only in the first run.
        new: questions that failed only in the second run.
        moved: questions that failed in both runs, with different error types.
        same: number of questions that failed in both runs with the same error type.
        fixed: questions that failed in the first run, and were answered well in the second.
        broken: questions that were answered well in the first run, and failed in the second.
        still_wrong: questions that failed in both runs, first the questions with another error type; then those that
            nobody judged in one run, and whose answer there is wrong by the gold answer of the other.
        not_judged: questions that failed in one run and are not judged in the other; no gold answer decides them.
        not_asked: questions that failed in one run, and were not asked in the other.
        paired: a test of fixed against broken.
        of_all: wrong answers, answers judged right, and error types as shares of all questions asked; empty if a report
            does not say how many questions there were.
    """

    version: Literal[1] = 1
    before: Side
    after: Side
    by_error_type: list[Change]
    by_operation: list[Change]
    by_prompt: list[Change]
    gone: list[FailureRef]
    new: list[FailureRef]
    moved: list[FailureRef]
    same: int
    fixed: list[FailureRef]
    broken: list[FailureRef]
    still_wrong: list[FailureRef]
    not_asked: list[FailureRef]
    not_judged: list[FailureRef]
    paired: PairedTest
    of_all: list[Change]


def read_report(path: Path) -> ReportData:
    """Read a report from a JSON file.

    Raises:
        InputError: the file can't be read, or does not contain a report.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=ReportData)
    except OSError as error:
        problem = (
            f"can't be read: {error.strerror or error}; `memtrace report --trace TRACE -o FILE.json` writes a report"
        )
        raise InputError(str(path), "", problem) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(
            str(path), "", f"is no report in JSON, as `report --format json` writes it: {error}"
        ) from error


def compare(before: ReportData, after: ReportData) -> Comparison:
    """Compare two reports."""
    places = Places(*({trace.external_id for trace in report.scope.traces} for report in (before, after)))
    paired = pairs(before.cases, after.cases, places)
    gone = [pair for pair in paired if pair[1] is None]
    new = [pair for pair in paired if pair[0] is None]
    both = [(one, two) for one, two in paired if one and two]
    moved = [(one, two) for one, two in both if one.error_type is not two.error_type]
    same = [(one, two) for one, two in both if one.error_type is two.error_type]
    asked_before, asked_after = _Questions(before, places), _Questions(after, places)
    known = [pair for pair in gone if pair[0] in asked_after]
    fixed, not_judged, wrong = (
        [pair for pair in known if asked_after.is_right(pair[0]) is is_right] for is_right in (True, None, False)
    )
    known = [pair for pair in new if pair[1] in asked_before]
    broken, unjudged_before, wrong_before = (
        [pair for pair in known if asked_before.is_right(pair[1]) is is_right] for is_right in (True, None, False)
    )
    unasked = [(one, two) for one, two in gone if one not in asked_after]
    unasked += [(one, two) for one, two in new if two not in asked_before]
    is_known = asked_before.is_known and asked_after.is_known
    totals = _judged(before), _judged(after)
    return Comparison(
        before=_side(before),
        after=_side(after),
        by_error_type=_changes(before.by_error_type, after.by_error_type, *totals),
        by_operation=_by_size(_changes(before.by_operation, after.by_operation, *totals)),
        by_prompt=_by_size(_changes(before.by_prompt, after.by_prompt, *totals)),
        gone=_references(gone),
        new=_references(new),
        moved=_references(moved),
        same=len(same),
        fixed=_references(fixed),
        broken=_references(broken),
        still_wrong=_references([*moved, *same, *wrong, *wrong_before]),
        not_judged=_references([*not_judged, *unjudged_before]),
        not_asked=_references(unasked),
        paired=PairedTest(len(fixed), len(broken), mcnemar(len(fixed), len(broken)), is_known),
        of_all=_of_all(before, after),
    )


def _side(report: ReportData) -> Side:
    asked = report.asked
    if asked is None or not asked.answers:
        return Side(report.created_at, report.scope, report.totals)
    return Side(report.created_at, report.scope, report.totals, asked.wrong, asked.right)


def _of_all(before: ReportData, after: ReportData) -> list[Change]:
    """Changes of wrong answers, of answers judged right, and of each error type, as shares of all questions asked."""
    one, two = before.asked, after.asked
    if not one or not two or not one.answers or not two.answers:
        return []
    return _changes(_parts(one), _parts(two), one.wrong.total, two.wrong.total)


def _parts(asked: Asked) -> list[Share]:
    return [asked.wrong, *([asked.right] if asked.right else []), *asked.by_error_type]


def _changes(ones: Sequence[Share], others: Sequence[Share], total: int, other_total: int) -> list[Change]:
    first, second = {part.key: part for part in ones}, {part.key: part for part in others}
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


_Pair = tuple[FailureReport | None, FailureReport | None]


class _Questions:
    """The questions that a report's run asked."""

    def __init__(self, report: ReportData, places: Places) -> None:
        questions: Sequence[AskedQuestion] = report.asked.questions if report.asked else ()
        ids = Counter(places.id(question.trace_external_id, question.external_id) for question in questions)
        self._ids = {
            id_: question
            for question in questions
            if ids[id_ := places.id(question.trace_external_id, question.external_id)] == 1
        }
        self._texts = {places.text(question.trace_external_id, question.text): question for question in questions}
        self._places = places
        self.is_known = bool(questions)

    def __contains__(self, case: FailureReport | None) -> bool:
        """Whether the question of a case was asked; True if unknown."""
        return not self.is_known or case is None or self._find(case) is not None

    def is_right(self, case: FailureReport | None) -> bool | None:
        """Whether the question of another run's failure was answered well here; None if nobody judged the answer.

        The gold answers of the failure judge it if they can. True if the report does not list the questions asked.
        """
        question = self._find(case) if self.is_known and case is not None else None
        if question is None or case is None or question.right is not None:
            return True if question is None else question.right
        if question.answer is None:
            return None
        return judged(question.answer, question.text, case.gold_answers, case.prediction)

    def _find(self, case: FailureReport) -> AskedQuestion | None:
        by_id = self._ids.get(self._places.id(case.trace_external_id, case.question_external_id))
        return by_id or self._texts.get(self._places.text(case.trace_external_id, case.question))


def _references(paired: Sequence[_Pair]) -> list[FailureRef]:
    return [_reference(before, after) for before, after in paired]


def _reference(before: FailureReport | None, after: FailureReport | None) -> FailureRef:
    known = after or before
    assert known is not None
    return FailureRef(
        question_external_id=known.question_external_id,
        question=known.question,
        before=before.number if before else None,
        after=after.number if after else None,
        failure_before=before.failure_id if before else None,
        failure_after=after.failure_id if after else None,
        error_type_before=before.error_type if before else None,
        error_type_after=after.error_type if after else None,
        trace=known.trace,
        trace_external_id=known.trace_external_id,
        trace_id=known.trace_id,
    )
