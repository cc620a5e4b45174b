"""A question fails alone; answers of any type are kept; the results so far are in the store; questions have times."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attribution.verdicts.stored import every_failure
from optimization.harness.datasets.registry import read_dataset
from optimization.harness.judging import Exact, Judgement
from optimization.harness.plan import Limits, Plan, UserRun
from optimization.harness.run import run
from schema.errors import MemTraceError
from schema.models import Operation, Variable
from store.contract.protocol import GraphStore
from store.shared.paging import elements
from tests.data import ROOT

_PROGRAMS = "tests.optimization.harness.programs"


def _plan(tmp_path: Path, *words: str, program: str = "Answering", **said: Any) -> Plan:
    questions = [{"id": f"q {word}", "question": f"Say {word}?", "gold": "Bo", "evidence": ["m1"]} for word in words]
    if "when" in words:
        questions[-1]["time"] = "2026-05-30T21:56:00Z"
    messages = [{"id": "m1", "speaker": "Ann", "text": "My dog is Bo."}, {"id": "m2", "speaker": "Ann", "text": "?"}]
    sessions = [{"id": "s1", "time": "2026-03-23T09:00:00Z", "messages": messages}]
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({"user": "ann", "sessions": sessions, "questions": questions}), "utf-8")
    given: dict[str, Any] = {"judge": Exact(), "folder": tmp_path / "run", "directory": ROOT, "models": {}, **said}
    return Plan(f"{_PROGRAMS}:{program}", read_dataset(path), **given)


def _texts(one: UserRun) -> list[str]:
    return [answer.text for answer in one.answers]


async def test_answers_of_any_type_and_length_are_kept(tmp_path: Path, store: GraphStore) -> None:
    words = ("digit", "number", "float", "list", "day", "empty", "long", "yes", "half", "reply", "when")
    (found,) = (await run(_plan(tmp_path, *words), store)).users
    assert found.problem is None
    wanted = ["2", "2", "2.5", '["a","b"]', "2026-03-01", "", "x " * 200_000, "True", "?!", "Bo"]
    assert _texts(found) == [*wanted, "2026-05-30 21:56:00+00:00"]
    failures = await every_failure(store, None)
    assert len(failures) == len(words) - 1  # Bo is right
    assert {one.prediction[:9] for one in failures if one.prediction} > {"2", "2.5", "True", "?!"}
    assert all(len(one.evidence_ids) == 1 for one in failures)
    variables = await elements(store, Variable, (await store.traces()).items[0].id)
    (asked,) = [one for one in variables if one.kind == "Query" and one.name == "q when"]
    assert json.loads(asked.attributes)["time"] == "2026-05-30T21:56:00+00:00"


async def test_a_question_that_fails_fails_alone(tmp_path: Path, store: GraphStore) -> None:
    plan = _plan(tmp_path, "digit", "fail", "none", "leave", "end", "reply", "sleep", "float", limits=Limits(seconds=4))
    (found,) = (await run(plan, store)).users
    assert found.error is None
    assert _texts(found) == ["2", "Bo", "2.5"]
    errors = [one.error for one in found.failed]
    for error, part in zip(
        errors,
        ("ValueError: no ? answer", "gave None", "SystemExit: gone", "ended with 9", "took longer than 4 seconds"),
        strict=True,
    ):
        assert part in error
    assert found.problem == errors[0]
    assert len((await store.traces()).items) == 1
    assert sorted(one.prediction or "" for one in await every_failure(store, None)) == ["2", "2.5"]
    again = (await run(plan, store)).users[0]
    assert _texts(again) == _texts(found)
    assert len(await every_failure(store, None)) == 2


async def test_results_are_in_the_store_after_each_question(tmp_path: Path, store: GraphStore) -> None:
    seen: list[int] = []

    class Looking(Exact):
        async def judge(self, question: Any, answer: str) -> Judgement:
            seen.append(len(await every_failure(store, None)))
            return await super().judge(question, answer)

    await run(_plan(tmp_path, "digit", "reply", "float", "yes", judge=Looking()), store)
    assert seen == [0, 1, 1, 2]


async def test_a_judge_that_fails_fails_one_question(tmp_path: Path, store: GraphStore) -> None:
    class Failing(Exact):
        async def judge(self, question: Any, answer: str) -> Judgement:
            if answer == "2.5":
                raise MemTraceError("the model is away")
            return await super().judge(question, answer)

    plan = _plan(tmp_path, "digit", "float", "reply", judge=Failing())
    (found,) = (await run(plan, store)).users
    assert _texts(found) == ["2", "Bo"]
    assert [(one.text, one.error) for one in found.failed] == [("2.5", "judge: the model is away")]
    more = (await run(replace(plan, judge=Exact()), store)).users[0]
    assert _texts(more) == ["2", "2.5", "Bo"]


@pytest.mark.parametrize("stop", ["end", "fail"])
async def test_a_conversation_that_can_not_go_on_keeps_what_it_has(
    tmp_path: Path, store: GraphStore, stop: str
) -> None:
    plan = _plan(tmp_path, "digit", stop, "reply")
    (found,) = (await run(plan, store)).users
    assert _texts(found) == ["2", "Bo"]
    assert len(await every_failure(store, None)) == 1


async def test_a_message_that_a_program_formats_stays_the_message(tmp_path: Path, store: GraphStore) -> None:
    await run(_plan(tmp_path, "digit", program="Heading"), store)
    (failure,) = await every_failure(store, None)
    past = await store.closure([failure.answer_id or ""])
    assert set(failure.evidence_ids) <= {one.id for one in past.variables}
    operations = await elements(store, Operation, failure.trace_id)
    assert {one.name for one in operations} == {"note", "generate"}
