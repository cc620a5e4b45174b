from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.intervals import wilson
from attribution.report.build import build
from attribution.report.model import ReportData, Share
from attribution.report.suspects import suspects
from schema.kinds import ErrorType
from tests.attribution.report.memory import MADE, Memory, gathered, report, scope, some


def counts(parts: list[Share]) -> dict[str, int]:
    return {part.label: part.count for part in parts}


def test_totals(data: ReportData) -> None:
    totals = data.totals
    assert (totals.failures, totals.attributed, totals.abstained, totals.without_verdict) == (12, 10, 1, 1)


def test_shares(data: ReportData) -> None:
    assert counts(data.by_error_type) == {
        "ExtractionError": 3,
        "UpdateError": 1,
        "DeletionError": 1,
        "RetrievalError": 2,
        "ResponseError": 1,
        "AnnotationError": 1,
        "LLMAsAJudgeError": 1,
        "abstained": 1,
    }
    assert counts(data.by_operation) == {
        "extract (Extraction)": 3,
        "search (Retrieval)": 2,
        "answer (Generation)": 1,
        "judge (Judge)": 1,
        "update (Update)": 1,
    }
    assert counts(data.by_prompt) == {
        "extraction-prompt": 3,
        "answer-prompt": 1,
        "judge-prompt": 1,
        "update-prompt": 1,
    }
    assert counts(data.by_session) == {"construction, session 1": 8}
    for part in (*data.by_error_type, *data.by_operation, *data.by_prompt, *data.by_session):
        interval = wilson(part.count, 11)
        assert (part.total, part.rate, part.low, part.high) == (11, part.count / 11, interval.low, interval.high)


def test_families_are_led_by_their_surest_cases(data: ReportData) -> None:
    cases = {case.number: case for case in data.cases}
    first, second = data.families[:2]
    assert (first.error_type, first.operation, first.share.count) == (ErrorType.EXTRACTION, "extract", 3)
    assert [cases[number].confidence for number in first.cases] == [0.9, 0.8, 0.7]
    assert (second.error_type, second.operation, second.share.count) == (ErrorType.RETRIEVAL, "search", 2)
    *others, abstained = data.families
    assert sum(family.share.count for family in others) == data.totals.attributed
    assert (abstained.error_type, abstained.share.label, abstained.share.count) == (None, "abstained", 1)
    assert sorted(number for family in data.families for number in family.cases) == [
        case.number for case in data.cases if case.attribution_id
    ]


def test_a_case_cites_its_quotes_and_ids(data: ReportData) -> None:
    case = next(case for case in data.cases if case.question == "what is fact 3?")
    assert (case.question_external_id, case.answer_external_id) == ("question-3", "answer-3")
    assert (case.prediction, case.gold_answers, case.reason) == ("not 3", ["fact 3"], "reason 3")
    assert case.operation is not None
    assert (case.operation.external_id, case.operation.settings) == ("op-3", {"top_k": 5})
    held, lost = case.path
    assert (held.external_id, held.kind, held.quote, held.holds) == ("message-3", "Message", "fact 3", True)
    assert (lost.external_id, lost.operation, lost.holds) == ("answer-3", "search", False)
    (other,) = case.others
    assert (other.author, other.error_type) == ("annotation", ErrorType.RETRIEVAL)


def test_what_to_change_first(data: ReportData) -> None:
    found = [(lever.kind, lever.share.label, lever.share.count) for lever in data.levers]
    assert found == [
        ("prompt", "prompt extraction-prompt", 3),
        ("settings", "settings of extract", 3),
        ("settings", "settings of search", 2),
        ("prompt", "prompt answer-prompt", 1),
        ("prompt", "prompt judge-prompt", 1),
        ("prompt", "prompt update-prompt", 1),
        ("data", "questions and gold answers of the data set", 1),
    ]
    search = data.levers[2]
    assert search.settings == {"top_k": [5]}
    assert search.error_types == {"RetrievalError": 2}
    assert len(search.cases) == 2


