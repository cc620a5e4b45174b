"""`memtrace operations` and `memtrace answers` list what traces hold, in their order, filtered and bounded."""

from __future__ import annotations

from collections.abc import Callable

from api.cli.context import DEFAULT_PROJECT
from schema.kinds import OperationKind, Status, VariableKind
from tests.cli.conftest import Cli
from tests.contract.samples import assistant
from tests.factory import TraceBuilder


def test_operations_by_status_and_kind(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = assistant(DEFAULT_PROJECT)
    notes = stored(trace)
    listed = notes("operations", "--json").json
    assert [one["externalId"] for one in listed] == [one.external_id for one in trace.operations]
    failed = notes("operations", "--status", "error", "--json").json
    assert [one["id"] for one in failed] == [one.id for one in trace.operations if one.status is Status.ERROR] != []
    kinds = [one["kind"] for one in notes("operations", "--kind", "retrieval", "--kind", "Update", "--json").json]
    wanted = {OperationKind.RETRIEVAL, OperationKind.UPDATE}
    assert kinds == [one.kind.value for one in trace.operations if one.kind in wanted]
    out = notes("operations", "--status", "error").out
    assert failed[0]["id"][:8] in out
    assert "error" in out


def test_answers_of_all_traces_or_of_one(stored: Callable[[TraceBuilder], Cli]) -> None:
    first, second = assistant(DEFAULT_PROJECT), TraceBuilder(DEFAULT_PROJECT, "second")
    second.variable("told", "Tuesday", kind=VariableKind.ANSWER)
    stored(first)
    cli = stored(second)
    every = cli("answers", "--json").json
    assert {one["kind"] for one in every} == {"Answer"}
    assert {one["traceId"] for one in every} == {first.trace.id, second.trace.id}
    (only,) = cli("answers", "--trace", "second", "--json").json
    assert only["value"] == "Tuesday"
    assert "Tuesday" in cli("answers").out


def test_a_bound_says_that_there_is_more(stored: Callable[[TraceBuilder], Cli]) -> None:
    cli = stored(assistant(DEFAULT_PROJECT))
    bounded = cli("operations", "--limit", "1", "--json")
    assert len(bounded.json) == 1
    assert "--limit 0" in bounded.err
    assert len(cli("operations", "--limit", "0", "--json").json) > 1


def test_nothing_to_list(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = TraceBuilder(DEFAULT_PROJECT, "bare")
    trace.variable("m", "hello", kind=VariableKind.MESSAGE)
    cli = stored(trace)
    assert cli("operations", "--json").json == cli("answers", "--json").json == []
    assert "no answers" in cli("answers").err
