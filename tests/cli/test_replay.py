"""``memtrace replay`` on the command line."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import memtrace
import pytest
from memtrace import context
from memtrace.events import decode
from memtrace.exporters.memory import MemoryExporter

from api.cli.context import DEFAULT_PROJECT
from attribution.trace.graph import TraceGraph
from attribution.verdicts.stored import every_failure
from examples.shared.talk import Fault
from ingest.events.taking import take_events
from schema.kinds import ErrorType
from schema.models import Batch, Trace
from store.contract.answers import Label
from store.open import open_database
from tests.cli.conftest import SAMPLE, Cli
from tests.examples.agents import FACTS

(OVERWRITE,) = (one for one in FACTS.faults if one.name == "overwrite")


def recorded_in(cli: Cli, fault: Fault) -> str:
    """Record the facts agent with a fault, report its wrong answer, and return the id of the failure."""
    context.forget()
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter)
    (wrong,) = [one for one in FACTS.run(fault, "facts") if not one.is_right]
    memtrace.configure(exporter=MemoryExporter())

    async def write() -> None:
        async with await open_database(cli.store) as database:
            events = [decode(json.dumps(event)) for event in exporter.events]
            assert await take_events(database.project(DEFAULT_PROJECT), events) == []

    asyncio.run(write())
    answers = {one["question"]: one["id"] for one in cli("answers", "--json").json}
    messages = {event["name"]: event["variable"] for event in exporter.of("variable") if event["kind"] == "Message"}
    evidence = [part for name in wrong.question.evidence for part in ("--evidence", messages[name])]
    failure = cli("fail", answers[wrong.question.text], "--gold", wrong.question.gold, *evidence, "--json").json
    return str(failure["id"])


@pytest.fixture
def failure(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The failure of a recorded fault."""
    monkeypatch.setenv("MEMTRACE_REPLAY", str(tmp_path / "replay"))
    monkeypatch.chdir(Path(__file__).parents[2])
    return recorded_in(cli, OVERWRITE)


def test_verdicts_are_proved(cli: Cli, failure: str) -> None:
    none = cli("replay", "--all")
    assert "1 failure without a verdict: run memtrace attribute first" in none.err
    (before,) = cli("attribute", "--all", "--json").json
    assert before["proof"] is None
    (found,) = cli("replay", failure[:12], "--json").json
    assert (found["proof"]["result"], found["proof"]["p0"], found["proof"]["p1"]) == ("proved", 0.0, 1.0)
    assert found["confidence"] > before["confidence"] == found["proof"]["confidenceBefore"]
    assert (found["operationId"], found["errorType"]) == (before["operationId"], "UpdateError")
    (listed,) = cli("failures", "--json").json
    assert listed["verdicts"][0]["proof"] == found["proof"]
    shown = cli("replay", "--all", "--draws", "4")
    assert "proved: the correction rescues the answer" in " ".join(shown.out.split())
    assert "1 proved, 0 refuted, 0 unsettled." in shown.err
    assert "Mrs Claes" in shown.out


def blame_another(cli: Cli) -> tuple[str, str]:
    """Change the stored verdict: it blames a retrieval, and the operation that it blamed becomes a candidate."""

    async def write() -> tuple[str, str]:
        async with await open_database(cli.store) as database:
            store = database.project(DEFAULT_PROJECT)
            (failure,) = await every_failure(store, None)
            (verdict,) = await store.attributions([failure.id])
            graph = await TraceGraph.load(store, failure.trace_id)
            asked = next(one for one in graph.operations.values() if one.name == "write_prompt")
            said = {
                "errorType": "UpdateError",
                "operationId": verdict.operation_id,
                "confidence": 0.3,
                "reason": "or it",
            }
            wrong = replace(
                verdict,
                error_type=ErrorType.RETRIEVAL,
                operation_id=asked.id,
                confidence=0.6,
                candidates=json.dumps([said]),
            )
            (trace,) = cast("list[Trace]", await store.get(Label.TRACE, [failure.trace_id]))
            await store.write(Batch(trace, attributions=[wrong]))
            return asked.id, str(verdict.operation_id)

    return asyncio.run(write())


