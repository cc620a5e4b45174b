"""Programs that are kept outside of the project, run unchanged with real packages; skipped where they are absent."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attribution.free_pass.flow import FlowPass
from attribution.free_pass.proof_path import problems
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Verdict
from ingest.events.feedback import Complaint, record_failure
from schema.kinds import VariableKind
from schema.models import Variable
from store.open import open_database
from store.shared.paging import elements
from tests.data import ROOT
from tests.environments import python

CASES = next((p / "shared" / "cases" for p in ROOT.parents if (p / "shared" / "cases").is_dir()), None)

pytestmark = pytest.mark.skipif(CASES is None, reason="no programs beside the project: shared/cases is absent")

WANTED = [
    # case, environment, words of the wrong answer, gold answer, error type, operation, words of the reason
    (
        "search_that_finds_nothing",
        "mem0-2.2.1",
        "no note",
        "AB negative",
        "RetrievalError",
        "mem0 search",
        "1 unit was there, and (user_id=u1, agent_id=assistant-1) matched none",
    ),
    (
        "delete_all_of_one_user",
        "mem0-1.0.0",
        "I do not know",
        "Peanuts and cashew nuts",
        "DeletionError",
        "mem0 delete_all",
        "by a call for user_id=alice that emptied the store",
    ),
    (
        "chinese_update",
        "mem0-1.0.11",
        "对不起",
        "你喜欢吃烤冷面",
        "UpdateError",
        "mem0 update",
        "its next version does not have it",
    ),
    (
        "json_in_prose",
        "mem0-2.2.1",
        "I don't know",
        "Lisbon",
        "UpdateError",
        "mem0 extract",
        "lost between the reply and the store",
    ),
    (
        "reflection_in_background",
        "langchain",
        "I do not know",
        "A nice red car",
        "RetrievalError",
        "InMemoryStore.search",
        "the search ran too early",
    ),
]


@pytest.mark.parametrize("wanted", WANTED, ids=lambda one: one[0])
def test_what_is_said(wanted: tuple[str, str, str, str, str, str, str], tmp_path: Path) -> None:
    case, environment, words, gold, *said, reason = wanted
    assert CASES is not None
    memtrace = Path(sys.executable).with_name("memtrace")
    command = ["bash", CASES / "common" / "run.sh", case, python(environment), memtrace]
    settings = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE")}
    done = subprocess.run(
        list(map(str, command)),
        env=settings | {"WORK": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    verdict, blamed = asyncio.run(_verdict(tmp_path / case / "t.db", words, gold))
    assert [verdict.error_type, blamed] == said
    assert reason in verdict.reason
    assert verdict.confidence >= 0.8


async def _verdict(file: Path, words: str, gold: str) -> tuple[Verdict, str | None]:
    """The verdict on the last answer with some words, and the name of the blamed operation."""
    async with await open_database(f"sqlite:///{file}") as database:
        store = database.project("default")
        made = [one for trace in (await store.traces()).items for one in await elements(store, Variable, trace.id)]
        answers = [
            one for one in made if one.kind in {VariableKind.RESPONSE, VariableKind.ANSWER} and words in one.preview
        ]
        graph = await TraceGraph.load(store, answers[-1].trace_id)
        past = graph.past([answers[-1].id])
        questions = [one for one in past if graph.variables[one].kind is VariableKind.QUERY]
        question = max(questions, key=lambda one: graph.variables[one].sequence)
        failure = await record_failure(store, Complaint(question, answers[-1].id, (gold,)), "a test")
        verdict = await FlowPass().attribute(graph, failure)
        assert await problems(verdict, graph) == []
        return verdict, graph.operations[verdict.operation_id].name if verdict.operation_id else None
