"""A column of a failure is declared once, and every interface reads the declaration."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import msgspec
import pytest

from api.cli import documents
from api.graphql.schema import make_schema
from attribution.report import words
from attribution.report.markdown.failure import case_lines
from attribution.verdicts.failure_columns import FAILURE_COLUMNS, LISTED, VERDICT_COLUMNS, FailureRow, is_stored
from schema.kinds import ErrorType
from schema.models import Failure
from tests.attribution.report.memory import gathered, some
from tests.factory import TraceBuilder


@pytest.fixture
def row() -> FailureRow:
    trace = TraceBuilder("project")
    question, answer = trace.variable("question", "Which pot?"), trace.variable("answer", "The red one")
    operation = trace.operation("search")
    failure = trace.failure(question, answer)
    verdict = trace.attribution(failure, operation_id=operation.id)
    return FailureRow(failure, [verdict], question, answer, {operation.id: operation})


def test_all_fields_of_a_failure_are_declared_in_their_order() -> None:
    assert [column.name for column in FAILURE_COLUMNS if is_stored(column)] == [one.name for one in fields(Failure)]


def test_the_json_has_every_column_and_the_verdicts(row: FailureRow) -> None:
    document = documents.failure(row)
    assert list(document) == [*(column.key for column in FAILURE_COLUMNS), "verdict", "verdicts"]
    assert document["verdict"] == row.verdicts[0].error_type
    assert (document["questionExternalId"], document["answerExternalId"]) == ("question", "answer")
    told = msgspec.json.decode(msgspec.json.encode({column.key: column.as_json(row) for column in FAILURE_COLUMNS}))
    assert told | {"attributes": {}} == {name: value for name, value in document.items() if name in told}


def test_graphql_has_every_column() -> None:
    found = make_schema().get_type_by_name("Failure")
    assert found is not None
    described = {field.python_name: field.description for field in getattr(found, "fields", [])}
    for column in FAILURE_COLUMNS:
        assert described[column.name] == column.description


def test_reports_list_every_column_with_a_title(tmp_path: Path) -> None:
    case = next(one for one in gathered([some()], tmp_path) if one.error_type is not None)
    listed = words.listed(case)
    assert [title for title, _ in listed] == [column.title for column in LISTED]
    assert {"Judged wrong by", "Recorded"} <= {title for title, _ in listed}
    lines = list(case_lines(case))
    for title, text in listed:
        assert any(line.startswith(f"- {title.lower()}: ") and text[:8] in line for line in lines), (title, lines)


def test_a_value_reads_the_same_from_a_failure_and_from_its_json(row: FailureRow) -> None:
    for column in LISTED:
        assert column.text(column.read(row)) == column.text(column.as_json(row)) != ""


def test_columns_of_the_verdict_that_counts(row: FailureRow) -> None:
    told = {column.key: column.as_json(row) for column in VERDICT_COLUMNS}
    assert told["errorType"] == ErrorType.RETRIEVAL
    assert told["operationExternalId"] == "search"
    assert told["onEarlierGold"] is False
    without = FailureRow(row.failure)
    assert {column.as_json(without) for column in VERDICT_COLUMNS} == {None}
