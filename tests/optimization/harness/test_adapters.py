"""The ready-made programs, with the real packages in environments of their own and a scripted model over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from memtrace.program.adapters import limits
from memtrace.program.loading import ProgramError
from memtrace.replay import Do, Replayer, folder_of

from attribution.trace.graph import TraceGraph
from attribution.verdicts.stored import every_failure
from optimization.harness.datasets.registry import read_dataset
from optimization.harness.judging import Exact
from optimization.harness.plan import Plan, RunOutcome
from optimization.harness.run import run
from optimization.replay.recorded import RecordedCalls
from schema.models import Variable
from store.contract.protocol import GraphStore
from store.open import open_database
from store.shared.paging import elements
from tests import environments
from tests.data import ROOT
from tests.optimization.harness import miniatures
from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.mem0_model import model as mem0_model

_PATTERNS = {"called": r"called (\w+)", "move": r"moved to (\w+)", "allergic": r"allergic to (\w+)"}


def reply(prompt: str) -> str:
    """The answer to a question, from the notes in the prompt."""
    question = prompt.rpartition("Question: ")[2]
    for word, pattern in _PATTERNS.items():
        if word in question:
            found = re.search(pattern, prompt)
            return found[1] if found else "I do not know."
    return "I do not know."


_CHANGED = {
    "mem0:Mem0Program": "mem0:search",
    "langchain_rag:LangChainRag": "langchain:VectorStoreRetriever",
    "langgraph_store:LangGraphStore": "langchain:ChatOpenAI",
}
"""A call inside each program's package that a replay can change; called once per question."""


@pytest.fixture
def server() -> Iterator[scripted_openai.ScriptedOpenAI]:
    texts = [text for line in miniatures.lines() for one in line["sessions"] for text in (one["messages"][0]["text"],)]
    facts = {text: text for text in texts}
    with scripted_openai.running(mem0_model(facts=facts, answer=reply)) as one:
        yield one


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[GraphStore]:
    async with await open_database(f"sqlite:///{tmp_path}/graph.db") as database:
        yield database.project("default")


async def _run(
    tmp_path: Path,
    store: GraphStore,
    url: str,
    program: str,
    environment: str,
    monkeypatch: pytest.MonkeyPatch,
    **servers: str,
) -> RunOutcome:
    monkeypatch.setenv("MEMTRACE_PROGRAM_DIMENSIONS", str(scripted_openai.DIMENSIONS))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("MEMTRACE_REPLAY", str(tmp_path / "replay"))
    cases = tmp_path / "cases.jsonl"
    cases.write_text("".join(json.dumps(line) + "\n" for line in miniatures.lines()), "utf-8")
    plan = Plan(
        f"memtrace.program.adapters.{program}",
        read_dataset(cases),
        Exact(),
        tmp_path / "run",
        python=str(environments.python(environment)),
        directory=ROOT,
        models={"OPENAI_BASE_URL": url, **servers},
    )
    return await run(plan, store)


EACH_PROGRAM = pytest.mark.parametrize(
    ("program", "environment"),
    [
        ("mem0:Mem0Program", "mem0-2.2.1"),
        pytest.param("mem0:Mem0Program", "mem0-1.0.11", marks=pytest.mark.full),
        pytest.param("langchain_rag:LangChainRag", "langchain", marks=pytest.mark.full),
        pytest.param("langgraph_store:LangGraphStore", "langchain", marks=pytest.mark.full),
    ],
)


