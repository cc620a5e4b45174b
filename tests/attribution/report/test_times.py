"""Failures over time, and error types by operation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from attribution.report import html, markdown, words
from attribution.report.build import build
from attribution.report.chart import LEVELS, MOST_BARS, WIDTH, columns, heat_map
from attribution.report.model import OperationErrors, ReportData
from attribution.report.over_time import MOST_STRETCHES, over_time
from tests.attribution.report.memory import MADE, report, some
from tests.attribution.report.pages import Page, rendered
from tests.attribution.report.test_forms import HOSTILE

START = datetime(2026, 5, 4, 10, 20, 30, tzinfo=UTC)  # a Monday
MOMENTS = st.datetimes(timezones=st.just(UTC))


@pytest.fixture
def dated(data: ReportData) -> ReportData:
    """The report with a failure every two days, and one without a time."""
    cases = [replace(case, failed_at=START + timedelta(days=2 * case.number)) for case in data.cases]
    return build([replace(cases[0], failed_at=None), *cases[1:]], data.scope, MADE)


@pytest.mark.parametrize(
    ("step", "seconds", "first"),
    [
        (timedelta(seconds=100), 60, START.replace(second=0)),
        (timedelta(minutes=30), 900, START.replace(minute=15, second=0)),
        (timedelta(hours=2), 3600, START.replace(minute=0, second=0)),
        (timedelta(days=3), 86_400, START.replace(hour=0, minute=0, second=0)),
        (timedelta(days=20), 604_800, START.replace(hour=0, minute=0, second=0)),
    ],
)
def test_stretches_are_as_short_as_they_can_be(step: timedelta, seconds: int, first: datetime) -> None:
    found = over_time([START + number * step for number in range(12)])
    assert found is not None
    assert (found.seconds, found.stretches[0].start, found.undated) == (seconds, first, 0)
    assert len(found.stretches) <= MOST_STRETCHES


@given(st.lists(st.one_of(st.none(), MOMENTS), max_size=30))
def test_every_failure_falls_into_its_stretch(moments: list[datetime | None]) -> None:
    found = over_time(moments)
    known = [moment for moment in moments if moment is not None]
    if found is None:
        assert not known
        return
    assert len(found.stretches) <= MOST_STRETCHES
    assert sum(stretch.failures for stretch in found.stretches) == len(known)
    assert found.undated == len(moments) - len(known)
    starts = [stretch.start for stretch in found.stretches]
    assert starts == sorted(set(starts))
    assert starts[0] <= min(known)
    assert starts[-1] <= max(known)
    assert found.stretches[0].failures
    assert found.stretches[-1].failures


@given(st.lists(MOMENTS, min_size=2, max_size=30))
def test_columns_stay_in_their_drawing(moments: list[datetime]) -> None:
    found = over_time(moments)
    assert found is not None
    drawn = columns(found)
    assert len(drawn.columns) == len(found.stretches)
    for column in drawn.columns:
        assert 0 <= column.x <= column.middle <= column.x + column.width <= WIDTH
        assert 0 <= column.y <= column.y + column.height <= drawn.base + 0.1
    ticks = [column for column in drawn.columns if column.tick]
    assert 1 <= len(ticks) <= 5
    for one, following in pairwise(ticks):
        assert following.x - one.x > 8 * len(one.tick)  # a letter of the report takes 8 units


def test_all_forms_say_when(dated: ReportData) -> None:
    assert dated.over_time is not None
    page, document = Page(html.render(dated)), rendered(markdown.render(dated))
    said = "in intervals of 1 day; 1 failure without a time."
    for text in (page.text, document.text):
        assert said in text
        assert "2026-05-08: 1" in text
        assert "2026-05-09" not in text
    drawings = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert [attributes["aria-labelledby"] for attributes in drawings][1] == "times-title times-words"
    assert len(drawings) == 4
    assert [text for level, text in page.headings if level == 2] == [
        text for level, text in document.headings if level == 2
    ]


def test_one_stretch_is_a_sentence_and_no_drawing(data: ReportData) -> None:
    for source in (html.render(data), markdown.render(data)):
        assert "All wrong answers were given within 1 minute from 2026-03-01 12:30 UTC." in source
        assert "Failures over time" not in source
    undated = build([replace(case, failed_at=None) for case in data.cases], data.scope, MADE)
    assert undated.over_time is None
    assert "Over time" not in html.render(undated)


def test_error_types_of_each_operation(data: ReportData) -> None:
    found = {one.label: (one.count, one.error_types) for one in data.errors_by_operation}
    assert found == {
        "extract (Extraction)": (3, {"ExtractionError": 3}),
        "search (Retrieval)": (2, {"RetrievalError": 2}),
        "no operation": (2, {"DeletionError": 1, "AnnotationError": 1}),
        "answer (Generation)": (1, {"ResponseError": 1}),
        "judge (Judge)": (1, {"LLMAsAJudgeError": 1}),
        "update (Update)": (1, {"UpdateError": 1}),
    }
    assert sum(one.count for one in data.errors_by_operation) == data.totals.attributed


def test_both_forms_have_the_heat_map(data: ReportData) -> None:
    page = Page(html.render(data))
    for tables in (page.tables, rendered(markdown.render(data)).tables):
        (table,) = [table for table in tables if table[0][-1] == "total"]
        assert table[1] == ["extract (Extraction)", "3", "", "", "", "", "", "", "3"]
        assert len(table) == 7
    shades = [
        attributes["class"] for tag, attributes in page.tags if (attributes.get("class") or "").startswith("heat-")
    ]
    assert shades[0] == f"heat-{LEVELS}"
    assert shades.count("heat-0") == 42 - 7


def test_the_heat_map_has_room_for_so_many() -> None:
    found = [
        OperationErrors(str(number), str(number), 100 - number, {"UpdateError": 100 - number}) for number in range(40)
    ]
    drawn = heat_map(found)
    assert (len(drawn.rows), drawn.hidden, drawn.kinds) == (MOST_BARS, 40 - MOST_BARS, ["UpdateError"])
    assert [row.cells[0].level for row in heat_map(found[:1]).rows] == [LEVELS]
    few = [*found[:1], OperationErrors("few", "few", 1, {"DeletionError": 1})]
    assert [[cell.level for cell in row.cells] for row in heat_map(few).rows] == [[5, 0], [0, 1]]


def test_hostile_names_of_operations_stay_texts(data: ReportData, tmp_path: Path) -> None:
    hostile = report(some(HOSTILE), tmp_path)
    dated = [
        build([replace(case, failed_at=START + timedelta(days=case.number)) for case in found.cases], found.scope, MADE)
        for found in (data, hostile)
    ]
    plain, page = (Page(html.render(found)) for found in dated)
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert not page.open
    named = [one.label for one in hostile.errors_by_operation]
    assert sum("<script>alert(1)</script>" in label for label in named) == 5
    plain, page = (rendered(markdown.render(found)) for found in dated)
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]


def test_words_of_lengths() -> None:
    assert words.moment(START, 3600) == "2026-05-04 10:20"
    assert words.moment(START, 86_400) == "2026-05-04"
