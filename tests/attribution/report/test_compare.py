from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from attribution.report import words
from attribution.report.build import build
from attribution.report.compare import Comparison, compare, read_report
from attribution.report.model import ReportData, TraceRef
from attribution.statistics.intervals import difference
from attribution.statistics.mcnemar import mcnemar
from schema.errors import InputError
from schema.kinds import ErrorType
from tests.attribution.report.memory import MADE


@pytest.fixture
def after(data: ReportData) -> ReportData:
    """A later run: two questions are right now, one fails otherwise, one is new."""
    cases = [replace(case, failure_id=f"later {case.failure_id}") for case in data.cases]
    kept = [case for case in cases if case.question not in {"what is fact 0?", "what is fact 1?"}]
    changed = [
        replace(case, error_type=ErrorType.UPDATE) if case.question == "what is fact 2?" else case for case in kept
    ]
    new = replace(cases[0], question="what else?", question_external_id="question-else", failure_id="else")
    return build([*changed, new], data.scope, MADE)


def test_comparison(data: ReportData, after: ReportData) -> None:
    found = compare(data, after)
    assert (found.before.totals.failures, found.after.totals.failures) == (12, 11)
    assert [one.question for one in found.gone] == ["what is fact 0?", "what is fact 1?"]
    assert [one.question for one in found.new] == ["what else?"]
    (moved,) = found.moved
    assert (moved.error_type_before, moved.error_type_after) == (ErrorType.EXTRACTION, ErrorType.UPDATE)
    assert found.same == 9
    numbers = {case.failure_id: case.number for case in after.cases}
    assert moved.failure_after is not None
    assert moved.after == numbers[moved.failure_after]
    kinds = {change.key: change for change in found.by_error_type}
    extraction = kinds["ExtractionError"]
    assert (extraction.before, extraction.after) == (3, 1)
    assert extraction.difference == pytest.approx(1 / 10 - 3 / 11)
    interval = difference(3, 11, 1, 10)
    assert (extraction.low, extraction.high) == (interval.low, interval.high)
    assert list(kinds) == [*ErrorType, "abstained"]


def test_fixed_broken_and_still_wrong(data: ReportData, after: ReportData) -> None:
    found = compare(replace(data, asked=None), after)
    assert [one.question for one in found.fixed] == ["what is fact 0?", "what is fact 1?"]
    assert [one.question for one in found.broken] == ["what else?"]
    assert found.still_wrong[0].question == "what is fact 2?"
    assert len(found.still_wrong) == 10
    assert {(one.trace, one.trace_external_id) for one in found.fixed} == {("the memory", "memory")}
    assert (found.paired.fixed, found.paired.broken, found.paired.p_value, found.not_asked) == (2, 1, 1.0, [])
    # These reports were made without the answers of their traces.
    assert not found.paired.is_known
    assert "At least one of the reports does not say which questions were asked" in words.paired(found)


def test_what_was_not_asked_is_neither_fixed_nor_broken(data: ReportData, after: ReportData) -> None:
    assert data.asked is not None
    questions = [replace(one, right=True) for one in data.asked.questions if one.text != "what is fact 0?"]
    later = replace(after, asked=replace(data.asked, questions=questions))
    found = compare(data, later)
    assert [one.question for one in found.fixed] == ["what is fact 1?"]
    # "what else?" was not asked in the first run either.
    assert [one.question for one in found.not_asked] == ["what is fact 0?", "what else?"]
    assert (found.broken, found.paired.is_known) == ([], True)
    assert len(found.gone) == 2
    assert words.outcome(found).endswith("2 questions failed in one run and were not asked in the other.")


@pytest.mark.parametrize(
    ("answer", "right", "outcome"),
    [
        ("not 0", None, "still_wrong"),  # the very answer that is known to be wrong
        ("It is fact 0.", None, "fixed"),
        ("Something else.", None, "not_judged"),
        (None, None, "not_judged"),
        ("not 0", True, "fixed"),
    ],
)
def test_an_answer_that_nobody_judged_is_judged_by_the_gold_answer(
    data: ReportData, after: ReportData, answer: str | None, right: bool | None, outcome: str
) -> None:
    assert data.asked is not None
    questions = [
        replace(one, answer=answer, right=right) if one.text == "what is fact 0?" else replace(one, right=True)
        for one in data.asked.questions
    ]
    cases = [replace(one, gold_answers=["fact 0"], prediction="not 0") for one in data.cases]
    before = replace(data, cases=cases)
    found = compare(before, replace(after, asked=replace(data.asked, questions=questions)))
    named = ("fixed", "not_judged", "still_wrong")
    there = [name for name in named if "what is fact 0?" in [one.question for one in getattr(found, name)]]
    assert there == [outcome]
    assert ("not judged in the other" in words.outcome(found)) is (outcome == "not_judged")


def test_questions_are_the_same_by_id_else_by_text(data: ReportData) -> None:
    reworded = [replace(case, question=f"Reworded: {case.question}") for case in data.cases]
    found = compare(data, build(reworded, data.scope, MADE))
    assert (len(found.still_wrong), found.fixed, found.broken) == (12, [], [])
    spaced = [
        replace(case, question=f" {case.question.upper()}\n", question_external_id=f"new-{case.number}")
        for case in data.cases
    ]
    found = compare(data, build(spaced, data.scope, MADE))
    assert (len(found.still_wrong), found.fixed, found.broken) == (12, [], [])
    both = [replace(case, question=f"other {case.number}", question_external_id=None) for case in data.cases]
    found = compare(replace(data, asked=None), build(both, data.scope, MADE))
    assert (found.still_wrong, len(found.fixed), len(found.broken)) == ([], 12, 12)


