"""Replays of a recorded run prove the verdicts on its failures, without new calls for kept model replies."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from memtrace.replay import Do, Replayer, folder_of

from attribution.run import Options as AttributionOptions
from attribution.run import attribute
from attribution.verdicts.stored import every_failure
from optimization.harness.datasets.registry import read_dataset
from optimization.harness.judging import Exact
from optimization.harness.plan import Plan
from optimization.harness.run import run
from optimization.proof.bench import Options
from optimization.proof.correction import EvidenceCorrector
from optimization.proof.model import Result
from optimization.proof.run import prove_verdicts
from store.contract.protocol import GraphStore
from tests.data import ROOT
from tests.llm_server import LlmServer
from tests.optimization.harness import miniatures

AGENT = "tests.optimization.harness.programs:FactsAgent"
ADAPTERS = "memtrace.program.adapters"


@pytest.fixture
def plan(tmp_path: Path, llm: LlmServer, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A run over two people; the right answers need facts that the model forgets."""
    monkeypatch.setenv("MEMTRACE_REPLAY", str(tmp_path / "replay"))
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in miniatures.lines()), "utf-8")
    urls = {"OPENAI_BASE_URL": llm.url}
    return Plan(AGENT, read_dataset(path), Exact(), tmp_path / "run", directory=ROOT, models=urls)


@pytest.mark.full
async def test_verdicts_on_a_run_are_proved(plan: Plan, llm: LlmServer, store: GraphStore) -> None:
    await run(plan, store)
    asked = len(llm.requests)
    failures = await every_failure(store, None)
    verdicts = [(one.failure, one.attribution) async for one in attribute(store, failures, AttributionOptions())]
    found = [one async for one in prove_verdicts(store, verdicts, EvidenceCorrector(), Options())]
    assert [(one.proof.result, one.attribution.error_type) for one in found] == [
        (Result.PROVED, "ExtractionError"),
        (Result.PROVED, "ExtractionError"),
    ], [one.proof.reason for one in found]
    assert all((one.attribution.confidence or 0) > (one.proof.confidence_before or 0) for one in found)
    assert len(llm.requests) > asked, "with the correction, the answer's prompt is one that was not kept"


async def test_a_replay_asks_no_model(plan: Plan, llm: LlmServer, store: GraphStore) -> None:
    outcome = await run(plan, store)
    asked = len(llm.requests)
    with Replayer(folder_of(outcome.users[0].trace_id)) as replayer:
        again = replayer.run()
        forgetful = replayer.run([Do("tests.optimization.harness.programs:FactsAgent._extract", skip=True)], "mixed")
    assert (again.error, again.problems, again.live, len(again.kept)) == (None, (), 0, 6)
    assert forgetful.live == 3
    assert len(llm.requests) == asked + 3


@pytest.mark.full
async def test_a_continued_run_is_replayed_once(plan: Plan, store: GraphStore) -> None:
    await run(replace(plan, limits=replace(plan.limits, calls=8, parallel=1)), store)
    outcome = await run(plan, store)
    for one in outcome.users:
        with Replayer(folder_of(one.trace_id)) as replayer:
            again = replayer.run()
        assert (again.error, len(again.calls)) == (None, 9), "three messages, and three searches and answers"


async def test_a_program_whose_source_was_changed_is_named(plan: Plan, store: GraphStore, tmp_path: Path) -> None:
    source = (ROOT / "tests" / "optimization" / "harness" / "programs.py").read_text("utf-8")
    (tmp_path / "copied_agent.py").write_text(source, "utf-8")
    outcome = await run(replace(plan, program="copied_agent:FactsAgent", directory=tmp_path), store)
    (tmp_path / "copied_agent.py").write_text(f"{source}\n# a later word\n", "utf-8")
    with Replayer(folder_of(outcome.users[0].trace_id)) as replayer:
        again = replayer.run()
    assert (again.error, again.changed) == (None, ("copied_agent",))


@pytest.mark.parametrize("program", [AGENT, f"{ADAPTERS}.http:HttpProgram"])
async def test_nothing_is_kept_where_it_is_not_wanted_or_does_no_good(
    plan: Plan, store: GraphStore, program: str, monkeypatch: pytest.MonkeyPatch, llm: LlmServer
) -> None:
    """A search for prompts proves nothing, and behind HTTP a replay would change the real memory."""
    monkeypatch.setenv("MEMTRACE_PROGRAM_URL", llm.url)
    await run(replace(plan, program=program, is_kept=program != AGENT), store)
    assert not (plan.folder.parent / "replay").exists()
