"""With a model that makes no mistake, ``auto`` spends little on it, and names every fault."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from attribution.benchmark.cases import BenchCase, load
from attribution.benchmark.scratch import scratch_store
from attribution.free_pass.trial import SURE
from attribution.llm.agent.view import FailureView as Shown
from attribution.llm.transport.settings import LlmSettings
from attribution.run import Options, attribute
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Method
from schema.kinds import ErrorType
from schema.models import Failure
from tests.attribution.llm.conftest import no_certificates, no_settings_of_this_machine
from tests.attribution.llm.judging import data_of, kind_of, right_reply
from tests.data import data_folder, needs_data
from tests.llm_server import Answer, Request, call, give, llm_server, say

__all__ = ["no_certificates", "no_settings_of_this_machine"]

pytestmark = needs_data

SYSTEMS = ("mem0",)
FILE = "locomo-5.json.zst"
MOST = 0.05
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Known:
    """A file with known faults, and what a perfect model would say about each fault.

    Attributes:
        proposals: the right verdict, by question.
        looks: the tool calls before the proposal, by question.
    """

    graph: TraceGraph
    cases: dict[str, BenchCase]
    proposals: dict[str, dict[str, Any]]
    looks: dict[str, list[tuple[str, dict[str, str]]]]

    def is_right(self, question: str, error_type: ErrorType | None, operation_id: str | None) -> bool:
        label = self.cases[question].label
        assert label is not None
        operation = None if operation_id is None else self.graph.operations[operation_id].external_id
        return (error_type, operation) == (label.error_type, label.operation)


class Ideal:
    """Says what a model would that makes no mistake, and leaves small judgements open; counts tokens by characters.

    Attributes:
        tokens: of all requests, also of the controls, which count with the failure that needed them first.
    """

    def __init__(self, known: Known) -> None:
        self._known = known
        self.tokens = 0

    def __call__(self, request: Request) -> Answer:
        kind = kind_of(request)
        if kind is not None:
            reply = right_reply(kind, data_of(request))
            if reply is None:
                return say("I can't tell.", self._usage(request, "I can't tell."))
            return give(reply, self._usage(request, reply))
        asked = json.loads(request.messages[1]["content"].partition("<data>")[2].partition("</data>")[0])
        question = asked["failure"]["question"]
        proposal = self._known.proposals[question]
        if "tools" not in request.body:
            return give(proposal, self._usage(request, proposal))
        if request.messages[-1]["role"] == "tool":
            calls: list[tuple[str, dict[str, Any]]] = [("propose_verdict", proposal)]
        else:
            calls = list(self._known.looks[question])
        return call(*calls, usage=self._usage(request, calls))

    def _usage(self, request: Request, reply: Any) -> tuple[int, int]:
        sent, said = (len(json.dumps(one, ensure_ascii=False)) // CHARACTERS_PER_TOKEN for one in (request.body, reply))
        self.tokens += sent + said
        return sent, said


async def _know(system: str, stack: AsyncExitStack) -> Known:
    folder = data_folder()
    assert folder is not None
    file = folder / "bench_reworded" / system / FILE
    store = await stack.enter_async_context(scratch_store(file))
    cases = (await load(store, file)).annotated
    graph = await TraceGraph.load(store, cases[0].failure.trace_id)
    known = Known(graph, {case.failure.question: case for case in cases}, {}, {})
    assert len(known.cases) == len(cases)
    for question, case in known.cases.items():
        known.proposals[question], known.looks[question] = await _proposal(graph, case)
    return known


async def _proposal(graph: TraceGraph, case: BenchCase) -> tuple[dict[str, Any], list[tuple[str, dict[str, str]]]]:
    """The right verdict on a case, and what a model looks at before."""
    label, shown = case.label, Shown(graph, case.failure, case.failure.evidence_ids)
    assert label is not None
    message = case.failure.evidence_ids[0]
    said = (await graph.text(message)).split("\n")[0][:60]
    steps = [{"variable": shown.variable_alias(message), "quote": said, "holds": True}]
    looks = [("look_at_variable", {"variable": shown.variable_alias(message)})]
    operation = next((one for one in graph.operations.values() if one.external_id == label.operation), None)
    alias = None
    if operation is not None:
        alias = shown.operation_alias(operation.id)
        looks.append(("look_at_operation", {"operation": alias}))
        if label.error_type is not ErrorType.JUDGE:
            # The operation's output lacks the detail. The output need not derive from the message.
            made = graph.made(operation.id)[0]
            steps = steps if graph.path(message, made) else []
            steps.append({"variable": shown.variable_alias(made), "quote": "", "holds": False})
    proposal = {
        "error_type": label.error_type,
        "operation": alias,
        "confidence": 0.95,
        "reason": "The detail is in the message, and was lost there.",
        "steps": steps,
        "alternatives": [],
    }
    return proposal, looks


@pytest.fixture(scope="module")
async def files() -> AsyncIterator[list[Known]]:
    async with AsyncExitStack() as stack:
        yield [await _know(system, stack) for system in SYSTEMS]


@dataclass(frozen=True)
class Run:
    """The result of a method on a list of failures.

    Attributes:
        right: questions whose error type and operation the method names.
        unsure: failures left with a low confidence.
        tokens: tokens spent.
    """

    right: set[str]
    unsure: list[Failure]
    tokens: int
    requests: list[Request]

    @property
    def results(self) -> list[str]:
        """What tools said to the agent."""
        return [one["content"] for request in self.requests for one in request.messages if one["role"] == "tool"]


async def _run(known: Known, method: Method, failures: Sequence[Failure], replies: Path) -> Run:
    model = Ideal(known)
    run = Run(set(), [], 0, [])
    with llm_server() as server:
        server.script(model, repeat=True)
        settings = LlmSettings(base_url=server.url, model="ideal")
        options = Options(method, llm=settings, replies=replies)
        async for outcome in attribute(known.graph.store, failures, options):
            found = outcome.attribution
            assert not outcome.cached
            assert found.error_type is not None, found.reason
            run = replace(run, tokens=run.tokens + (found.tokens or 0))
            if known.is_right(outcome.failure.question, found.error_type, found.operation_id):
                run.right.add(outcome.failure.question)
            if (found.confidence or 0.0) < SURE:
                run.unsure.append(outcome.failure)
        assert run.tokens == model.tokens
        return replace(run, requests=server.requests)


async def test_auto_spends_little_and_names_every_fault(files: list[Known], tmp_path: Path) -> None:
    spent, whole = 0, 0
    runs: list[Run] = []
    for known in files:
        failures = [case.failure for case in known.cases.values()]
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        free = await _run(known, Method.FLOW, failures, folder)
        assert free.requests == []
        log = await _run(known, Method.ONESHOT, failures, folder)
        assert log.right == set(known.cases)
        assert len(log.requests) == len(failures)
        auto = await _run(known, Method.AUTO, failures, folder)
        # The agent is asked only where the free pass is unsure.
        assert auto.right == free.right | {failure.question for failure in free.unsure}
        runs.append(auto)
        spent, whole = spent + auto.tokens, whole + log.tokens
    results = [result for run in runs for result in run.results]
    assert results
    assert [result for result in results if result.startswith(('{"error"', '{"rejected"'))] == []
    assert 0 < spent <= MOST * whole
