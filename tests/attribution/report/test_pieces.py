"""What a report says of pieces: where each ended, how many were lost, and by what."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from attribution.report import html, markdown
from attribution.report.model import Pieces, ReportData
from schema.kinds import ErrorType, QuestionKind
from tests.attribution.report.memory import Memory, report
from tests.attribution.report.pages import Page, rendered

HOSTILE = '<script>alert("{}")</script>|*a*\n# b'


def pieces_of(label: str, folder: Path) -> ReportData:
    memory = Memory(label=label)
    memory.fail(ErrorType.UPDATE)
    memory.lose_pieces()
    return report(memory, folder)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    return pieces_of("{}", tmp_path_factory.mktemp("pieces"))


def test_pieces_are_counted_beside_failures(found: ReportData) -> None:
    assert found.pieces is not None
    told = found.pieces
    assert (told.failures, told.total, told.lost, told.reached) == (1, 5, 3, 1)
    assert [(one.label, one.count, one.error_types) for one in told.by_operation] == [
        ("search (Retrieval)", 2, {"RetrievalError": 2}),
        ("extract (Extraction)", 1, {"ExtractionError": 1}),
    ]
    keys = {case.operation.key for case in found.cases if case.operation}
    assert told.by_operation[0].key in keys
    assert sum(one.count for one in found.errors_by_operation) == 2
    assert [case.question_kind for case in found.cases if case.losses] == [QuestionKind.SEVERAL]


def test_all_forms_tell_of_pieces(found: ReportData) -> None:
    said = "1 failure needed 5 pieces of evidence: 3 lost, 1 reached the answer, and of 1 no operation is known"
    ends = [
        ("piece 0", "lost at search (Retrieval error, confidence 0.90)"),
        ("piece 1", "lost at search (Retrieval error, confidence 0.80)"),
        ("piece 2", "lost at extract (Extraction error, confidence 0.70)"),
        ("piece 3", "reached the answer (confidence 1.00)"),
        ("piece 4", "unknown where: because"),
    ]
    for page in (Page(html.render(found)), rendered(markdown.render(found))):
        text = " ".join(page.text.split())
        assert said in text
        for piece, end in ends:
            assert text.index(piece) < text.index(end)
        (table,) = [one for one in page.tables if ["search (Retrieval)", "", "2", "2"] in one]
        assert table[1:] == [["search (Retrieval)", "", "2", "2"], ["extract (Extraction)", "1", "", "1"]]
        assert "Pieces of what the answers needed" in [title for _, title in page.headings]
    again = msgspec.json.decode(msgspec.json.encode(found), type=ReportData)
    assert again.pieces == found.pieces
    assert again.cases == found.cases


def test_one_piece_a_failure_needs_no_table_of_its_own(found: ReportData) -> None:
    (several,) = [case for case in found.cases if case.losses]
    single = msgspec.structs.replace(several, losses=several.losses[:1])
    told = Pieces(
        failures=1, total=1, lost=1, reached=0, by_operation=found.pieces.by_operation if found.pieces else []
    )
    data = msgspec.structs.replace(found, cases=[single], pieces=told, families=[])
    for page in (Page(html.render(data)), rendered(markdown.render(data))):
        assert "1 failure needed 1 piece of evidence: 1 lost, 0 reached the answer." in " ".join(page.text.split())
        assert [table for table in page.tables if ["search (Retrieval)", "", "2", "2"] in table] == []


def test_without_pieces_nothing_is_said_of_them(tmp_path: Path) -> None:
    memory = Memory()
    memory.fail(ErrorType.UPDATE)
    data = report(memory, tmp_path)
    assert data.pieces is None
    for text in (html.render(data), markdown.render(data)):
        assert "ieces of what" not in text


def test_hostile_pieces_are_only_text(tmp_path: Path) -> None:
    data = pieces_of(HOSTILE, tmp_path)
    page, document = Page(html.render(data)), rendered(markdown.render(data))
    assert not page.open
    for one in (page, document):
        assert "script" not in {tag for tag, _ in one.tags}
        assert [title for _, title in one.headings if title.strip() == "b"] == []
        assert 'alert("piece 0")' in one.text
