"""Which verdicts of a failure the table shows."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from api.cli.render import tables
from attribution.verdicts.failure_columns import FailureRow
from schema.kinds import VariableKind
from tests.factory import TraceBuilder


def test_a_failure_shows_the_newest_verdict_of_each_method_and_person() -> None:
    trace = TraceBuilder("shop", "verdicts")
    question = trace.variable("question", "Which pet?", kind=VariableKind.QUERY)
    failure = trace.failure(question)
    first = trace.attribution(failure, "flow")
    verdicts = [
        replace(first, reason="by the rules of before"),
        replace(first, id="2", reason="by the rules of now"),
        replace(first, id="3", method="human", author="ada", reason="says Ada"),
        replace(first, id="4", method="human", author="ben", reason="says Ben"),
    ]
    out = io.StringIO()
    Console(file=out, width=200).print(tables.failure(FailureRow(failure, verdicts)))
    shown = [said in out.getvalue() for said in ("rules of before", "rules of now", "says Ada", "says Ben")]
    assert shown == [False, True, True, True]
