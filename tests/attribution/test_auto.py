"""With a model that judges rightly, ``auto`` spends little on it, and names every fault that the free pass names."""

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
from attribution.free_pass.detail_finder import DetailFinder
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.trial import SURE
from attribution.llm.agent.view import FailureView as Shown
from attribution.llm.transport.settings import LlmSettings
from attribution.needed.evidence_sentences import best_detail, content_of_gold
from attribution.needed.messages import Messages
from attribution.needed.presence import HOLDS
from attribution.run import Options, attribute
from attribution.text.segments import passage
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Method
from ingest.files.registry import import_path
from schema.kinds import ErrorType
from schema.models import Failure
from tests.attribution.llm.conftest import no_certificates, no_settings_of_this_machine
from tests.data import data_folder, needs_data
from tests.llm_server import Answer, Request, call, give, llm_server

__all__ = ["no_certificates", "no_settings_of_this_machine"]

pytestmark = needs_data

SYSTEMS = ("mem0",)
FILE = "locomo-5.json.zst"
MOST = 0.05
CHARACTERS_PER_TOKEN = 4
UNSURE = 0.2
"""How far from ``HOLDS`` words leave a presence open."""


@dataclass(frozen=True)
class Known:
    """A file with known faults, and what a perfect model would say about each fault.

    Attributes:
        proposals: the right verdict, by question.
        looks: the tool calls before the proposal, by question.
        finders: the finder of each detail, by the detail in plain words.
        plain: the original text of each reworded text.
    """

    graph: TraceGraph
    cases: dict[str, BenchCase]
    proposals: dict[str, dict[str, Any]]
    looks: dict[str, list[tuple[str, dict[str, str]]]]
    finders: dict[str, DetailFinder]
    plain: dict[str, str]

    def is_right(self, question: str, error_type: ErrorType | None, operation_id: str | None) -> bool:
        label = self.cases[question].label
        assert label is not None
        operation = None if operation_id is None else self.graph.operations[operation_id].external_id
        return (error_type, operation) == (label.error_type, label.operation)


class Ideal:
    """Says what a model would that makes no mistake; counts its tokens by characters.

    Attributes:
        decides: whether it judges presence, or leaves it open.
    """

    def __init__(self, known: Known, *, decides: bool) -> None:
        self._known = known
        self._decides = decides
        self.tokens = 0

    def __call__(self, request: Request) -> Answer:
        asked = json.loads(request.messages[1]["content"].partition("<data>")[2].partition("</data>")[0])
        if isinstance(asked, list):
            judged = [self._judged(one["number"], one["detail"], one["text"]) for one in asked]
            document: dict[str, Any] = {"judgements": [one for one in judged if one is not None]}
            return give(document, self._usage(request, document))
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

    def _judged(self, number: int, detail: str, text: str) -> dict[str, Any] | None:
        """Say whether the original text held the detail; None where words alone don't decide."""
        finder, plain = self._known.finders.get(detail), self._known.plain.get(text)
        if not self._decides or finder is None or plain is None:
            return None
        found = finder.presence(plain)
        if abs(found.score - HOLDS) < UNSURE:
            return None
        if found.score < HOLDS:
            return {"number": number, "present": False, "quote": "", "confidence": 0.95}
        before, after = passage(plain), passage(text)
        place = next((n for n, one in enumerate(before) if one.sentence.text == found.quote), None)
        if place is None or len(before) != len(after):
            return None
        return {"number": number, "present": True, "quote": after[place].sentence.text, "confidence": 0.95}


async def _know(system: str, stack: AsyncExitStack) -> Known:
    folder = data_folder()
    assert folder is not None
    file, before = folder / "bench_reworded" / system / FILE, folder / "bench" / system / FILE
    store, other = [await stack.enter_async_context(scratch_store(one)) for one in (file, before)]
    cases = (await load(store, file)).annotated
    graph = await TraceGraph.load(store, cases[0].failure.trace_id)
    plain = await TraceGraph.load(other, (await import_path(other, before)).trace_id)
    known = Known(graph, {case.failure.question: case for case in cases}, {}, {}, {}, await _pairs(graph, plain))
    assert len(known.cases) == len(cases)
    messages = await Messages.read(graph)
    for question, case in known.cases.items():
        known.proposals[question], known.looks[question] = await _proposal(graph, case)
        failure = case.failure
        detail = best_detail(messages, failure, failure.evidence_ids, content_of_gold(messages, failure))
        assert detail is not None
        known.finders[detail.plain(failure)] = FailureInTrace.of(graph, messages, failure, detail).finder
    return known


async def _pairs(graph: TraceGraph, plain: TraceGraph) -> dict[str, str]:
    """Map each text of a graph to the text with the same id in the other graph."""
    ids = {variable.external_id: variable.id for variable in plain.variables.values()}
    texts, others = await graph.texts(graph.variables), await plain.texts(plain.variables)
    return {texts[one.id]: others[ids[one.external_id]] for one in graph.variables.values()}


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


async def _run(known: Known, method: Method, failures: Sequence[Failure], replies: Path, decides: bool = True) -> Run:
    model = Ideal(known, decides=decides)
    run = Run(set(), [], 0, [])
    with llm_server() as server:
        server.script(model, repeat=True)
        # Replies and verdicts are kept by the model's name, too, and a port may come back.
        settings = LlmSettings(base_url=server.url, model="decides" if decides else "leaves-open")
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


async def test_auto_spends_little_and_is_nowhere_worse(files: list[Known], tmp_path: Path) -> None:
    spent, open_spent, whole = 0, 0, 0
    agents: list[Run] = []
    for known in files:
        failures = [case.failure for case in known.cases.values()]
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        free = await _run(known, Method.FLOW, failures, folder)
        assert free.requests == []
        log = await _run(known, Method.ONESHOT, failures, folder)
        assert log.right == set(known.cases)
        assert len(log.requests) == len(failures)
        auto = await _run(known, Method.AUTO, failures, folder)
        assert free.right - auto.right == set()
        # Where presence is left open the agent is asked; of what it is sure of, the free pass asks nobody.
        left_open = await _run(known, Method.AUTO, free.unsure, folder, decides=False)
        assert left_open.right == {failure.question for failure in free.unsure}
        agents += [auto, left_open]
        spent, open_spent, whole = spent + auto.tokens, open_spent + left_open.tokens, whole + log.tokens
    results = [result for run in agents for result in run.results]
    assert results
    assert [result for result in results if result.startswith(('{"error"', '{"rejected"'))] == []
    assert 0 < spent <= MOST * whole
    assert 0 < open_spent <= MOST * whole
