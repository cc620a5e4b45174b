"""Runs a program that knows nothing of MemTrace, records it, and tries one of its answers as wrong."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from attribution.free_pass.flow import FlowPass
from attribution.trace.graph import TraceGraph
from attribution.trace.holes import holes
from attribution.verdicts.verdict import Verdict
from ingest.events.questions import questions_of
from ingest.files.registry import import_path
from schema.kinds import Origin, VariableKind
from schema.models import Failure, Operation
from store.contract.protocol import GraphStore
from store.open import open_database
from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.running import Run, run
from tests.sdk.instruments.scripted_openai import Script

PROGRAMS = Path(__file__).parent / "programs"
EVERYTHING = "langchain,langgraph,langmem,llamaindex,openai"


@dataclass(frozen=True)
class Tried:
    """A verdict, the blamed operation (None for an abstention), and the question that was found for the answer."""

    verdict: Verdict
    blamed: Operation | None
    question: str

    @property
    def said(self) -> tuple[str | None, str | None, str | None]:
        """The error type, and the kind and name of the blamed operation."""
        blamed = self.blamed
        kind, name = (None, None) if blamed is None else (blamed.kind, blamed.name)
        return self.verdict.error_type, kind, name


def recorded(program: str, environment: str, script: Script, folder: Path, *, in_one_trace: bool = False) -> Run:
    """The recorded run of a program of ``programs/``; ``in_one_trace``: as with ``memtrace run --one-trace``."""
    with scripted_openai.running(script) as model:
        settings = {"LANGSMITH_TRACING": "false", "OPENAI_API_BASE": model.url}
        if in_one_trace:
            settings["MEMTRACE_ONE_TRACE"] = "1"
        return run(
            str(PROGRAMS / program), environment, model=model.url, folder=folder, instrument=EVERYTHING, more=settings
        )


async def tried(run: Run, folder: Path, answer: str, gold: str) -> Tried:
    """The verdict on the newest answer with this text.

    Args:
        run: the recorded program.
        folder: for the store.
        answer: the text of the wrong answer.
        gold: the right answer.
    """
    path = folder / "events.ndjson"
    path.write_text("\n".join(json.dumps(event) for event in run.events), "utf-8")
    (folder / "cases.db").unlink(missing_ok=True)
    async with await open_database(f"sqlite:///{folder / 'cases.db'}") as database:
        store = database.project("cases")
        await import_path(store, path)
        for trace in (await store.traces()).items:
            graph = await TraceGraph.load(store, trace.id)
            texts = await graph.texts(graph.variables)
            ids = [id_ for id_, text in texts.items() if text == answer and graph.variables[id_].kind in _ANSWERS]
            if ids:
                return await _tried(store, graph, ids[-1], gold)
    raise AssertionError(f"no answer {answer!r} is recorded")


async def checked(run: Run, folder: Path) -> list[str]:
    """What a check says is missing in the program's trace."""
    path = folder / "events.ndjson"
    path.write_text("\n".join(json.dumps(event) for event in run.events), "utf-8")
    async with await open_database(f"sqlite:///{folder / 'checked.db'}") as database:
        store = database.project("checked")
        await import_path(store, path)
        (trace,) = (await store.traces()).items
        return [one.problem for one in await holes(await TraceGraph.load(store, trace.id))]


async def _tried(store: GraphStore, graph: TraceGraph, answer: str, gold: str) -> Tried:
    (asked,) = (await questions_of(store, [graph.variables[answer]]))[answer]
    said, question = await graph.text(answer), await graph.text(asked.id)
    failure = Failure(
        "f", "cases", graph.trace_id, Origin.USER, asked.id, answer, None, (), question, said, (gold,), None
    )
    verdict = await FlowPass().attribute(graph, failure)
    return Tried(verdict, graph.operations.get(verdict.operation_id or ""), question)


_ANSWERS = frozenset({VariableKind.RESPONSE, VariableKind.ANSWER})