@EACH_PROGRAM
async def test_an_adapter_remembers_answers_and_is_recorded(
    tmp_path: Path,
    store: GraphStore,
    server: scripted_openai.ScriptedOpenAI,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    environment: str,
) -> None:
    outcome = await _run(tmp_path, store, server.url, program, environment, monkeypatch)
    assert [one.error for one in outcome.users] == [None, None]
    assert [[answer.text for answer in one.answers] for one in outcome.users] == [
        ["Bo", "Ghent", "hazelnuts"],
        ["Mia", "Lyon", "shellfish"],
    ]
    assert await every_failure(store, None) == []
    for trace in (await store.traces()).items:
        variables: list[Any] = await elements(store, Variable, trace.id)
        answers = [one for one in variables if one.right]
        assert len(answers) == 3
        asked = {one.name: one for one in variables if one.kind == "Query" and one.name.startswith("q")}
        for number, answer in enumerate(answers, 1):
            closure = await store.closure([answer.id])
            past = closure.variables
            assert [one.name for one in past if one.kind == "Query"] == [f"q{number}"], answer.value
            assert asked[f"q{number}"].id in {one.id for one in past}
            assert f"m{number}" in {one.name for one in past if one.kind == "Message"}
    calls = len(server.requests)
    with Replayer(folder_of(outcome.users[0].trace_id)) as replayer:
        again = replayer.run()
        assert (again.error, again.problems, again.live) == (None, (), 0)
        (trace,) = [one for one in (await store.traces()).items if one.external_id == outcome.users[0].trace_id]
        recorded = await RecordedCalls.of(await TraceGraph.load(store, trace.id), again)
        assert (recorded.missing, recorded.further) == (None, None)
        assert len(server.requests) == calls
        changed = replayer.run([Do(_CHANGED[program], skip=True)], "mixed")
        assert (changed.error, changed.problems, changed.hits) == (None, (), (3,))


@pytest.mark.full
@pytest.mark.parametrize(
    ("program", "environment"),
    [
        ("mem0:Mem0Program", "mem0-2.2.1"),
        ("langchain_rag:LangChainRag", "langchain"),
        ("langgraph_store:LangGraphStore", "langchain"),
    ],
)
async def test_embeddings_may_have_a_server_of_their_own(
    tmp_path: Path,
    store: GraphStore,
    server: scripted_openai.ScriptedOpenAI,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    environment: str,
) -> None:
    with scripted_openai.running(lambda body: 500) as embedder:
        named = {"MEMTRACE_PROGRAM_EMBEDDER_URL": embedder.url}
        outcome = await _run(tmp_path, store, server.url, program, environment, monkeypatch, **named)
    assert [one.problem for one in outcome.users] == [None, None]
    assert {path.rpartition("/")[2] for path, _ in server.requests} == {"completions"}
    assert {path.rpartition("/")[2] for path, _ in embedder.requests} == {"embeddings"}


@EACH_PROGRAM
async def test_found_memories_and_replies_can_be_limited(
    tmp_path: Path,
    store: GraphStore,
    server: scripted_openai.ScriptedOpenAI,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    environment: str,
) -> None:
    monkeypatch.setenv(limits.TOP, "1")
    monkeypatch.setenv(limits.REPLY_TOKENS, "77")
    outcome = await _run(tmp_path, store, server.url, program, environment, monkeypatch)
    assert [one.error for one in outcome.users] == [None, None]
    asked = [body for path, body in server.requests if path.endswith("completions")]
    assert {one.get("max_tokens", one.get("max_completion_tokens")) for one in asked} == {77}
    prompts = [json.dumps(one["messages"]) for one in asked]
    told = [text for line in miniatures.lines() for one in line["sessions"] for text in (one["messages"][0]["text"],)]
    read = [sum(text in prompt for text in told) for prompt in prompts if "Question: " in prompt]
    assert read == [1] * 6
    monkeypatch.delenv(limits.TOP)
    monkeypatch.delenv(limits.REPLY_TOKENS)
    with Replayer(folder_of(outcome.users[0].trace_id)) as replayer:
        again = replayer.run()
    assert (again.error, again.problems, again.live) == (None, (), 0)


@pytest.mark.parametrize("said", ["0", "-1", "two", "1.5"])
def test_a_limit_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv(limits.TOP, said)
    with pytest.raises(ProgramError, match=f"MEMTRACE_PROGRAM_TOP is '{said}', but must be a number of 1 or more"):
        limits.found_at_most(5)


def test_without_limits_a_program_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(limits.TOP, raising=False)
    monkeypatch.setenv(limits.REPLY_TOKENS, " ")
    assert (limits.found_at_most(5), limits.reply_tokens()) == (5, None)
