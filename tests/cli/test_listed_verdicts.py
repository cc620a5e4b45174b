"""The same verdicts of a failure in every form of the list."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from api.cli.context import DEFAULT_PROJECT
from schema.kinds import HUMAN_METHOD, ErrorType, VariableKind
from tests.cli.conftest import Cli
from tests.factory import TraceBuilder, moment

REASONS = ["by the rules of before", "by the rules of now", "says Ada", "says Ben"]


@pytest.fixture
def cli_with_verdicts(stored: Callable[[TraceBuilder], Cli]) -> Cli:
    trace = TraceBuilder(DEFAULT_PROJECT, "verdicts")
    failure = trace.failure(trace.variable("question", "Which pet?", kind=VariableKind.QUERY))
    before = trace.attribution(failure, "flow", error_type=ErrorType.RETRIEVAL, reason=REASONS[0])
    trace.attributions += [
        replace(before, id="2" * 32, created_at=moment(2), error_type=ErrorType.UPDATE, reason=REASONS[1]),
        replace(before, id="3" * 32, created_at=moment(3), method=HUMAN_METHOD, author="ada", reason=REASONS[2]),
        replace(before, id="4" * 32, created_at=moment(4), method=HUMAN_METHOD, author="ben", reason=REASONS[3]),
    ]
    return stored(trace)


@pytest.mark.parametrize("named", [[], ["Which pet?"]])
@pytest.mark.parametrize(("options", "first"), [([], 1), (["--all-verdicts"], 0)])
def test_replaced_verdicts_are_listed_only_if_asked_for(
    cli_with_verdicts: Cli, named: list[str], options: list[str], first: int
) -> None:
    wanted = REASONS[first:]
    table = cli_with_verdicts("failures", *named, *options).out
    assert [one for one in REASONS if one in table] == wanted
    (listed,) = cli_with_verdicts("failures", *named, *options, "--json").json
    assert [one["reason"] for one in listed["verdicts"]] == wanted
    (row,) = csv.DictReader(io.StringIO(cli_with_verdicts("failures", *named, *options, "--format", "csv").out))
    assert [one["reason"] for one in json.loads(row["verdicts"])] == wanted
