"""Real gepa over HTTP: only an honest change passes the gate; no model call is paid twice."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attribution.llm.transport.settings import LlmSettings
from optimization.gate.gate import Rules
from optimization.harness.datasets.registry import read_dataset
from optimization.harness.judging import Exact
from optimization.harness.plan import Limits, Plan
from optimization.loop import folder as folders
from optimization.loop.optimize import Optimization, Wanted, optimize
from optimization.loop.report import markdown
from schema.errors import InputError, MemTraceError
from tests.data import ROOT
from tests.llm_server import LlmServer, fail
from tests.optimization.loop_program import GOOD, PROMPTS, both, by_heart, cases, dropping, reflecting

WANTED = Wanted(Rules(margin=0.35), max_evaluations=60)


@pytest.fixture
def llm() -> Iterator[LlmServer]:
    server = LlmServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def run(tmp_path: Path, llm: LlmServer) -> Callable[..., Any]:
    """Optimizes with a reflecting model."""
    file = tmp_path / "cases.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in cases(16)), "utf-8")

    async def start(reflect: Any = reflecting, wanted: Wanted = WANTED, **said: Any) -> Optimization:
        llm.script(both(reflect), repeat=True)
        plan = Plan(
            "tests.optimization.loop_program:Agent",
            read_dataset(file),
            Exact(),
            tmp_path / "run",
            prompts=PROMPTS,
            directory=ROOT,
            models={"OPENAI_BASE_URL": llm.url},
        )
        settings = LlmSettings(base_url=llm.url, model="reflecting", retries=0)
        return await optimize(replace(plan, **said), PROMPTS, settings, wanted)

    return start


async def test_an_honest_change_is_found_accepted_taken_over_and_taken_back(
    tmp_path: Path, run: Callable[..., Any], llm: LlmServer
) -> None:
    outcome = await run()
    assert outcome.decision.accepted, outcome.decision
    assert outcome.after == {**PROMPTS, "extraction": GOOD}
    assert outcome.found.reflections == 1  # the blamed prompt at once, without trying the other three prompts
    assert (outcome.decision.better, outcome.decision.worse, outcome.decision.harmed) == (8, 0, 0)
    assert len(outcome.fixed) == 8
    paid = len(llm.requests)
    assert outcome.calls == paid

    again = await run()
    assert len(llm.requests) == paid
    assert replace(again, calls=outcome.calls, tokens=outcome.tokens) == outcome

    prompts = tmp_path / "prompts"
    prompts.mkdir()
    for name, text in PROMPTS.items():
        (prompts / f"{name}.txt").write_bytes(text.encode())
    before = {file.name: file.read_bytes() for file in prompts.iterdir()}
    with pytest.raises(InputError, match="nothing was accepted from this optimization"):
        folders.rollback(tmp_path / "run", prompts)
    assert folders.accept(tmp_path / "run", prompts) == ["extraction"]
    assert (prompts / "extraction.txt").read_text() == GOOD
    assert folders.accept(tmp_path / "run", prompts) == ["extraction"]  # once more changes nothing
    (prompts / "extraction.txt").write_text("by hand")
    with pytest.raises(InputError, match=r"extraction\.txt: was changed since it was accepted"):
        folders.rollback(tmp_path / "run", prompts)
    (prompts / "extraction.txt").write_text(GOOD)
    assert folders.rollback(tmp_path / "run", prompts) == ["extraction"]
    assert {file.name: file.read_bytes() for file in prompts.iterdir()} == before
    (prompts / "extraction.txt").write_text("another one")
    with pytest.raises(InputError, match="is not the prompt with which the optimization began"):
        folders.accept(tmp_path / "run", prompts)

    report = markdown(folders.found(tmp_path / "run"))
    assert "**Accepted.**" in report
    assert f"+{GOOD}" in report
    assert len(re.findall(r"^- person \d+: Where did she move to\?$", report, re.MULTILINE)) == 8


async def test_prompts_in_turn_take_longer(run: Callable[..., Any]) -> None:
    outcome = await run(wanted=replace(WANTED, by_blame=False))
    assert outcome.found.reflections > 1


async def test_a_memoriser_is_rejected(run: Callable[..., Any]) -> None:
    outcome = await run(by_heart)
    assert not outcome.decision.accepted
    assert any("has learnt answers by heart" in reason for reason in outcome.decision.reasons)


async def test_one_that_changes_placeholders_is_rejected(tmp_path: Path, run: Callable[..., Any]) -> None:
    outcome = await run(dropping)
    assert not outcome.decision.accepted
    (reason,) = outcome.decision.reasons
    assert reason == "the prompt extraction has other placeholders than before: {message}"
    with pytest.raises(InputError, match="the gate did not accept: the prompt extraction has other placeholders"):
        folders.accept(tmp_path / "run", tmp_path)


async def test_the_budget_is_never_exceeded(run: Callable[..., Any], llm: LlmServer) -> None:
    with pytest.raises(MemTraceError, match="the limit of 9 live calls of models is reached"):
        await run(limits=Limits(calls=9))
    assert len(llm.requests) == 9
    outcome = await run()
    assert outcome.decision.accepted


async def test_a_budget_that_ends_the_search_is_no_failure(
    tmp_path: Path, run: Callable[..., Any], llm: LlmServer
) -> None:
    whole = await run()
    assert whole.decision.accepted
    gate = 8 * 4
    outcome = await run(folder=tmp_path / "elsewhere", limits=Limits(calls=gate + 6))
    assert len(llm.requests) == whole.calls + gate + 6
    assert not outcome.decision.accepted
    assert "the limit of 38 live calls of models is reached" in outcome.found.ended


async def test_a_failing_reflection_ends_the_run_with_its_reason(run: Callable[..., Any]) -> None:
    with pytest.raises(MemTraceError, match=r"the reflecting model gave no reply: .*no room"):
        await run(lambda request: fail(400, "no room"))


async def test_too_few_conversations_are_refused_before_anything_is_paid(
    tmp_path: Path, run: Callable[..., Any], llm: LlmServer
) -> None:
    outcome = await run(wanted=replace(WANTED, rules=Rules(attempts=64)))
    assert llm.requests == []
    assert "needs at least 11 to tell a better prompt from luck" in outcome.decision.reasons[0]


async def test_prompts_that_do_not_exist_are_refused(run: Callable[..., Any], tmp_path: Path, llm: LlmServer) -> None:
    plan = Plan(
        "tests.optimization.loop_program:Agent", read_dataset(tmp_path / "cases.jsonl"), Exact(), tmp_path / "other",
        directory=ROOT, models={"OPENAI_BASE_URL": llm.url},
    )  # fmt: skip
    with pytest.raises(InputError, match="has no prompt 'extract'; it has answer, decoy, extraction, other"):
        await optimize(plan, {"extract": "x"}, LlmSettings(base_url=llm.url, model="m"), WANTED)
