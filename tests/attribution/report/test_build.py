from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.report import words
from attribution.report.build import build
from attribution.report.changes import what_to_change
from attribution.report.make import make
from attribution.report.model import ReportData, Share
from attribution.report.suspected_labels import suspected_labels
from attribution.statistics.intervals import wilson
from attribution.verdicts.stored import every_failure
from schema.ids import make_id
from schema.kinds import ErrorType, VariableKind
from store.open import open_database
from tests.attribution.report.memory import MADE, PROJECT, Memory, gathered, report, scope, some


def counts(parts: list[Share]) -> dict[str, int]:
    return {part.label: part.count for part in parts}


def test_totals(data: ReportData) -> None:
    totals = data.totals
    assert (totals.failures, totals.attributed, totals.abstained, totals.without_verdict) == (12, 10, 1, 1)


def test_shares(data: ReportData) -> None:
    assert counts(data.by_error_type) == {
        "Extraction error": 3,
        "Update error": 1,
        "Deletion error": 1,
        "Retrieval error": 2,
        "Response error": 1,
        "Annotation error": 1,
        "Judge error": 1,
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
    assert [part.key for part in data.by_error_type] == [*ErrorType, "abstained"]
    for part in (*data.by_error_type, *data.by_operation, *data.by_prompt, *data.by_session):
        interval = wilson(part.count, 11)
        assert (part.total, part.rate, part.low, part.high) == (11, part.count / 11, interval.low, interval.high)


def test_what_did_harm_of_all_that_is_blamed(data: ReportData) -> None:
    found = {ranking.by: ranking for ranking in data.harm}
    assert [(by, ranking.total) for by, ranking in found.items()] == [("operation", 7), ("prompt", 1), ("session", 1)]
    (session,) = found["session"].worst
    # Those with an operation; the deletion has none, and counts in the total alone.
    assert (session.label, session.failed, session.passed) == ("construction, session 1", 5.5, 0)
    assert session.score == round((5.5 / 6.4) ** 0.5, 4)


async def test_harm_over_several_traces_names_them_and_is_none_of_chosen_failures(tmp_path: Path) -> None:
    one, two = Memory("one"), Memory("two")
    for memory in (one, two):
        memory.fail(ErrorType.UPDATE)
    async with await open_database(f"sqlite:///{tmp_path / 'memory.db'}") as database:
        store = database.project(PROJECT)
        await one.trace.write(store)
        await two.trace.write(store)
        failures = await every_failure(store, None)
        found, prompts = (await make(store, failures)).harm[:2]
        assert [ranked.label for ranked in prompts.worst] == ["update-prompt"]
        assert {ranked.label for ranked in found.worst} == {"update of the one", "update of the two"}
        only = (await make(store, failures[:1], trace_ids=[failures[0].trace_id])).harm[0]
        assert [ranked.label for ranked in only.worst] == ["update"]
        assert (await make(store, failures, is_selection=True)).harm == []


def test_rates_of_all_questions_asked(data: ReportData) -> None:
    assert data.asked is not None
    assert (data.asked.answers, data.asked.wrong.count, data.asked.wrong.total) == (20, 12, 20)
    assert data.asked.wrong.rate == 0.6
    assert counts(data.asked.by_error_type) == counts(data.by_error_type) | {"without verdict": 1}
    for part in data.asked.by_error_type:
        interval = wilson(part.count, 20)
        assert (part.total, part.rate, part.low, part.high) == (20, part.count / 20, interval.low, interval.high)
    assert len(data.asked.questions) == 20
    assert {case.question for case in data.cases} < {one.text for one in data.asked.questions}


def test_a_failure_whose_answer_was_not_recorded_is_a_question_too(tmp_path: Path) -> None:
    memory = Memory()
    memory.succeed()
    memory.trace.failure(memory.trace.variable("spoken", "what was said?", kind=VariableKind.OTHER))
    found = report(memory, tmp_path).asked
    assert found is not None
    assert (found.answers, found.wrong.count, found.wrong.total, found.questions) == (1, 1, 2, [])
    assert "1 answer, and 1 failure whose answer was not recorded as an answer. 1 of 2" in words.asked(found)


def test_without_answers_there_are_no_rates_of_them(tmp_path: Path) -> None:
    memory = Memory()
    memory.trace.failure(memory.trace.variable("asked", "what?", kind=VariableKind.QUERY))
    found = report(memory, tmp_path).asked
    assert found is not None
    assert (found.answers, found.by_error_type) == (0, [])
    assert words.asked(found) == "The traces contain 0 answers, so it is not known how many questions were asked."


def test_right_answers_are_told_from_those_that_nobody_judged(tmp_path: Path) -> None:
    memory = Memory()
    memory.fail(ErrorType.UPDATE)
    for right in (True, True, True, None):
        memory.succeed(right)
    found = report(memory, tmp_path)
    assert found.asked
    assert found.asked.right
    assert found.asked.not_judged
    shares = (found.asked.wrong, found.asked.right, found.asked.not_judged)
    assert [(part.key, part.count, part.total) for part in shares] == [
        ("wrong", 1, 5),
        ("right", 3, 5),
        ("not judged", 1, 5),
    ]
    assert "3 (60.0 %) were judged right, and 1 (20.0 %) was not judged" in words.asked(found.asked)


async def test_traces_without_failures_count_unless_others_are_meant(tmp_path: Path) -> None:
    one, two = Memory("one"), Memory("two")
    one.fail(ErrorType.UPDATE)
    two.succeed()
    async with await open_database(f"sqlite:///{tmp_path / 'memory.db'}") as database:
        store = database.project(PROJECT)
        await one.trace.write(store)
        await two.trace.write(store)
        failures = await every_failure(store, None)
        every = await make(store, failures)
        first = await make(store, failures, trace_ids=[one.trace.trace.id])
        second = await make(store, [], trace_ids=[two.trace.trace.id])
        chosen = await make(store, failures, is_selection=True)
    assert [found.asked and (found.asked.answers, found.asked.wrong.count) for found in (every, first, second)] == [
        (2, 1),
        (1, 1),
        (1, 0),
    ]
    assert [len(found.scope.traces) for found in (every, first, second, chosen)] == [2, 1, 1, 1]
    assert chosen.asked is None


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
    (pair,) = data.agreements
    assert (pair.first, pair.second, pair.cases) == ("annotation", "flow", 5)
    assert (pair.type_accuracy, pair.operation_accuracy, pair.joint_accuracy) == (0.8, 1.0, 0.8)
    assert pair.type_kappa == pytest.approx(found.type_kappa)
    # Each failure has an operation of its own: by chance (1 * 1 for four of them) / 25.
    assert pair.joint_kappa == found.joint_kappa == pytest.approx((0.8 - 4 / 25) / (1 - 4 / 25))


def test_agreement_of_several_methods_and_people(tmp_path: Path) -> None:
    memory = Memory()
    memory.fail(ErrorType.RETRIEVAL, human=ErrorType.RETRIEVAL)
    memory.fail(ErrorType.RETRIEVAL, human=ErrorType.RESPONSE)
    first, second = memory.trace.failures
    for failure, kind in ((first, ErrorType.RESPONSE), (first, ErrorType.UPDATE), (second, None)):
        memory.trace.attribution(failure, "llm", error_type=kind, id=make_id("Attribution", failure.id, str(kind)))
    ada = make_id("Attribution", first.id, "Ada")
    memory.trace.attribution(first, "human", error_type=ErrorType.UPDATE, author="Ada", id=ada)
    pairs = {(one.first, one.second): (one.cases, one.type_accuracy) for one in report(memory, tmp_path).agreements}
    # The newest verdict of a method counts; what a method abstained from, and what only one has judged, does not.
    assert pairs == {
        ("annotation", "flow"): (2, 0.5),
        ("Ada", "annotation"): (1, 0.0),
        ("Ada", "flow"): (1, 0.0),
        ("Ada", "llm"): (1, 1.0),
        ("annotation", "llm"): (1, 0.0),
        ("flow", "llm"): (1, 0.0),
    }


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
    assert build(cases, data.scope, MADE) == msgspec.structs.replace(data, asked=None, harm=[])


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
    assert counts(data.by_error_type)["Response error"] == 1
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


async def test_levers_without_a_whole_report_have_the_same_shares(data: ReportData, tmp_path: Path) -> None:
    async with await open_database(f"sqlite:///{tmp_path / 'memory.db'}") as database:
        store = database.project(PROJECT)
        await some().trace.write(store)
        found = await what_to_change(store, await every_failure(store, None))
    assert [(lever.kind, lever.share) for lever in found] == [(lever.kind, lever.share) for lever in data.levers]


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
    assert [case.error_type for case in suspected_labels(data.cases)] == [ErrorType.ANNOTATION, ErrorType.JUDGE]