def test_agreement_with_people(data: ReportData) -> None:
    found = data.agreement
    assert found is not None
    assert (found.cases, found.type_accuracy, found.operation_accuracy, found.joint_accuracy) == (5, 0.8, 1.0, 0.8)
    # By chance (3 * 3 + 2 * 1) / 25.
    assert found.type_kappa == pytest.approx((0.8 - 11 / 25) / (1 - 11 / 25))


def test_numbers_of_cases_follow_no_order_of_reading(data: ReportData) -> None:
    assert [case.number for case in data.cases] == list(range(1, 13))
    assert [case.question_external_id for case in data.cases] == sorted(
        case.question_external_id or "" for case in data.cases
    )


@settings(max_examples=20)
@given(random=st.randoms(use_true_random=False))
def test_the_order_of_cases_changes_nothing(data: ReportData, random: object) -> None:
    cases = list(data.cases)
    random.shuffle(cases)  # type: ignore[attr-defined]
    assert build(cases, data.scope, MADE) == data


def test_json_gives_the_report_back(data: ReportData) -> None:
    text = msgspec.json.encode(data)
    assert msgspec.json.decode(text, type=ReportData) == data
    document = msgspec.json.decode(text)
    assert document["format"] == "memtrace-report"
    assert document["version"] == 1
    assert document["totals"]["withoutVerdict"] == 1
    assert document["cases"][0]["failureId"]


def test_a_source_chooses_whose_verdicts_count(tmp_path: Path) -> None:
    memory = some()
    data = build(gathered([memory], tmp_path, "annotation"), scope(memory), MADE)
    assert (data.totals.attributed, data.totals.without_verdict) == (5, 7)
    assert counts(data.by_error_type)["ResponseError"] == 1
    assert data.agreement is None


def test_the_newest_verdict_counts_and_a_persons_does_not(tmp_path: Path) -> None:
    memory = Memory()
    memory.fail(ErrorType.UPDATE, human=ErrorType.UPDATE)
    memory.trace.attribution(memory.trace.failures[0], "llm", error_type=ErrorType.RESPONSE)
    data = report(memory, tmp_path)
    assert [(case.method, case.error_type) for case in data.cases] == [("llm", ErrorType.RESPONSE)]
    assert {other.method for other in data.cases[0].others} == {"flow", "human"}


def test_sessions_of_several_traces_name_their_trace(tmp_path: Path) -> None:
    one, two = Memory("one"), Memory("two")
    one.fail(ErrorType.UPDATE)
    two.fail(ErrorType.UPDATE)
    data = build(gathered([one, two], tmp_path), scope(one, two), MADE)
    assert counts(data.by_session) == {
        "construction, session 1 of the one": 1,
        "construction, session 1 of the two": 1,
    }
    assert counts(data.by_operation) == {"update (Update)": 2}


def test_settings_of_several_values_are_all_named(tmp_path: Path) -> None:
    memory = Memory()
    for _ in range(3):
        memory.fail(ErrorType.RETRIEVAL)
    operations = memory.trace.operations
    operations[0] = replace(operations[0], attributes='{"top_k":10,"rerank":true}')
    (lever,) = report(memory, tmp_path).levers
    assert lever.settings == {"rerank": [True], "top_k": [10, 5]}


def test_nothing_to_report(tmp_path: Path) -> None:
    data = report(Memory(), tmp_path)
    assert data.totals.failures == 0
    assert (data.families, data.levers, data.by_operation, data.cases) == ([], [], [], [])
    assert {part.rate for part in data.by_error_type} == {0.0}


def test_suspects_are_not_the_memorys_fault(data: ReportData) -> None:
    assert [case.error_type for case in suspects(data.cases)] == [ErrorType.ANNOTATION, ErrorType.JUDGE]