@pytest.mark.full
def test_a_refuted_verdict_is_reopened_at_every_door(cli: Cli, failure: str, tmp_path: Path) -> None:
    cli("attribute", "--all")
    wrong, right = blame_another(cli)
    shown = cli("replay", "--all", "--body", "tests.optimization.bodies:without_fault")
    assert "reopened by the replay" in " ".join(shown.out.split())
    assert "1 proved, 0 refuted, 0 unsettled." in shown.err
    for command in (("failures", "--json"), ("attribute", "--all", "--json")):
        found = cli(*command).json
        found = found[0] if isinstance(found, list) else found
        verdict = found["verdicts"][0] if "verdicts" in found else found
        assert (verdict["errorType"], verdict["operationId"]) == ("UpdateError", right), command
        assert [one["operationId"] for one in verdict["proof"]["refuted"]] == [wrong], command
        assert [one["operationId"] for one in verdict["candidates"]] == [wrong], command
        assert verdict["candidates"][0]["confidence"] < 0.6, command
    report = tmp_path / "report.html"
    cli("report", "-o", report)
    assert "replay proved it" in report.read_text("utf-8")


@pytest.mark.full
def test_what_would_be_if(cli: Cli, failure: str, tmp_path: Path) -> None:
    (verdict,) = cli("attribute", "--all", "--json").json
    text, data = tmp_path / "unit.txt", tmp_path / "unit.json"
    text.write_text("My piano teacher is Mrs Claes.\n")
    data.write_text('"My piano teacher is Mrs Nobody."')
    found = cli("replay", failure, "--do", f"{verdict['operationId']}={text}", "--draws", "2", "--json").json
    assert (found["right"], found["p0"], found["p1"], found["draws"]) == (2, 0.0, 1.0, 2)
    assert found["answers"][0].strip() == "My piano teacher is Mrs Claes."
    shown = cli("replay", failure, "--do", f"{verdict['operationId']}={data}", "--draws", "1")
    assert "Mrs Nobody" in shown.out
    assert "0 of 1" in shown.out
    (stored,) = cli("failures", "--json").json
    assert stored["verdicts"][0]["proof"] is None


@pytest.mark.full
def test_a_prompt_is_changed_wherever_it_is_used(cli: Cli, failure: str, tmp_path: Path) -> None:
    text = tmp_path / "prompt.txt"
    text.write_text(
        "Answer the question from these notes only.\nThe teacher is Mrs Claes.\nQuestion: Who is the teacher?"
    )
    found = cli("replay", failure, "--prompt", f"prompt={text}", "--draws", "1", "--json").json
    assert found["answers"] == ["The teacher is Mrs Claes. "]
    assert found["firstDivergence"] == {"call": "the answer", "given": "The teacher is Mrs Claes. "}
    wrong = cli("replay", failure, "--prompt", f"nothing={text}", code=4)
    assert "no function uses a prompt of this name; there are prompt" in wrong.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "say which failures"),
        (["x", "--all"], 2, "say which failures"),
        (["--all", "--do", "a=b"], 2, "ask about one FAILURE"),
        (["--all", "--max-cost", "1"], 2, "--max-cost needs prices"),
        (["nothing-like-it"], 3, "no failure, answer or trace 'nothing-like-it'"),
    ],
    ids=["none", "both", "do", "prices", "unknown"],
)
def test_what_can_not_be_asked(cli: Cli, arguments: list[str], code: int, said: str) -> None:
    cli("import", SAMPLE)
    assert said in " ".join(cli("replay", *arguments, code=code).err.split())


def test_an_imported_trace_is_unsettled(cli: Cli) -> None:
    cli("import", SAMPLE)
    cli("attribute", "--all")
    for one in cli("replay", "--all", "--json").json:
        assert one["proof"]["result"] == "unsettled"
        assert "can't be replayed" in one["proof"]["reason"]


def test_what_a_file_says_must_be_readable(cli: Cli, failure: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    operation = cli("operations", "--json").json[0]["id"]
    assert "is no JSON" in cli("replay", failure, "--do", f"{operation}={broken}", code=4).err
    assert "can't be read" in cli("replay", failure, "--do", f"{operation}={tmp_path / 'none'}", code=4).err
    cli("replay", failure, "--do", "nothing", code=2)
