"""Attributes many failures: errors stay local, paid verdicts are reused, and each verdict is stored at once."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from attribution.free_pass.flow import FlowPass
from attribution.free_pass.proof_path import problems
from attribution.free_pass.trial import SURE
from attribution.needed.messages import Mode
from attribution.needed.question import form, question_kind
from attribution.trace.graph import TraceGraph
from attribution.verdicts.gold import gold_mark
from attribution.verdicts.probabilities import least
from attribution.verdicts.verdict import (
    Method,
    Verdict,
    abstention,
    attribution_id,
    failed_attempt,
    has_failed,
    own_loss,
    to_attribution,
    unsure,
)
from schema.errors import InputError, MemTraceError, NotFoundError
from schema.models import NO_ATTRIBUTES, Attribution, Batch, Failure, Trace
from store.contract.answers import Label
from store.contract.protocol import GraphStore

if TYPE_CHECKING:
    from attribution.llm.transport.client import LlmClient
    from attribution.llm.transport.settings import LlmSettings
    from attribution.llm.walk.walk import Walker

RULES = "88"
"""The version of the free pass's rules. Verdicts by other versions are not reused."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to attribute.

    Attributes:
        gold_free: ignore the gold answers.
        retrieve_evidence: search for the evidence, even if it is given.
        llm: the model's settings, needed by all methods but ``flow``.
        replies: the folder of cached model replies; None for a folder in the user's cache.
        concurrency: the number of failures at a time, if a model is used.
        min_confidence: verdicts below it become abstentions with a candidate. None is the fitted threshold (see
            ``attribution.verdicts.probabilities``) for ``flow`` with gold answers, else 0.
    """

    method: Method = Method.FLOW
    gold_free: bool = False
    retrieve_evidence: bool = False
    llm: LlmSettings | None = None
    replies: Path | None = None
    concurrency: int = 4
    min_confidence: float | None = None

    @property
    def least(self) -> float:
        """The lowest confidence of a verdict that is not turned into an abstention."""
        if self.min_confidence is not None:
            return self.min_confidence
        return least() if self.method is Method.FLOW and not self.gold_free else 0.0


@dataclass(frozen=True, slots=True)
class AttributedFailure:
    """The verdict on one failure; ``cached`` if an earlier verdict was reused."""

    failure: Failure
    attribution: Attribution
    cached: bool


async def attribute(
    store: GraphStore, failures: Sequence[Failure], options: Options
) -> AsyncGenerator[AttributedFailure, None]:
    """Attribute failures, trace by trace; each verdict is stored before it is yielded.

    An error in one failure makes its verdict an abstention with the reason, and does not affect others. The next run
    tries this failure again. A failure that is withdrawn during the run gets no verdict and no outcome.

    Raises:
        InputError: the method needs a model, and no settings are given.
    """
    if options.method is not Method.FLOW and options.llm is None:
        raise InputError("attribute", "method", f"{options.method} needs a language model: set MEMTRACE_LLM_MODEL")
    by_trace: dict[str, list[Failure]] = defaultdict(list)
    for failure in failures:
        by_trace[failure.trace_id].append(failure)
    async with AsyncExitStack() as stack:
        walker = await stack.enter_async_context(_walker(options)) if options.llm is not None else None
        for trace_id, some in by_trace.items():
            async for outcome in _Run(store, options, walker, trace_id).all(some):
                yield outcome


@asynccontextmanager
async def _walker(options: Options) -> AsyncGenerator[Walker]:
    """The walker of a run, with the client of the model that all methods use."""
    from attribution.llm.transport.cache import FileCache, default_folder
    from attribution.llm.transport.client import LlmClient
    from attribution.llm.walk.walk import Walker

    assert options.llm is not None
    async with LlmClient(options.llm, FileCache(options.replies or default_folder())) as client:
        yield Walker(client)


class _Run:
    """The failures of one trace."""

    def __init__(self, store: GraphStore, options: Options, walker: Walker | None, trace_id: str) -> None:
        self._store = store
        self._options = options
        self._walker = walker
        self._client: LlmClient | None = None if walker is None else walker.client
        self._trace_id = trace_id
        client = self._client
        self._flow = FlowPass(client if client is not None and client.settings.embedding_model else None)
        self._graph: TraceGraph | None = None
        self._loading = asyncio.Lock()

    async def all(self, failures: Sequence[Failure]) -> AsyncGenerator[AttributedFailure, None]:
        found = await self._store.get(Label.TRACE, [self._trace_id])
        if not found:
            raise NotFoundError(f"there is no trace {self._trace_id}")
        trace = cast("Trace", found[0])
        labels = (await self._store.stats(self._trace_id)).labels
        size = {label: labels.get(label, 0) for label in ("Variable", "Operation", "Derivation")}
        ids = {failure.id: self._inputs(failure, size) for failure in failures}
        method = self._options.method
        wanted = [attribution_id(failure.id, method, ids[failure.id]) for failure in failures]
        known = {one.id: cast("Attribution", one) for one in await self._store.get(Label.ATTRIBUTION, wanted)}
        newest = {one.failure_id: one.id for one in await self._store.attributions(list(ids)) if one.method == method}
        waiting: list[Failure] = []
        for failure, id_ in zip(failures, wanted, strict=True):
            one = known.get(id_)
            # A model's abstention may be its server's fault, so the model is asked again; cached replies make this
            # cheap.
            if one is not None and (one.error_type is not None or (one.model is None and not has_failed(one))):
                if newest[failure.id] != one.id:
                    # The reused verdict becomes the newest of this method.
                    one = replace(one, created_at=datetime.now(UTC))
                    if not await self._stored(trace, one):
                        continue
                yield AttributedFailure(failure, one, cached=True)
            else:
                waiting.append(failure)
        width = max(1, self._options.concurrency) if self._client is not None else 1
        queue = list(reversed(waiting))
        tasks: set[asyncio.Task[AttributedFailure | None]] = set()
        try:
            while queue or tasks:
                while queue and len(tasks) < width:
                    failure = queue.pop()
                    tasks.add(asyncio.create_task(self._one(trace, failure, ids[failure.id])))
                done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    outcome = task.result()
                    if outcome is not None:
                        yield outcome
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _stored(self, trace: Trace, attribution: Attribution) -> bool:
        """Store a verdict; False if its failure was withdrawn meanwhile, in which case nothing is stored."""
        try:
            await self._store.write(Batch(trace, attributions=[attribution]))
        except InputError:
            if await self._store.get(Label.FAILURE, [attribution.failure_id]):
                raise
            return False
        return True

    async def _one(self, trace: Trace, failure: Failure, inputs: str) -> AttributedFailure | None:
        start = time.perf_counter()
        # Data sets keep labels in the attributes of failures; no method may see them.
        seen = replace(failure, attributes=NO_ATTRIBUTES)
        if self._options.retrieve_evidence:
            seen = replace(seen, evidence_ids=())
        try:
            async with self._loading:
                if self._graph is None:
                    self._graph = await TraceGraph.load(self._store, self._trace_id)
            verdict = await self._verdict(self._graph, seen)
            wrong = await problems(verdict, self._graph)
            if wrong:
                verdict = abstention(f"the path of the verdict does not hold: {wrong[0]}")
            elif verdict.confidence < self._options.least:
                verdict = unsure(verdict, self._options.least)
        except MemTraceError as error:
            verdict = failed_attempt(str(error))
        except Exception as error:  # one failure never ends the run; the message may contain values, the type does not
            verdict = failed_attempt(f"attribution failed ({type(error).__name__})")
        asked = verdict.question_kind or question_kind(form(failure), len(verdict.losses))
        verdict = replace(verdict, seconds=time.perf_counter() - start, question_kind=asked)
        if not self._options.gold_free:
            verdict = replace(verdict, details=verdict.details | gold_mark(failure))
        attribution = to_attribution(verdict, failure, self._options.method, inputs)
        return AttributedFailure(failure, attribution, cached=False) if await self._stored(trace, attribution) else None

    async def _verdict(self, graph: TraceGraph, failure: Failure) -> Verdict:
        options = self._options
        if options.method is Method.FLOW or self._walker is None:
            return await self._flow.attribute(graph, failure, gold_free=options.gold_free)
        if options.method is Method.WALK:
            return await self._walker.attribute(self._flow, graph, failure, gold_free=options.gold_free)
        if options.method is Method.AUTO:
            return await self._auto(graph, failure, self._walker)
        client = self._walker.client
        evidence = await self._evidence(graph, failure)
        pieces = await self._flow.pieces(graph, failure, gold_free=options.gold_free)
        asked = replace(failure, gold_answers=(), expected_id=None) if options.gold_free else failure
        if options.method is Method.LLM:
            from attribution.llm.agent.agent import Agent

            verdict = await Agent(client).attribute(graph, asked, evidence, pieces=pieces)
        else:
            from attribution.llm.agent.oneshot import Oneshot

            verdict = await Oneshot(client).attribute(graph, asked, evidence, pieces=pieces)
        if not failure.evidence_ids:
            verdict.details["retrieved"] = evidence
        return replace(verdict, losses=verdict.losses or own_loss(verdict))

    async def _auto(self, graph: TraceGraph, failure: Failure, walker: Walker) -> Verdict:
        """The walk; if still unsure, the agent, unless the controls show that the model is not good enough for it."""
        from attribution.llm.agent.agent import Agent

        gold_free, client = self._options.gold_free, walker.client
        budget = client.case_budget()
        walked = await walker.attribute(self._flow, graph, failure, gold_free=gold_free, budget=budget)
        if walked.confidence >= SURE:
            return walked
        may_explore = await walker.may_explore(budget)
        walked = walker.charged(walked, budget)
        if not may_explore:
            return walked
        asked = replace(failure, gold_answers=(), expected_id=None) if gold_free else failure
        pieces = await self._flow.pieces(graph, failure, gold_free=gold_free)
        evidence = walked.details["evidence"]
        explored = await Agent(client).attribute(graph, asked, evidence, walked, budget, pieces)
        if explored.error_type is not None:
            # A model may name one fault only; then the free pass's endings of several pieces are kept.
            losses = explored.losses or (walked.losses if len(walked.losses) > 1 else own_loss(explored))
            details = walked.details | explored.details
            return replace(explored, details=details, losses=losses, question_kind=walked.question_kind)
        details = walked.details | explored.details | {"agent": explored.reason}
        return walker.charged(replace(walked, details=details), budget)

    async def _evidence(self, graph: TraceGraph, failure: Failure) -> list[str]:
        given = [message for message in failure.evidence_ids if message in graph.variables]
        mode = Mode.QUESTION if self._options.gold_free else Mode.GOLD
        return given or await self._flow.retrieve(graph, failure, mode)

    def _inputs(self, failure: Failure, size: dict[str, int]) -> str:
        """Hash of everything that a verdict depends on."""
        options, llm = self._options, self._options.llm
        asked = [failure.question_id, failure.answer_id, failure.question, failure.prediction, failure.gold_answers]
        given = () if options.retrieve_evidence else failure.evidence_ids
        model = None if llm is None else [llm.base_url, llm.model, llm.temperature, llm.embedding_model, _prompts()]
        parts = [RULES, size, asked, given, options.method, options.gold_free, options.least, model]
        return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _prompts() -> dict[str, str]:
    from attribution.llm.agent.prompt import prompt_hashes
    from attribution.llm.walk.asking import walk_hash

    return prompt_hashes("agent", "oneshot", "taxonomy") | {"walk": walk_hash()}
