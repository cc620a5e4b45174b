"""A program is run over a data set: recorded, judged, continued, within its budget, and never paid twice."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attribution.needed.question import QuestionForm, form
from attribution.run import Options, attribute
from attribution.verdicts.stored import every_failure
from optimization.harness.child import ProgramFailed
from optimization.harness.datasets.model import Dataset
from optimization.harness.datasets.registry import read_dataset
from optimization.harness.judging import F1, Exact
from optimization.harness.plan import Limits, Plan, RunOutcome
from optimization.harness.run import run
from schema.errors import InputError
from store.contract.protocol import GraphStore
from tests.data import ROOT
from tests.llm_server import LlmServer
from tests.optimization.harness import miniatures

AGENT = "tests.optimization.harness.programs:FactsAgent"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in miniatures.lines()), "utf-8")
    return read_dataset(path)


def plan(tmp_path: Path, dataset: Dataset, llm: LlmServer, program: str = AGENT, **said: Any) -> Plan:
    given: dict[str, Any] = {
        "judge": Exact(),
        "folder": tmp_path / "run",
        "directory": ROOT,
        "models": {"OPENAI_BASE_URL": llm.url},
        **said,
    }
    return Plan(program, dataset, **given)


def marks(outcome: RunOutcome) -> dict[str, str]:
    """By user, 1 for a right answer and 0 for a wrong answer."""
    return {one.user: "".join("01"[answer.judgement.right] for answer in one.answers) for one in outcome.users}


async def test_a_run_is_recorded_judged_and_written(
    tmp_path: Path, dataset: Dataset, llm: LlmServer, store: GraphStore
) -> None:
    told: list[tuple[str, str, int, int]] = []
    outcome = await run(plan(tmp_path, dataset, llm), store, lambda *said: told.append(said))
    assert marks(outcome) == {"user 1": "110", "user 2": "110"}
    assert [answer.text for answer in outcome.users[0].answers] == ["Bo", "Ghent", "I do not know."]
    assert outcome.calls == len(llm.requests) == 12
    failures = await every_failure(store, None)
    assert sorted((one.question, one.prediction, one.gold_answers) for one in failures) == [
        ("What am I allergic to?", "I do not know.", ("hazelnuts",)),
        ("What am I allergic to?", "I do not know.", ("shellfish",)),
    ]
    assert all(len(one.evidence_ids) == 1 for one in failures)
    verdicts = [found.attribution.error_type async for found in attribute(store, failures, Options())]
    assert verdicts == ["ExtractionError", "ExtractionError"]
    assert await _elements(store) == (2, 2)
    assert ("construction", "user 2", 3, 3) in told
    assert ("judging", "user 1", 3, 3) in told


async def test_the_answer_to_a_question_that_cannot_be_answered_is_made_up(
    tmp_path: Path, dataset: Dataset, llm: LlmServer, store: GraphStore
) -> None:
    one = dataset.conversations[0]
    asked = replace(one, questions=(replace(one.questions[0], gold=(), evidence=()),))
    outcome = await run(plan(tmp_path, replace(dataset, conversations=(asked,)), llm), store)
    assert marks(outcome) == {"user 1": "0"}
    failures = await every_failure(store, None)
    assert [form(one) for one in failures] == [QuestionForm.UNANSWERABLE]
    verdicts = [found.attribution async for found in attribute(store, failures, Options())]
    assert [one.error_type for one in verdicts] == ["ResponseError"]
    # A message does tell it: whoever says that nothing is known may be wrong.
    assert 0.8 < (verdicts[0].confidence or 0) < 0.9
    assert "unless this tells it" in (verdicts[0].reason or "")


async def test_a_finished_run_is_not_run_again(
    tmp_path: Path, dataset: Dataset, llm: LlmServer, store: GraphStore
) -> None:
    first = await run(plan(tmp_path, dataset, llm), store)
    before = await _elements(store)
    again = await run(plan(tmp_path, dataset, llm), store)
    assert (again.users, again.calls) == (first.users, 0)
    assert await _elements(store) == before
    assert len(llm.requests) == 12


async def test_changed_prompts_are_used_and_recorded(
    tmp_path: Path, dataset: Dataset, llm: LlmServer, store: GraphStore
) -> None:
    prompts = {"extraction": "EXTRACT all facts, allergies too, as a JSON list of texts."}
    outcome = await run(plan(tmp_path, dataset, llm, prompts=prompts), store)
    assert marks(outcome) == {"user 1": "111", "user 2": "111"}
    hits = await store.search("allergies too")
    assert {hit.variable.kind for hit in hits} == {"Prompt"}
    assert len(hits) == 2  # one per trace: the operations used this variable


async def test_prompts_that_do_not_exist_are_refused(
    tmp_path: Path, dataset: Dataset, llm: LlmServer, store: GraphStore
) -> None:
    with pytest.raises(InputError, match="has no prompt 'extract'; it has answer, extraction"):
        await run(plan(tmp_path, dataset, llm, prompts={"extract": "x"}), store)
    assert llm.requests == []


async def test_users_are_chosen(tmp_path: Path, dataset: Dataset, llm: LlmServer, store: GraphStore) -> None:
    outcome = await run(plan(tmp_path, dataset, llm, users=["user 2"]), store)
    assert marks(outcome) == {"user 2": "110"}
    more = await run(plan(tmp_path, dataset, llm), store)
    assert marks(more) == {"user 1": "110", "user 2": "110"}
    assert len(llm.requests) == 12
    with pytest.raises(InputError, match="has no user 'user 3'; it has user 1, user 2"):
        await run(plan(tmp_path, dataset, llm, users=["user 3"]), store)


async def test_a_folder_belongs_to_one_run(tmp_path: Path, dataset: Dataset, llm: LlmServer, store: GraphStore) -> None:
    await run(plan(tmp_path, dataset, llm, users=["user 1"]), store)
    with pytest.raises(InputError, match=r"run\.json: this folder holds another run"):
        await run(plan(tmp_path, dataset, llm, judge=F1()), store)


def test_a_run_with_another_text_of_a_prompt_is_another_run(tmp_path: Path, dataset: Dataset, llm: LlmServer) -> None:
    prompts = [{"extraction": text} for text in ("extract facts", "extract all facts")]
    one, other = (plan(tmp_path, dataset, llm, prompts=said).fingerprint() for said in prompts)
    assert one != other


async def test_the_budget_is_never_exceeded_and_a_larger_one_continues(
    tmp_path: Path, dataset: Dataset, llm: LlmServer, store: GraphStore
) -> None:
    small = Limits(calls=7)
    outcome = await run(plan(tmp_path, dataset, llm, limits=small), store)
    assert len(llm.requests) == outcome.calls == 7
    failed = [one for one in outcome.users if one.problem is not None]
    assert failed
    assert all("the limit of 7 live calls of models is reached" in str(one.problem) for one in failed)
    more = await run(plan(tmp_path, dataset, llm), store)
    assert marks(more) == {"user 1": "110", "user 2": "110"}
    assert len(llm.requests) == 12


async def test_costs_are_limited(tmp_path: Path, dataset: Dataset, llm: LlmServer, store: GraphStore) -> None:
    prices = {"input": 10.0, "output": 50.0}  # a call of 100 and 20 tokens: 0.002
    limits = Limits(cost=0.0099, prices=prices, parallel=1)
    outcome = await run(plan(tmp_path, dataset, llm, limits=limits), store)
    assert len(llm.requests) == 5
    assert outcome.cost == pytest.approx(0.01)
    assert "the limit of the cost of models is reached" in str(outcome.users[0].problem)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("raise", "add: ValueError: no room for messages (tests"),
        ("end", "the process of tests.optimization.harness.programs:Failing ended with 7\n  a last word"),
    ],
)
async def test_one_user_may_fail(
    tmp_path: Path,
    dataset: Dataset,
    llm: LlmServer,
    store: GraphStore,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
    message: str,
) -> None:
    monkeypatch.setenv("FAIL", how)
    outcome = await run(plan(tmp_path, dataset, llm, "tests.optimization.harness.programs:Failing"), store)
    assert message.replace("(tests", "(") in str(outcome.users[0].error)
    assert marks(outcome) == {"user 1": "", "user 2": "110"}
    assert (await _elements(store))[1] == 1


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            "tests.optimization.harness.programs:Missing",
            "the module tests.optimization.harness.programs has no Missing",
        ),
        ("tests.optimization.harness.absent:Agent", "there is no module tests.optimization.harness.absent"),
        ("tests.optimization.harness.programs:nothing", "made a object, which has no method prompts()"),
        ("tests.optimization.harness.programs", "is no program: write module:name"),
    ],
)
async def test_what_is_no_program(
    tmp_path: Path, dataset: Dataset, llm: LlmServer, store: GraphStore, program: str, message: str
) -> None:
    outcome = await run(plan(tmp_path, dataset, llm, program), store)
    assert all(message in str(one.error) for one in outcome.users)
    with pytest.raises(ProgramFailed, match=re.escape(message)):
        await run(plan(tmp_path, dataset, llm, program, prompts={"a": "b"}, folder=tmp_path / "other"), store)


async def test_a_program_that_records_nothing(
    tmp_path: Path, dataset: Dataset, llm: LlmServer, store: GraphStore
) -> None:
    outcome = await run(plan(tmp_path, dataset, llm, "tests.optimization.harness.programs:Silent"), store)
    assert marks(outcome) == {"user 1": "001", "user 2": "001"}
    assert await _elements(store) == (2, 4)


async def test_the_long_context_buffer(tmp_path: Path, dataset: Dataset, llm: LlmServer, store: GraphStore) -> None:
    outcome = await run(plan(tmp_path, dataset, llm, "memtrace.program.adapters.buffer:LongContextBuffer"), store)
    assert _texts(outcome) == ["I do not know."] * 6  # this model knows the prompts of the other agent only
    assert any("Ann (2026-05-01 10:00): My dog is called Bo." in request.last for request in llm.requests)


def _texts(outcome: RunOutcome) -> Sequence[str]:
    return [answer.text for answer in outcome.answers]


async def _elements(store: GraphStore) -> tuple[int, int]:
    """Numbers of traces and of failures."""
    return len((await store.traces()).items), len(await every_failure(store, None))
