"""`memtrace operations` and `memtrace answers`: order, filters and bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from api.cli.context import DEFAULT_PROJECT
from attribution.verdicts.stored import every_failure
from schema.kinds import HUMAN_METHOD, ErrorType, OperationKind, Status, VariableKind
from schema.models import Failure
from store.contract.protocol import GraphStore
from tests.cli.conftest import SAMPLE, Cli
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


@pytest.mark.parametrize("command", ["operations", "closure"])
def test_a_kind_that_is_none_is_named_without_noise(cli: Cli, command: str) -> None:
    refused = cli(command, *(["x"] if command == "closure" else []), "--kind", "Nonsense", code=2)
    assert "Invalid value for '--kind': 'Nonsense' is not one of" in refused.err


def test_nothing_to_list(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = TraceBuilder(DEFAULT_PROJECT, "bare")
    trace.variable("m", "hello", kind=VariableKind.MESSAGE)
    cli = stored(trace)
    assert cli("operations", "--json").json == cli("answers", "--json").json == []
    assert "no answers" in cli("answers").err


def test_answers_stand_beside_their_questions(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = assistant(DEFAULT_PROJECT)
    reply = trace.operation("reply", kind=OperationKind.GENERATION)
    others = [trace.variable(f"q{number}", f"Which {number}?", kind=VariableKind.QUERY) for number in range(2)]
    trace.use(reply, *others)
    trace.variable("both", "either", by=reply, kind=VariableKind.ANSWER)
    trace.variable("alone", "Tuesday", kind=VariableKind.ANSWER)
    cli = stored(trace)
    question = next(one for one in trace.variables if one.external_id == "question")
    found = {one["externalId"]: (one["questionId"], one["question"]) for one in cli("answers", "--json").json}
    assert found == {
        "answer": (question.id, "Where does Mia live?"),
        "both": (None, None),
        "alone": (None, None),
    }
    lines = cli("answers").out.splitlines()
    assert ["Where does Mia live?" in line and "In Oslo" in line for line in lines] == [False, True, False, False]
    assert ["one of 2" in line for line in lines] == [False, False, True, False]
    assert "not recorded" in lines[3]


def test_answers_say_which_were_judged_wrong_and_why(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = assistant(DEFAULT_PROJECT)
    reply = trace.operation("reply", kind=OperationKind.GENERATION)
    for name in ("right", "new"):
        trace.variable(name, name, by=reply, kind=VariableKind.ANSWER)
    (failure,) = trace.failures
    trace.attribution(failure, HUMAN_METHOD, error_type=ErrorType.DELETION, author="Ada")
    trace.attribution(failure, "later", error_type=ErrorType.RESPONSE)
    cli = stored(trace)
    question = next(one for one in trace.variables if one.external_id == "question")
    new = cli("fail", "new", "--question", question.id, "--gold", "old", "--json").json
    found = {one["externalId"]: (one["failure"], one["verdict"]) for one in cli("answers", "--json").json}
    assert found == {"answer": (failure.id, "DeletionError"), "right": (None, None), "new": (new["id"], None)}
    lines = cli("answers").out.splitlines()
    assert [failure.id[:8] in line and "Deletion error" in line for line in lines] == [False, True, False, False]
    assert [new["id"][:8] in line and "none yet" in line for line in lines] == [False, False, False, True]


def test_a_trace_shows_its_first_steps_and_counts_them_by_session(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = assistant(DEFAULT_PROJECT)
    cli = stored(trace)
    counts = [sum(one.session_id == session.id for one in trace.operations) for session in trace.sessions]
    document = cli("trace", "assistant", "--json").json
    assert [session["operations"] for session in document["sessions"]] == counts
    shown = cli("trace", "assistant")
    places = [shown.out.index(one.id[:8]) for one in trace.operations]
    assert places == sorted(places)
    assert "memtrace operations" not in shown.err
    few = cli("trace", "assistant", "--limit", "2")
    assert [one.id[:8] in few.out for one in trace.operations] == [True] * 2 + [False] * (len(trace.operations) - 2)
    assert f"memtrace operations --trace {trace.trace.id[:8]}" in few.err


def test_failures_end_with_what_to_do_next(cli: Cli) -> None:
    cli("import", SAMPLE)
    assert cli("failures", "--json").err == ""
    assert "memtrace attribute --all" in cli("failures").err
    assert "memtrace attribute --trace assistant-sample" in cli("failures", "--trace", "assistant-sample").err
    first, *others = cli("failures", "--json").json
    cli("attribute", *(part for one in others for part in ("--failure", one["id"])))
    assert f"memtrace attribute {first['id'][:8]}" in cli("failures").err
    cli("attribute", "--all")
    assert "memtrace closure" in cli("failures").err


def test_traces_of_one_name_are_told_apart_and_ids_are_not_cut(
    stored: Callable[[TraceBuilder], Cli], monkeypatch: pytest.MonkeyPatch
) -> None:
    traces = [TraceBuilder(DEFAULT_PROJECT, name) for name in ("monday", "tuesday")]
    for trace in traces:
        trace.trace = replace(trace.trace, name="the memory of an agent whose name is long")
        cli = stored(trace)
    listed = cli("traces").out.splitlines()[1:]
    assert sorted(one.split()[0] for one in listed) == sorted(one.trace.id[:8] for one in traces)
    monkeypatch.setenv("COLUMNS", "160")
    wide = cli("traces").out
    assert "(monday)" in wide
    assert "(tuesday)" in wide


def test_the_failures_of_a_trace_are_read_once(
    stored: Callable[[TraceBuilder], Cli], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        trace = TraceBuilder(DEFAULT_PROJECT, name)
        unit = trace.variable("unit", "x")
        for number in range(5):
            trace.wrong_answer(f"{name} {number}", question="?", read=unit, context="c", answer=f"{name} {number}")
        cli = stored(trace)
    read: list[str | None] = []

    async def counted(store: GraphStore, trace_id: str | None) -> list[Failure]:
        read.append(trace_id)
        return await every_failure(store, trace_id)

    monkeypatch.setattr("attribution.verdicts.stored.every_failure", counted)
    monkeypatch.setattr("api.cli.listing._AT_ONCE", 2)
    found = cli("answers", "--wrong", "--json").json
    assert len(found) == 10
    assert len(read) == len(set(read)) == 2
