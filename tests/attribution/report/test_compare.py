from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from attribution.intervals import difference
from attribution.report.build import build
from attribution.report.compare import Comparison, compare, read_report
from attribution.report.model import ReportData
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
    with pytest.raises(InputError, match="can't be read"):
        read_report(tmp_path / "none.json")
