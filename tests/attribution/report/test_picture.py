"""The way of a fact, what an update made of a text, and what a search rated."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from attribution.report import html, markdown, words
from attribution.report.failure_report import CitedStep, FailureReport
from attribution.report.illustrate import MOST_LINES
from attribution.report.model import ReportData
from attribution.report.picture import whole_path
from attribution.verdicts.naming import plain, variable_label
from schema.kinds import ErrorType, VariableKind
from tests.attribution.report.memory import Memory, losing, many, report


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> FailureReport:
    """A case whose fact an update lost."""
    return report(losing(), tmp_path_factory.mktemp("case")).cases[0]


def step(name: str, operation: str | None, holds: bool, kind: VariableKind = VariableKind.MEMORY_UNIT) -> CitedStep:
    return CitedStep(f"id of {name}", name, kind, operation, operation, operation, "derivation", name, holds)


def test_an_answer_on_the_path_is_drawn_once(case: FailureReport) -> None:
    answer = step(case.answer_external_id or "", "answer", False, VariableKind.ANSWER)
    boxes = whole_path(replace(case, path=[step("unit", None, True), answer]))
    assert [box.state for box in boxes] == ["has the fact", "✕ the fact is lost here"]


def test_a_path_that_has_it_to_its_end_breaks_at_the_answer(case: FailureReport) -> None:
    boxes = whole_path(replace(case, path=[step("unit", None, True)]))
    assert [(box.kind, box.state) for box in boxes] == [
        ("MemoryUnit", "has the fact"),
        ("Answer", "✕ the fact is lost here"),
    ]


def test_a_wrong_gold_answer_is_where_it_breaks(case: FailureReport) -> None:
    found = replace(case, path=[step("message", None, True)], error_type=ErrorType.ANNOTATION, gold_answers=["a", "b"])
    assert [(box.kind, box.quote, box.state) for box in whole_path(found)][1:] == [
        ("Answer", "no idea", "has the fact"),
        ("GoldAnswer", "a / b", "✕ says something else"),
    ]


def test_of_several_losses_that_of_the_blamed_operation_breaks(case: FailureReport) -> None:
    assert case.operation is not None
    blamed = case.operation.id
    path = [
        step("one", None, True),
        step("two", blamed, False),
        step("three", "b", True),
        step("four", "c", False),
    ]
    assert [box.is_break for box in whole_path(replace(case, path=path))] == [False, True, False, False, False]
    other = replace(case, path=path, operation=None)
    assert [box.is_break for box in whole_path(other)] == [False, False, False, True, False]


def test_a_case_without_a_path_has_no_boxes(case: FailureReport) -> None:
    assert whole_path(replace(case, path=[])) == []


@pytest.mark.parametrize(
    ("id_", "shown"),
    [
        ("memory-unit-12@1", "memory-unit-12@1"),
        ("op-d0f1645776e24b12974c6d9f436968d3", "op-…"),
        ("extracted_facts:list:1a2b01feb384c16ce30b904464d708bf34c5763d@1", "extracted_facts:list:…@1"),
        ("123e4567-e89b-12d3-a456-426614174000", "…"),
        ("deadbeef", "deadbeef"),
        ("2026-05-01", "2026-05-01"),
        ("query:12345678", "query:12345678"),
    ],
)
def test_digests_in_ids_are_not_shown(id_: str, shown: str) -> None:
    assert plain(id_) == shown


@pytest.mark.parametrize(
    ("name", "external_id", "shown"),
    [
        ("the memory", "memory", "the memory (memory)"),
        ("memory", "memory", "memory"),
        ("the memory", "graph-d0f1645776e24b12974c6d9f436968d3", "the memory"),
        ("d0f1645776e24b12974c6d9f436968d3", "d0f1645776e24b12974c6d9f436968d3", "…"),
    ],
)
def test_a_trace_is_named_without_digests(case: FailureReport, name: str, external_id: str, shown: str) -> None:
    assert words.place(replace(case, trace=name, trace_external_id=external_id)) == shown


def revised(old: str, new: str, folder: Path) -> ReportData:
    memory = Memory()
    memory.lose(ErrorType.UPDATE, old, new)
    return report(memory, folder)


def test_long_differences_are_cut(tmp_path: Path) -> None:
    old = "\n".join(f"line {number} {'x' * 400}" for number in range(2000))
    new = "\n".join(f"another {number}" for number in range(1000))
    data = revised(old, new, tmp_path)
    found = data.cases[0].revision
    assert found is not None
    assert (found.added, found.removed, found.is_cut, len(found.lines)) == (1000, 2000, True, MOST_LINES)
    assert max(map(len, found.lines)) == 300
    assert words.revised(found).startswith("2,000 lines removed, 1,000 added")
    assert words.revised(found).endswith("; only the first 30 lines of the difference are shown")


def test_sentences_of_a_long_line_are_compared(tmp_path: Path) -> None:
    same = "It rains today. " * 50
    found = revised(f"{same}The class is on Thursday. Bye!", f"{same}Bye!", tmp_path).cases[0].revision
    assert found is not None
    assert (found.added, found.removed) == (0, 1)
    assert "-The class is on Thursday." in found.lines


def test_an_update_that_changed_nothing_is_said_to_be_so(tmp_path: Path) -> None:
    data = revised("The class is on Thursday.", "The class is on Thursday.", tmp_path)
    for source in (html.render(data), markdown.render(data)):
        assert "nothing was changed." in source
        assert "<pre" not in source
        assert "```" not in source


def test_a_variable_is_called_by_what_people_can_read() -> None:
    variable = Memory().trace.variable
    digest = "d0f1645776e24b12974c6d9f436968d3"
    assert variable_label(variable("unit-1@2", name="unit")) == "unit-1@2"
    assert variable_label(variable(digest, name="unit 1", version=2)) == "unit 1@2"
    assert variable_label(variable(f"facts:{digest}@1", '["I have a dog."]', name=f"facts:{digest}")) == "I have a dog."
    assert (
        variable_label(variable(f"{digest}1", '{"memory": "I live in Leeds"}', name="extract output"))
        == "I live in Leeds"
    )
    assert variable_label(variable(f"{digest}2", "", name="message", kind=VariableKind.MESSAGE)) == "Message"


def test_what_is_too_large_is_not_compared(tmp_path: Path) -> None:
    assert revised("x" * (1 << 20) + "y", "x", tmp_path).cases[0].revision is None


def test_too_many_lines_are_not_compared(tmp_path: Path) -> None:
    lines = "\n".join(map(str, range(10_002)))
    assert revised(f"a\n{lines}\nb", "c\nd", tmp_path).cases[0].revision is None


def test_a_row_of_backticks_ends_no_fence(tmp_path: Path) -> None:
    data = revised("``` \n`````\n# no heading", "<script>", tmp_path)
    text = markdown.render(data)
    assert "\n``````diff\n" in text
    assert "<script>" not in html.render(data)


def test_a_search_without_ratings_has_no_ranking(data: ReportData) -> None:
    assert {(case.revision, case.ranking) for case in data.cases} == {(None, None)}


def test_a_unit_that_was_not_rated_is_said_to_be_so(tmp_path: Path) -> None:
    memory = Memory()
    memory.lose(ErrorType.RETRIEVAL, "The class is on Thursday.", "", others=3)
    memory.trace.usages = [usage for usage in memory.trace.usages if usage.position != 2]
    found = report(memory, tmp_path).cases[0].ranking
    assert found is not None
    assert (found.considered, found.returned, found.missed) == (3, 2, None)
    assert words.ranked(found) == (
        "The search rated 3 units and returned 2. The unit that has the fact was not among those that it rated."
    )


def test_only_what_pages_show_whole_is_illustrated(tmp_path: Path) -> None:
    memory = many(0)
    for _ in range(words.SHOWN + 5):
        memory.lose(ErrorType.UPDATE, "The class is on Thursday.", "There is a class.")
    data = report(memory, tmp_path)
    assert sum(case.revision is not None for case in data.cases) == words.SHOWN
