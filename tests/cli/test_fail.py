"""`memtrace fail` records a wrong answer, and finds the question in the graph; `memtrace unfail` withdraws it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from api.cli.context import DEFAULT_PROJECT
from schema.control import AuditEntry
from schema.kinds import OperationKind, Origin, VariableKind
from store.open import open_database
from tests.cli.conftest import Cli
from tests.contract.samples import assistant
from tests.factory import TraceBuilder
from tests.queue.sets import event_line


def _chat(*questions: str, kind: VariableKind = VariableKind.QUERY) -> TraceBuilder:
    """A trace whose answer was made from these questions."""
    trace = TraceBuilder(DEFAULT_PROJECT, "chat")
    asked = [trace.variable(f"q{number}", text, kind=kind) for number, text in enumerate(questions)]
    step = trace.operation("reply", kind=OperationKind.GENERATION)
    trace.use(step, *asked)
    said = trace.variable("said", "a cat", by=step, kind=VariableKind.ANSWER)
    trace.derive(said, *asked, by=step)
    return trace


async def _audit_log(cli: Cli) -> Sequence[AuditEntry]:
    async with await open_database(cli.store) as database:
        return (await database.records(DEFAULT_PROJECT).audit()).items


def test_a_wrong_answer_is_a_failure_in_one_call(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = _chat("Which pet?")
    told = trace.variable("told", "I have a dog", kind=VariableKind.MESSAGE)
    cli = stored(trace)
    said = ("--gold", "a dog", "--gold", "Bo", "--evidence", told.id[:8], "--comment", "a user wrote")
    failure = cli("fail", trace.variables[1].id[:10], *said, "--json").json
    assert (failure["question"], failure["prediction"]) == ("Which pet?", "a cat")
    assert (failure["questionExternalId"], failure["answerExternalId"]) == ("q0", "said")
    assert failure["goldAnswers"] == ["a dog", "Bo"]
    assert failure["evidenceIds"] == [told.id]
    assert failure["origin"] == "user"
    assert failure["attributes"] == {"author": "command line", "comment": "a user wrote"}
    assert cli("failures", "--json").json == [failure]
    (entry,) = asyncio.run(_audit_log(cli))
    assert (entry.action, entry.actor, entry.target) == ("recordFailure", "command line", failure["id"])
    assert entry.outcome == "ok"


def test_a_known_failure_takes_what_is_added(stored: Callable[[TraceBuilder], Cli]) -> None:
    cli = stored(_chat("Which pet?"))
    shown = cli("fail", "said", "--evidence", "q0", "--comment", "first")
    (before,) = cli("failures", "--json").json
    assert before["id"][:8] in shown.out
    assert f"memtrace why {before['id'][:8]}" in shown.err
    after = cli("fail", "said", "--gold", "a dog", "--json").json
    assert after == {**before, "goldAnswers": ["a dog"]}
    assert after["attributes"]["comment"] == "first"
    assert cli("failures", "--json").json == [after]


def test_a_verdict_on_an_earlier_gold_answer_is_marked_and_gives_way(stored: Callable[[TraceBuilder], Cli]) -> None:
    cli = stored(_chat("Which pet?"))
    mark = "on an earlier gold answer"

    def told(gold: str) -> list[tuple[str, bool]]:
        cli("fail", "said", "--gold", gold)
        (failure,) = cli("failures", "--json").json
        return [(one["method"], one["onEarlierGold"]) for one in failure["verdicts"]]

    failure = cli("fail", "said", "--gold", "a dog", "--json").json["id"]
    assert [one["onEarlierGold"] for one in cli("attribute", "--all", "--json").json] == [False]
    cli("verdict", failure, "--type", "AnnotationError", "--reason", "it is a dog", "--author", "ada")
    assert mark not in cli("failures").out
    assert told("a parrot") == [("flow", True), ("human", True)]
    shown = cli("failures")
    assert shown.out.count(mark) == 2
    assert "memtrace attribute" in shown.err
    assert mark in cli("report").out
    # A verdict on an earlier gold answer counts only without any other verdict, whoever gave it.
    assert cli("answers", "--json").json[0]["verdict"] == "AnnotationError"
    cli("attribute", "--all")
    assert told("a parrot") == [("human", True), ("flow", False)]
    assert cli("answers", "--json").json[0]["verdict"] != "AnnotationError"
    # If an earlier gold answer is set again, the verdicts on this gold answer count again.
    assert told("a dog") == [("flow", False), ("human", False)]
    assert cli("report", "--json").json["cases"][0]["onEarlierGold"] is False
    assert cli("answers", "--json").json[0]["verdict"] == "AnnotationError"
    (again,) = cli("attribute", "--all", "--gold-free", "--json").json
    cli("fail", "said", "--gold", "Bo")
    verdicts = {one["id"]: one for one in cli("failures", "--json").json[0]["verdicts"]}
    assert verdicts[again["id"]]["onEarlierGold"] is False


def test_a_variable_may_be_called_by_its_name(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = _chat("Which pet?")
    messages = [
        trace.variable(f"{number}" * 32, "I have a dog", name="m3", version=number, kind=VariableKind.MESSAGE)
        for number in (1, 2)
    ]
    step = trace.operation("x" * 32, name="search", kind=OperationKind.RETRIEVAL)
    trace.variable("y" * 32, "dogs", by=step, name="search")
    alone = trace.variable("z" * 32, "Bo", name="the dog")
    cli = stored(trace)
    refused = cli("fail", "said", "--evidence", "m3", code=2).err
    assert all(f"--evidence {one.id[:8]} # variable m3@{one.version} of trace" in refused for one in messages)
    assert cli("fail", "said", "--evidence", "m3@2", "--json").json["evidenceIds"] == [messages[1].id]
    assert cli("value", "the dog").out == "Bo"
    assert cli("closure", "the dog", "--json").json["roots"] == [alone.id]
    assert cli("unfail", "said", "--yes").out == ""
    assert "no variable 'the cat'" in cli("value", "the cat", code=3).err
    assert step.id in cli("operation", "search").out


def test_the_question_comes_from_the_past_or_is_a_message(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = TraceBuilder(DEFAULT_PROJECT, "steps")
    note = trace.variable("note", "be short", kind=VariableKind.MESSAGE)
    asked = trace.variable("asked", "Which pet?", kind=VariableKind.QUERY)
    search = trace.operation("search", kind=OperationKind.RETRIEVAL)
    trace.use(search, asked)
    context = trace.variable("context", "cats", by=search, kind=VariableKind.CONTEXT)
    trace.derive(context, asked, by=search)
    reply = trace.operation("reply", kind=OperationKind.GENERATION)
    trace.use(reply, context, note)
    said = trace.variable("said", "a cat", by=reply, kind=VariableKind.ANSWER)
    trace.derive(said, context, note, by=reply)
    assert stored(trace)("fail", "said", "--json").json["questionExternalId"] == "asked"
    cli = stored(_chat("Which pet?", kind=VariableKind.MESSAGE))
    assert cli("fail", "said", "--trace", "chat", "--json").json["questionExternalId"] == "q0"


def test_a_question_that_the_graph_does_not_say_is_asked_for(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = _chat("Which pet?", "What colour?")
    trace.variable("alone", "blue", kind=VariableKind.ANSWER)
    cli = stored(trace)
    several = cli("fail", "said", code=2)
    assert "--question ID" in several.err
    assert all(one.id[:8] in several.err for one in trace.variables[:2])
    assert "--question ID" in cli("fail", "alone", code=2).err
    assert cli("failures", "--json").json == []
    for answer in ("said", "alone"):
        assert cli("fail", answer, "--question", "q1", "--json").json["question"] == "What colour?"


def test_a_question_inside_a_template_is_found_by_its_own_words(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = _chat("Question: Which pet lives in the shed?")
    other = trace.variable("other", "Question: Which pet sings?", kind=VariableKind.QUERY)
    for number in range(2):
        step = trace.operation(f"reply {number}", kind=OperationKind.GENERATION)
        trace.use(step, other)
        trace.derive(trace.variable(f"sang {number}", "a dog", by=step, kind=VariableKind.ANSWER), other, by=step)
    cli = stored(trace)
    failure = cli("fail", "Which pet lives in the shed?", "a hen", "--json").json
    assert (failure["answerExternalId"], failure["questionExternalId"]) == ("said", "q0")
    assert "2 answered questions have these words" in cli("fail", "Which pet sings?", "a hen", code=2).err
    assert "no failure or answer" in cli("fail", "shed", "a hen", code=3).err


def test_words_of_many_traces_are_not_looked_for_in_a_part_of_them(cli: Cli, tmp_path: Path) -> None:
    text = {"name": "text", "version": 0, "mediaType": "text/plain"}
    asked = {**text, "variable": "q", "kind": "Query", "value": "Question: Which pet lives in the shed?"}
    lines = [event_line("variable", f"t{number}", 1, **asked) for number in range(6)]
    lines += [event_line("operationStarted", "t0", 2, operation="o", name="reply", kind="Generation")]
    lines += [event_line("variable", "t0", 3, variable="a", kind="Answer", value="a dog", operation="o", **text)]
    lines += [event_line("derived", "t0", 4, derivation="d", target="a", source="q", operation="o", kind="Derivation")]
    (tmp_path / "six.ndjson").write_bytes(b"\n".join(lines))
    cli("import", "six.ndjson")
    asked_for = ("fail", "Which pet lives in the shed?", "a hen")
    assert "more than 5 traces have these words: name the trace" in cli(*asked_for, code=2).err
    assert cli(*asked_for, "--trace", "t0", "--json").json["answerExternalId"] == "a"


def test_what_is_not_there_or_elsewhere_is_refused(stored: Callable[[TraceBuilder], Cli]) -> None:
    stored(assistant(DEFAULT_PROJECT))
    cli = stored(_chat("Which pet?"))
    assert "'nothing'" in cli("fail", "nothing", code=3).err
    assert "'message-1'" in cli("fail", "said", "--evidence", "message-1", code=3).err
    assert "'question'" in cli("fail", "said", "--question", "question", code=3).err
    assert "longer than" in cli("fail", "said", "--comment", "x" * 20_001, code=4).err
    cli("fail", code=2)
    assert len(cli("failures", "--json").json) == 1


def test_what_can_not_be_what_it_is_named_as_is_refused(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = _chat("Which pet?")
    trace.variable("other", "a dog", kind=VariableKind.ANSWER)
    cli = stored(trace)
    assert "is the question and the answer at once" in cli("fail", "said", "--question", "said", code=4).err
    assert "is an answer, and named as the question" in cli("fail", "said", "--question", "other", code=4).err
    for answer in ("said", "other"):
        assert "named as evidence" in cli("fail", "said", "--evidence", answer, code=4).err
    assert cli("failures", "--json").json == []


def test_an_answer_that_is_right(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = _chat("Which pet?")
    said = trace.variables[1]
    cli = stored(trace)
    assert [one["right"] for one in cli("answers", "--json").json] == [None]
    for _ in range(2):
        judged = cli("right", said.id[:8], "--json").json
        assert (judged["id"], judged["right"]) == (said.id, True)
    assert cli("answers", "--json").json[0]["right"] is True
    assert "right" in cli("answers").out
    (entry,) = asyncio.run(_audit_log(cli))  # without a change there is no entry
    assert (entry.action, entry.target, entry.outcome) == ("markRight", said.id, "ok")
    assert said.id[:8] in cli("right", "said", "--trace", "chat").err


def test_a_wrong_answer_cannot_be_said_to_be_right(stored: Callable[[TraceBuilder], Cli]) -> None:
    cli = stored(_chat("Which pet?"))
    cli("right", "said")
    failure = cli("fail", "said", "--json").json
    assert f"memtrace unfail {failure['id'][:8]}" in cli("right", "said", code=4).err
    assert cli("answers", "--json").json[0]["right"] is False
    assert "wrong" in cli("answers").out
    assert failure["id"][:8] in cli("right", "q0", code=4).err  # the question stands for its answer
    assert "'nothing'" in cli("right", "nothing", code=3).err


def test_a_failure_is_withdrawn_with_its_verdicts(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = _chat("Which pet?")
    said = trace.variables[1]
    cli = stored(trace)
    for reference in ("said", said.id, said.id[:10], "failure", "beginning"):
        failure = cli("fail", "said", "--json").json
        cli("attribute", "--all", "--json")
        named = {"failure": failure["id"], "beginning": failure["id"][:8]}.get(reference, reference)
        done = cli("unfail", named, "--yes", "--json").json
        deleted = {"Failure": 1, "Attribution": 1}
        assert done == {"failureId": failure["id"], "answerId": said.id, "deleted": deleted}
        assert cli("failures", "--json").json == []
        assert cli("answers", "--json").json[0]["right"] is None
        entry = asyncio.run(_audit_log(cli))[0]
        assert (entry.action, entry.actor, entry.outcome) == ("withdrawFailure", "command line", "ok")
        assert entry.target == failure["id"]
    assert "'said'" in cli("unfail", "said", "--yes", code=3).err
    assert "'nothing'" in cli("unfail", "nothing", "--yes", code=3).err
    assert len(asyncio.run(_audit_log(cli))) == 10
    cli("right", "said")


def test_nothing_is_withdrawn_unasked(stored: Callable[[TraceBuilder], Cli]) -> None:
    cli = stored(_chat("Which pet?"))
    failure = cli("fail", "said", "--json").json
    assert "say --yes" in cli("unfail", "said", code=2).err
    assert cli("failures", "--json").json == [failure]
    assert cli("unfail", failure["id"][:8], "--yes").err == f"Withdrawn: {failure['id'][:8]}, with 0 verdicts.\n"


def test_who_is_asked_may_say_no(stored: Callable[[TraceBuilder], Cli]) -> None:
    cli = stored(_chat("Which pet?"))
    failure = cli("fail", "said", "--json").json
    for word, code, left in (("n", 1, [failure]), ("y", 0, [])):
        keyboard, terminal = os.openpty()
        os.write(keyboard, f"{word}\n".encode())
        with cli.process("unfail", "said", stdin=terminal) as process:
            _, shown = process.communicate(timeout=60)
        os.close(keyboard)
        os.close(terminal)
        assert process.returncode == code
        assert f"Withdraw the failure {failure['id'][:8]} (Which pet?) with 0 verdicts?" in shown.decode()
        assert cli("failures", "--json").json == left


def test_what_was_recorded_stays(stored: Callable[[TraceBuilder], Cli]) -> None:
    for origin, name in ((Origin.JUDGE, "an LLM judge"), (Origin.ANNOTATION, "an annotation")):
        trace = _chat("Which pet?")
        failure = trace.failure(*trace.variables, origin=origin)
        cli = stored(trace)
        for reference in (failure.id, failure.id[:8], trace.variables[1].id):
            refused = cli("unfail", reference, "--yes", code=4).err
            assert f"was recorded by {name}" in " ".join(refused.split())
        assert [one["id"] for one in cli("failures", "--json").json] == [failure.id]
        assert cli("answers", "--json").json[0]["right"] is False
        cli("delete", trace.trace.id, "--yes")


def test_an_answer_that_was_wrong_twice_is_named_by_its_failure(stored: Callable[[TraceBuilder], Cli]) -> None:
    cli = stored(_chat("Which pet?", "What colour?"))
    first, second = (cli("fail", "said", "--question", one, "--json").json["id"] for one in ("q0", "q1"))
    refused = cli("unfail", "said", "--yes", code=2).err
    assert f"unfail {first[:8]} --yes # failure Which pet?" in refused
    assert f"unfail {second[:8]} --yes # failure What colour?" in refused
    cli("unfail", first, "--yes")
    assert cli("answers", "--json").json[0]["right"] is False
    assert cli("unfail", "said", "--yes", "--json").json["failureId"] == second
    assert cli("answers", "--json").json[0]["right"] is None
