"""Sheets and names of elements in the terminal: every field, and what stands in place of a field that is empty."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.table import Table
from rich.text import Text

from api.cli.render import sheets
from api.cli.render.style import moment, operation_label, quoted, variable_label
from api.cli.render.text import (
    label_of,
    middle,
    name_of,
    one_line,
    operation_name,
    says_the_same,
    short,
    size_of,
    text_on_line,
)
from schema.kinds import OperationKind, Status, VariableKind
from store.contract.answers import Health, Stats
from tests.factory import TraceBuilder

AT = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
BUILDER = TraceBuilder("p")
SESSION = BUILDER.session("s1")
OPERATION = BUILDER.operation("o1")
VARIABLE = BUILDER.variable("v1", "tea at four", OPERATION)


def rows(sheet: Table) -> dict[str, str]:
    """The fields of a sheet."""
    names, values = (
        [cell.plain if isinstance(cell, Text) else str(cell) for cell in one.cells] for one in sheet.columns
    )
    assert len(set(names)) == len(names)
    return dict(zip(names, values, strict=True))


def test_the_sheet_of_a_trace() -> None:
    trace = replace(BUILDER.trace, created_at=AT, attributes='{"seed":7,"by":"Ada","none":null,"many":[1,2]}')
    stats = Stats(
        {"Trace": 1, "Session": 0, "Operation": 1200, "Variable": 3},
        {"Operation": {"Deletion": 200, "Retrieval": 1000}, "Variable": {}},
    )
    assert rows(sheets.trace(trace, stats)) == {
        "trace": "the trace",
        "id": trace.id,
        "external id": "trace",
        "source": "tests",
        "created": "2026-01-02 03:04:05.000006 UTC",
        "operations": "1,200 (1,000 Retrieval, 200 Deletion)",
        "variables": "3",
        ".seed": "7",
        ".by": "Ada",
        ".none": "null",
        ".many": "[1,2]",
    }
    bare = rows(sheets.trace(replace(trace, name=None, created_at=None, attributes="[1]"), Stats({}, {})))
    assert (bare["trace"], bare["attributes"], "created" in bare) == ("trace", "[1]", False)


def test_the_sheet_of_an_operation() -> None:
    full = replace(
        OPERATION,
        comment="why",
        started_at=AT,
        ended_at=AT.replace(second=6),
        location="app.py:3",
        status=Status.ERROR,
        sequence=0,
        attributes='{"a":"b"}',
    )
    assert rows(sheets.operation(full, SESSION)) == {
        "operation": "operation o1",
        "kind": "Update",
        "category": "update",
        "id": full.id,
        "external id": "o1",
        "comment": "why",
        "status": "error",
        "place in trace": "0",
        "session": "session s1 (conversation)",
        "started": "2026-01-02 03:04:05.000006 UTC",
        "ended": "2026-01-02 03:04:06.000006 UTC",
        "location": "app.py:3",
        ".a": "b",
    }
    assert sheets.operation(full, None).columns[1]._cells[6].style == "bold red"  # type: ignore[union-attr]
    empty = replace(OPERATION, name="", category=None, started_at=None, ended_at=None)
    shown = rows(sheets.operation(empty, replace(SESSION, name="", category=None)))
    assert (shown["operation"], shown["session"], shown["status"]) == ("Update", "s1", "ok")
    assert not {"category", "comment", "started", "ended", "location"} & shown.keys()
    assert "session" not in rows(sheets.operation(empty, None))


def test_the_sheet_of_a_variable() -> None:
    full = replace(
        VARIABLE,
        category="fact",
        class_name="Unit",
        version=3,
        occurrence=2,
        comment="why",
        revision_of="0" * 32,
        right=False,
        created_at=AT,
        location="app.py:3",
        size=2048,
        attributes='{"a":1}',
    )
    assert rows(sheets.variable(full, OPERATION, SESSION)) == {
        "variable": "v1",
        "kind": "MemoryUnit",
        "category": "fact",
        "class": "Unit",
        "version": "3, occurrence 2",
        "id": full.id,
        "external id": "v1",
        "comment": "why",
        "made by": f"operation o1 (Update)  {OPERATION.id[:8]}",
        "revision of": "0" * 32,
        "judged": "wrong",
        "place in trace": "0",
        "session": "session s1 (conversation)",
        "created": "2026-01-02 03:04:05.000006 UTC",
        "location": "app.py:3",
        "size": "2.0 KiB of text/plain",
        "hash": full.value_hash,
        ".a": "1",
    }
    outside = rows(sheets.variable(replace(full, occurrence=0, right=True), None, None))
    assert (outside["made by"], outside["version"], outside["judged"]) == ("from outside", "3", "right")
    assert "judged" not in rows(sheets.variable(VARIABLE, None, None))


def test_the_sheet_of_a_database() -> None:
    details: dict[str, Any] = {
        "freeBytes": 2048,
        "isSafe": True,
        "nodes": 12,
        "migrations": ["0001_a", "0002_b"],
        "none": [],
        "queue": {"waiting": 3, "deadLetters": 0},
        "indexes": {"a": "ONLINE", "b": "ONLINE", "c": "FAILED"},
        "stores": {
            "eu": {"projects": ["a", "b"], "engine": "neo4j", "version": "5", "uri": "bolt://eu"},
            "us": {"projects": ["c"], "engine": "sqlite", "version": "3", "path": "us.db"},
            "gone": {"projects": []},
        },
    }
    assert rows(sheets.health(Health("sqlite", "3.50", details))) == {
        "engine": "sqlite 3.50",
        "free bytes": "2.0 KiB",
        "is safe": "True",
        "nodes": "12",
        "migrations": "0001_a\n0002_b",
        "none": "none",
        "queue": "waiting 3, dead letters 0",
        "indexes": "2 ONLINE, 1 FAILED",
        "store eu": "neo4j 5 at bolt://eu, 2 projects",
        "store us": "sqlite 3 at us.db, 1 project",
        "store gone": "0 projects",
        "problems": "none",
    }
    ill = sheets.health(Health("sqlite", "3.50", {}, ["first\nproblem"]))
    assert rows(ill) == {"engine": "sqlite 3.50", "problem": "first problem"}


@pytest.mark.parametrize(
    ("text", "preview", "size", "lines"),
    [
        ("tea", "tea", 3, ["tea"]),
        ("whole", "wh", 5, ["whole"]),
        (None, "té", 3, ["té"]),
        (None, "té", 4, ["té", "… 1 byte more: memtrace value {id}"]),
        (None, "té", 2003, ["té", "… 2,000 bytes more: memtrace value {id}"]),
    ],
)
def test_the_text_of_a_variable_says_how_much_is_left(
    text: str | None, preview: str, size: int, lines: list[str]
) -> None:
    found = replace(VARIABLE, value=text, preview=preview, size=size)
    assert [one.plain for one in sheets.preview(found)] == [line.format(id=found.id[:8]) for line in lines]


@pytest.mark.parametrize(
    ("change", "label", "name"),
    [
        ({"name": "city"}, "city", "city"),
        ({"name": "city", "version": 1}, "city", "city"),
        ({"name": "city", "version": 2}, "city@2", "city@2"),
        ({"name": "city", "class_name": "Unit", "version": 3}, "Unit:city@3", "Unit:city@3"),
        ({"name": "add output"}, "", "“tea at four”"),
        ({"name": "0123456789abcdef0123456789abcdef"}, "", "“tea at four”"),
        ({"name": "memoryunit"}, "", "“tea at four”"),
        ({"name": "n" * 40}, "n" * 40, "n" * 40),
        ({"name": "x" * 30 + "y" * 30}, "x" * 20 + "…" + "y" * 19, "x" * 20 + "…" + "y" * 19),
        ({"name": "add output", "preview": '{"memory": "tea"}'}, "", "“tea”"),
    ],
)
def test_a_variable_is_called_by_its_name_or_its_text(change: dict[str, Any], label: str, name: str) -> None:
    found = replace(VARIABLE, **change)
    assert (label_of(found), name_of(found)) == (label, name)
    shown = f"MemoryUnit {found.id[:8]}" + (f" {label}" if label else "")
    assert variable_label(found).plain == shown


@pytest.mark.parametrize(
    ("change", "name", "label"),
    [
        ({}, "operation o1", "operation o1 (Update)"),
        ({"name": "Update unit"}, "Update unit", "Update unit"),
        ({"name": "", "category": "merge"}, "merge", "merge (Update)"),
        ({"name": "", "category": None, "kind": OperationKind.RETRIEVAL}, "Retrieval", "Retrieval"),
        ({"name": "x" * 41}, "x" * 20 + "…" + "x" * 19, "x" * 20 + "…" + "x" * 19 + " (Update)"),
    ],
)
def test_an_operation_is_called_by_its_name_category_or_kind(change: dict[str, Any], name: str, label: str) -> None:
    found = replace(OPERATION, **change)
    assert (operation_name(found), operation_label(found).plain) == (name, label)


@pytest.mark.parametrize(
    ("name", "quote", "same"),
    [
        ("tea at four", "tea at four", True),
        ("tea", "tea", True),
        ("tea", "tea at four", False),
        ("tea at f", "tea at four", True),
        ("tea at ", "tea at four", False),
        ("we had tea at four", "tea at four", True),
        ("…at four o'clock", "tea at four o'clock", True),
        ("tea at s…o'clock", "tea at five", False),
        ("coffee at", "tea at four", False),
        ("", "tea", False),
    ],
)
def test_a_name_that_the_quote_repeats_is_found(name: str, quote: str, same: bool) -> None:
    assert says_the_same(name, quote) is same


@pytest.mark.parametrize(
    ("text", "width", "cut"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abc…fg"),
        ("abcdefgh", 5, "ab…gh"),
        ("abcdefgh", 1, "…"),
        ("a\nb", 3, "a b"),
    ],
)
def test_a_middle_is_cut_only_where_the_text_is_longer(text: str, width: int, cut: str) -> None:
    assert middle(text, width) == cut
    assert text_on_line(text, width) == cut


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        (" a  b ", 3, "a b"),
        ("a b" + " " * 40, 3, "a b"),
        ("a b" + " " * 40 + "c", 4, "a b…"),
    ],
)
def test_a_line_is_cut_only_where_the_text_is_longer(text: str, width: int, line: str) -> None:
    assert one_line(text, width) == line


def test_times_ids_and_quotes() -> None:
    assert (moment(AT).plain, moment(None).plain) == ("2026-01-02 03:04:05", "")
    assert (short("0123456789"), short("01")) == ("01234567", "01")
    assert (quoted("tea", 5).plain, quoted("teas", 5).plain) == ("“tea”", "“te…”")
    assert [size_of(count) for count in (1024, 1024**2 - 1, 1024**2, 1024**3, 1024**5)] == [
        "1.0 KiB",
        "1024.0 KiB",
        "1.0 MiB",
        "1.0 GiB",
        "1024.0 TiB",
    ]


def test_each_kind_of_variable_and_operation_is_shown() -> None:
    for kind in VariableKind:
        assert rows(sheets.variable(replace(VARIABLE, kind=kind), None, None))["kind"] == kind.value
    for work in OperationKind:
        assert rows(sheets.operation(replace(OPERATION, kind=work), None))["kind"] == work.value
