"""What ``memtrace evaluate`` knows of messages and questions reaches programs, judges and verdicts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from attribution.run import Options, attribute
from attribution.verdicts.stored import every_failure
from optimization.harness.datasets.registry import read_dataset
from optimization.harness.judging import F1
from optimization.harness.plan import Plan, UserRun
from optimization.harness.run import run
from schema.kinds import ErrorType
from store.contract.protocol import GraphStore
from store.open import open_database
from tests.data import ROOT

SAID = [
    ("Ada", "The choir took me in yesterday, what a day."),
    ("Ada", "I still have the tandem that a friend painted; it reminds me of summer and of salt."),
    ("Ben", "The harbour crane broke down twice."),
    ("Ada", "Last month I slipped and had to pause the pottery course."),
]
ASKED = [
    {"id": "date", "question": "When did the choir take Ada in?", "gold": "9 June 2026", "evidence": ["m0"]},
    {"id": "person", "question": "What is Ben's painted tandem a reminder of?", "gold": "summer and salt",
     "evidence": ["m1"]},
    {"id": "month", "question": "What went wrong for Ada in June 2026?",
     "gold": "She slipped and had to pause the pottery course.", "evidence": ["m3"]},
    {"id": "unknown", "question": "How old is my parrot?"},
    {"id": "today", "question": "Which day is it?", "gold": "It is Friday.", "time": "2026-06-12T10:00:00Z"},
]  # fmt: skip


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[GraphStore]:
    async with await open_database(f"sqlite:///{tmp_path}/graph.db") as database:
        yield database.project("default")


async def _run(tmp_path: Path, store: GraphStore, program: str) -> UserRun:
    messages = [{"id": f"m{n}", "speaker": name, "text": text} for n, (name, text) in enumerate(SAID)]
    sessions = [{"id": "s", "time": "2026-06-10T09:00:00Z", "messages": messages}]
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({"user": "ada", "sessions": sessions, "questions": ASKED}), "utf-8")
    name = f"tests.cases.programs.evaluated:{program}"
    plan = Plan(name, read_dataset(path), F1(), tmp_path / "run", directory=ROOT, models={})
    (found,) = (await run(plan, store)).users
    assert found.problem is None
    return found


@pytest.mark.parametrize(
    ("program", "wanted"), [("Keeps", (ErrorType.RESPONSE, "reply")), ("Drops", (ErrorType.EXTRACTION, "note"))]
)
async def test_speakers_and_times_decide(
    tmp_path: Path, store: GraphStore, program: str, wanted: tuple[ErrorType, str]
) -> None:
    found = await _run(tmp_path, store, program)
    assert {one.question.id for one in found.answers if one.judgement.right} == {"unknown", "today"}
    verdicts = {}
    async for one in attribute(store, await every_failure(store, None), Options()):
        operation = one.attribution.operation_id
        blamed = None if operation is None else (await store.operation(operation)).operation.name
        verdicts[one.failure.question] = one.attribution.error_type, blamed
    assert verdicts == {
        "When did the choir take Ada in?": wanted,
        "What is Ben's painted tandem a reminder of?": (ErrorType.ANNOTATION, None),
        "What went wrong for Ada in June 2026?": (ErrorType.ANNOTATION, None),
    }