def test_an_id_that_several_questions_have_does_not_join_them(data: ReportData) -> None:
    cases = [replace(case, question_external_id="question@1") for case in data.cases]
    moved = [replace(case, question=f"another {case.number}") for case in cases]
    found = compare(build(cases, data.scope, MADE), build(moved, data.scope, MADE))
    assert found.still_wrong == []
    assert len(compare(build(cases, data.scope, MADE), build(cases, data.scope, MADE)).still_wrong) == 12


def test_the_same_question_in_another_trace_is_another_one(data: ReportData) -> None:
    one, two = TraceRef("1", "one", None), TraceRef("2", "two", None)
    case = data.cases[0]

    def asked_in(trace: TraceRef, *scope: TraceRef) -> ReportData:
        there = replace(case, trace_id=trace.id, trace_external_id=trace.external_id, trace=trace.external_id)
        return build([there], replace(data.scope, traces=list(scope)), MADE)

    found = compare(asked_in(one, one, two), asked_in(two, one, two))
    assert (len(found.fixed), len(found.broken), found.still_wrong) == (1, 1, [])
    # A run whose traces have other names: the question is the same wherever it was asked.
    assert len(compare(asked_in(one, one), asked_in(two, two)).still_wrong) == 1


@pytest.mark.parametrize(
    ("fixed", "broken", "p_value"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 2 / 32), (8, 1, 2 * 10 / 512), (1, 8, 2 * 10 / 512), (3, 3, 1.0)],
)
def test_mcnemar(fixed: int, broken: int, p_value: float) -> None:
    assert mcnemar(fixed, broken) == pytest.approx(p_value)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial(fixed: int, broken: int) -> None:
    total = fixed + broken
    as_uneven = sum(
        math.comb(total, count) for count in range(total + 1) if abs(2 * count - total) >= abs(fixed - broken)
    )
    assert mcnemar(fixed, broken) == pytest.approx(as_uneven / 2**total)


def test_mcnemar_of_many() -> None:
    assert mcnemar(5000, 4000) < 1e-20
    assert mcnemar(100_000, 0) == 0.0


@pytest.mark.parametrize(
    ("fixed", "broken", "said"),
    [
        (0, 0, "there is nothing to test"),
        (2, 1, "p = 1.000 (exact McNemar test)"),
        (2, 1, "does not show that either run is better"),
        (9, 1, "the second run is better, and it is unlikely that this is chance"),
        (1, 9, "the second run is worse, and it is unlikely that this is chance"),
        (40, 1, "p < 0.001"),
    ],
)
def test_what_the_test_says(data: ReportData, fixed: int, broken: int, said: str) -> None:
    found = compare(data, data)
    test = replace(found.paired, fixed=fixed, broken=broken, p_value=mcnemar(fixed, broken))
    assert said in words.paired(replace(found, paired=test))


def test_rates_of_all_questions_are_compared(data: ReportData) -> None:
    assert data.asked is not None
    found = compare(data, data)
    change = found.of_all[0]
    assert (change.key, change.before, change.after, change.rate_before) == ("wrong", 12, 12, 0.6)
    assert (found.before.wrong, found.after.right) == (data.asked.wrong, data.asked.right)
    assert [part.key for part in found.of_all[:2]] == ["wrong", "right"]
    old = replace(data, asked=replace(data.asked, right=None, not_judged=None))
    assert (compare(old, data).before.right, compare(old, data).of_all[0]) == (None, change)
    assert compare(data, replace(data, asked=None)).of_all == []


def test_what_one_report_lacks_counts_as_none(data: ReportData) -> None:
    none = build([], data.scope, MADE)
    found = compare(data, none)
    change = next(change for change in found.by_operation if change.key == "Extraction:extract")
    assert (change.before, change.after, change.rate_after) == (3, 0, 0.0)
    assert (change.low, change.high) == (-1.0, 1.0)
    assert len(found.gone) == 12
    back = compare(none, data)
    assert len(back.new) == 12
    assert {change.key for change in back.by_prompt} == {change.key for change in found.by_prompt}


def test_a_report_against_itself_changes_nothing(data: ReportData) -> None:
    found = compare(data, data)
    assert (found.gone, found.new, found.moved, found.same) == ([], [], [], 12)
    assert {change.difference for change in found.by_error_type} == {0.0}


def test_the_same_question_twice_is_two_failures(data: ReportData) -> None:
    twice = build(
        [*data.cases, *(replace(case, failure_id=f"x{case.failure_id}") for case in data.cases)], data.scope, MADE
    )
    assert compare(data, twice).same == 12
    assert len(compare(data, twice).new) == 12


def test_json(data: ReportData, after: ReportData, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(msgspec.json.encode(data))
    assert read_report(path) == data
    found = compare(data, after)
    text = msgspec.json.encode(found)
    assert msgspec.json.decode(text, type=Comparison) == found
    assert msgspec.json.decode(text)["format"] == "memtrace-comparison"


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"format": "memtrace-report"}', b"\xff\xfe", b"{"])
def test_what_is_no_report_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is no report") as refused:
        read_report(path)
    assert refused.value.source == str(path)
    with pytest.raises(
        InputError, match=r"can't be read: No such file .*`memtrace report --trace TRACE -o FILE\.json`"
    ):
        read_report(tmp_path / "none.json")
