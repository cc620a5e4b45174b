"""Programs outside of the project that send spans, that `memtrace evaluate` runs, or that record themselves."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from attribution.trace.graph import TraceGraph
from schema.kinds import VariableKind
from schema.models import Variable
from store.contract.protocol import GraphStore
from tests.cases.shared_programs import (
    ABSENT,
    CASES,
    IS_THERE,
    MEMTRACE,
    all_of,
    ask_store,
    run_program,
    scripted,
    verdict_on,
)
from tests.environments import python
from tests.server.running import RunningServer, running, sqlite_place
from tests.server.wire_events import drained

pytestmark = pytest.mark.skipif(not IS_THERE, reason=ABSENT)


def test_a_narrower_word_is_not_the_same(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 't.db'}"
    run_program(
        [MEMTRACE, "run", "--", sys.executable, CASES / "narrower_words" / "app.py"], tmp_path, MEMTRACE_STORE=store
    )
    said = json.loads(run_program([MEMTRACE, "attribute", "--all", "--json"], tmp_path, MEMTRACE_STORE=store))
    assert Counter(one["errorType"] for one in said) == {"ResponseError": 8}


EVALUATED = [
    # case, program, data set; by question: judged right, or the verdict
    ("locomo_odd_file", "agent:Agent", "locomo10.json", {
        "What is Maren's hand-painted bowl a reminder of?": "AnnotationError",
        "What setback did Maren face in October 2023?": "AnnotationError",
        "Which book did Rosa buy?": None,
        "In which year did Maren get hurt?": None,
        "Did Rosa get hurt?": None,
    }),
    ("longmemeval_odd_file", "agent:Agent", "longmemeval_oracle.json", {
        "How many days ago did I buy the reading lamp?": "ResponseError",
        "What speed is my internet plan?": None,
        "How many weeks passed between my flu and my tenth jog?": None,
        "How old is my hamster?": None,
        "How many egg tarts did I bake?": None,
    }),
    ("relative_dates", "agents:Good", "locomo10.json", {
        "When did Rosa go to the support group?": "ResponseError",
        "When did Maren run a charity race?": "ResponseError",
    }),
    ("relative_dates", "agents:Undated", "locomo10.json", {
        "When did Rosa go to the support group?": "ExtractionError",
        "When did Maren run a charity race?": "ExtractionError",
    }),
]  # fmt: skip


@pytest.mark.parametrize(("case", "program", "data", "wanted"), EVALUATED, ids=lambda one: str(one)[:30])
def test_what_is_said_of_an_evaluation(
    case: str, program: str, data: str, wanted: dict[str, str | None], tmp_path: Path
) -> None:
    shutil.copytree(CASES / case, tmp_path, dirs_exist_ok=True)
    run_program([sys.executable, "mk.py"], tmp_path)
    store = f"sqlite:///{tmp_path / 't.db'}"
    asked = ["evaluate", program, "--dataset", data, "--run", "run", "--judge", "f1"]
    run_program([MEMTRACE, *asked], tmp_path, MEMTRACE_STORE=store)
    verdicts = json.loads(run_program([MEMTRACE, "attribute", "--all", "--json"], tmp_path, MEMTRACE_STORE=store))
    said = {one["failureId"]: one["errorType"] for one in verdicts}
    failures = json.loads(run_program([MEMTRACE, "failures", "--json"], tmp_path, MEMTRACE_STORE=store))
    answered = ask_store(tmp_path / "t.db", lambda store: all_of(store, Variable))
    right = {one.preview for one in answered if one.kind is VariableKind.QUERY}
    wrong = {one["question"]: said[one["id"]] for one in failures}
    assert {question: wrong.get(question) for question in right} == wanted
    if case == "longmemeval_odd_file":
        # The program's `answer` takes any argument, so it is told the question's date.
        assert "2023, 5, 30" in (tmp_path / "seen.txt").read_text("utf-8")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with running(sqlite_place(tmp_path), tmp_path) as started:
        yield started


def _sent(case: str, server: RunningServer, folder: Path, **more: str) -> list[tuple[VariableKind, str]]:
    """Run a program that sends spans to the server; returns kinds and texts of the variables, when all is written."""
    settings = {"MEMTRACE_ENDPOINT": server.url, "MEMTRACE_API_KEY": server.key("writer", "default"), **more}
    run_program([python("pydantic-ai"), CASES / case / "app.py"], folder, **settings)
    drained(server)
    return ask_store(_file(server), _texts)  # type: ignore[no-any-return]


def _file(server: RunningServer) -> Path:
    return Path(server.place.store.removeprefix("sqlite:///"))


async def _texts(store: GraphStore) -> list[tuple[VariableKind, str]]:
    found = []
    for trace in (await store.traces()).items:
        graph = await TraceGraph.load(store, trace.id)
        texts = await graph.texts(graph.variables)
        found += [(graph.variables[id_].kind, text) for id_, text in texts.items()]
    return found


def _said(server: RunningServer, words: str, gold: str) -> str:
    """The error type of the verdict on an answer with these words, which is called wrong."""
    return str(ask_store(_file(server), lambda store: verdict_on(store, words, gold)).verdict.error_type)


def test_content_in_events_is_read(server: RunningServer, tmp_path: Path) -> None:
    found = _sent("otel_content_in_events", server, tmp_path)
    text = {kind: [said for one, said in found if one is kind] for kind in VariableKind}
    assert text[VariableKind.QUERY] == ["What is the alarm code of the shed?"]
    assert "It is 2280." in text[VariableKind.ANSWER]
    assert any("the alarm code of the shed is 2208" in said for said in text[VariableKind.PROMPT])
    assert any("shed code record 77" in said for _, said in found)
    assert _said(server, "It is 2280.", "2208") == "ResponseError"


def test_large_attributes_are_kept(server: RunningServer, tmp_path: Path) -> None:
    found = [said for _, said in _sent("otel_large_attributes", server, tmp_path)]
    assert sum("LAST LINE: the vault is behind the mirror." in said for said in found) >= 2
    assert max(map(len, found)) > 150_000  # the documented 192 KiB of a span, without the names around


def test_an_agent_with_a_memory_tool(server: RunningServer, tmp_path: Path) -> None:
    with scripted("pydantic_ai_tools", tmp_path) as url:
        found = _sent("pydantic_ai_tools", server, tmp_path, OPENAI_BASE_URL=url, OPENAI_API_KEY="none")
    kinds = Counter(kind for kind, _ in found)
    assert kinds[VariableKind.QUERY] >= 1
    assert kinds[VariableKind.ANSWER] == 1
    (answer,) = [said for kind, said in found if kind is VariableKind.ANSWER]
    assert _said(server, answer, "Penicillin") == "RetrievalError"
