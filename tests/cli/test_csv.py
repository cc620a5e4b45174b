"""`--format csv` prints tables for spreadsheets, which never take recorded text for a formula."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

import pytest

from api.cli.context import DEFAULT_PROJECT
from attribution.verdicts.failure_columns import FAILURE_COLUMNS, VERDICT_COLUMNS
from schema.kinds import HUMAN_METHOD, ErrorType, VariableKind
from tests.cli.conftest import Cli, Result
from tests.contract.samples import assistant
from tests.factory import TraceBuilder

COMMANDS = [("failures",), ("answers",), ("blame", "--by", "operation")]


def rows(result: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(result.out, newline="")))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_cells_are_the_members_of_the_json(judged: Cli, command: tuple[str, ...]) -> None:
    table, listed = rows(judged(*command, "--format", "csv")), judged(*command, "--format", "json").json
    assert judged(*command, "--json").json == listed
    assert len(table) == len(listed) > 0
    for row, document in zip(table, listed, strict=True):
        assert set(document) <= set(row)
        for name, value in document.items():
            if name == "verdicts":
                continue
            cell = "" if value is None else value if isinstance(value, str) else json.loads(row[name])
            assert cell == (row[name] if isinstance(cell, str) else value), name


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_it_is_as_rfc_4180_has_it_and_nothing_else_is_on_standard_output(judged: Cli, command: tuple[str, ...]) -> None:
    process = judged.process(*command, "--format", "csv")
    out, err = process.communicate()
    assert process.returncode == 0, err
    text = out.decode()
    assert text.endswith("\r\n")
    assert "\n" not in text.replace("\r\n", "")
    shape = {len(row) for row in csv.reader(io.StringIO(text, newline=""), strict=True)}
    assert len(shape) == 1


def test_a_failure_stands_with_the_verdict_that_counts(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = assistant(DEFAULT_PROJECT)
    (failure,) = trace.failures
    search = trace.operation("search", name="search")
    trace.attribution(failure, HUMAN_METHOD, error_type=ErrorType.DELETION, author="Ada", operation_id=search.id)
    trace.attribution(failure, "later", error_type=ErrorType.RESPONSE)
    result = stored(trace)("failures", "--format", "csv")
    (row,) = rows(result)
    assert list(row) == [*(one.key for one in (*FAILURE_COLUMNS, *VERDICT_COLUMNS)), "verdict", "verdicts"]
    assert (row["errorType"], row["author"], row["operationExternalId"]) == ("DeletionError", "Ada", "search")
    assert row["verdict"] == "DeletionError"
    assert json.loads(row["goldAnswers"]) == list(failure.gold_answers)
    assert row["createdAt"].endswith("Z")
    said = json.loads(row["verdicts"])
    assert {"DeletionError", "ResponseError"} <= {one["errorType"] for one in said}
    assert all(list(one) == ["id", *(column.key for column in VERDICT_COLUMNS)] for one in said)


def test_a_recorded_text_can_not_be_a_formula(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = TraceBuilder(DEFAULT_PROJECT, "formulas")
    texts = ['=HYPERLINK("http://x")', "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "a=1", "two\nlines, and a comma", "Zoë"]
    for number, text in enumerate(texts):
        trace.variable(f"answer {number}", text, kind=VariableKind.ANSWER)
    shown = [row["value"] for row in rows(stored(trace)("answers", "--format", "csv"))]
    assert shown == [f"'{text}" for text in texts[:6]] + texts[6:]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_where_nothing_is_found_the_header_stands_alone(
    stored: Callable[[TraceBuilder], Cli], command: tuple[str, ...]
) -> None:
    trace = TraceBuilder(DEFAULT_PROJECT, "bare")
    trace.variable("m", "hello", kind=VariableKind.MESSAGE)
    (header,) = stored(trace)(*command, "--format", "csv").out.splitlines()
    assert header.split(",")[0] == "id"


def test_a_bound_says_on_standard_error_that_there_is_more(judged: Cli) -> None:
    some = judged("answers", "--format", "csv", "--limit", "1")
    assert (len(rows(some)), "--limit 0" in some.err) == (1, True)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_formats_that_are_none_or_contradict_each_other_are_refused(cli: Cli, command: tuple[str, ...]) -> None:
    refused = cli(*command, "--format", "xml", code=2)
    assert "--format: there is no such format; there is table, json, jsonl, csv, markdown" in refused.err
    refused = cli(*command, "--format", "csv", "--json", code=2)
    assert "--json is short for --format json" in refused.err
    assert refused.out == ""


def test_it_is_written_page_by_page(judged: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [judged(command, "--format", "csv").out for command in ("failures", "answers")]
    monkeypatch.setattr("api.cli.failures._PAGE", 1)
    monkeypatch.setattr("api.cli.listed._AT_ONCE", 1)
    written: list[bytes] = []
    monkeypatch.setattr("api.cli.csv_output.write_bytes", written.append)
    for command, before in zip(("failures", "answers"), whole, strict=True):
        written.clear()
        assert judged(command, "--format", "csv").out == ""
        assert b"".join(written).decode().replace("\r\n", "\n") == before
        assert len(written) == len(judged(command, "--json").json) + 1
