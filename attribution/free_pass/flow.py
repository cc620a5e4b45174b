"""The free pass: finds the evidence of a failure, and tries the failure by rules (``trial``).

The trial follows what the answer needed through the graph, and names the operation that lost it.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

from attribution.free_pass import trial
from attribution.free_pass.ending import Ending
from attribution.free_pass.eyes import Eyes
from attribution.free_pass.needs import TriedFailure
from attribution.needed.find_evidence import find_evidence, states_it_itself
from attribution.needed.messages import Embedder, Messages, Mode, is_known
from attribution.needed.presence import Detail
from attribution.text.asked_part import asked_part
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Verdict
from schema.models import Failure
from store.runtime.garbage_collector import collector_paused

_RETRIEVED = 10
_GOLD_FREE = 0.7
"""Factor for the confidence of verdicts without gold answers."""


class FlowPass:
    """The free pass over traces. The messages of a trace are read once for all its failures."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._messages: dict[str, Messages] = {}

    async def messages(self, graph: TraceGraph) -> Messages:
        """The messages of a trace, cached."""
        if graph.trace_id not in self._messages:
            self._messages[graph.trace_id] = await Messages.read(graph, self._embedder)
        return self._messages[graph.trace_id]

    async def retrieve(self, graph: TraceGraph, failure: Failure, mode: Mode, limit: int = _RETRIEVED) -> list[str]:
        """The messages that are most similar to the evidence of a failure, best first."""
        return await (await self.messages(graph)).retrieve(failure, mode, limit, is_known(graph, failure))

    async def attribute(
        self,
        graph: TraceGraph,
        failure: Failure,
        *,
        gold_free: bool = False,
        eyes: Eyes | None = None,
    ) -> Verdict:
        """The verdict on one failure.

        Args:
            graph: the trace.
            failure: question, answer and gold answers; the attributes are not read.
            gold_free: ignore the gold answers.
            eyes: judge where texts alone don't decide.
        """
        # Without a model, a verdict takes less than a second and makes hardly any garbage. All temporary objects are
        # gone when the collector runs again, so that it need not scan them.
        with collector_paused() if eyes is None else nullcontext():
            return await self._verdict(graph, failure, gold_free or not failure.gold_answers, eyes)

    async def _verdict(self, graph: TraceGraph, failure: Failure, is_gold_free: bool, eyes: Eyes | None) -> Verdict:
        tried, retrieved = await self._tried(graph, failure, is_gold_free)
        found = await trial.verdict(tried, eyes)
        details = {"evidence": tried.evidence, "retrieved": retrieved, "goldFree": is_gold_free}
        worth = _GOLD_FREE if is_gold_free else 1.0
        return replace(
            found,
            confidence=round(found.confidence * worth, 4),
            details=details | found.details,
            losses=tuple(replace(one, confidence=round(one.confidence * worth, 4)) for one in found.losses),
        )

    async def endings(self, graph: TraceGraph, failure: Failure) -> list[list[Ending]]:
        """How each piece of the needed content ended; empty if nothing is needed or can be followed.

        A piece that several messages state has one ending for each of them, the furthest first.
        """
        tried, _ = await self._tried(graph, failure, is_gold_free=not failure.gold_answers)
        return await trial.all_endings(tried)

    async def pieces(self, graph: TraceGraph, failure: Failure, *, gold_free: bool = False) -> list[Detail]:
        """The pieces that the answer needed, each from the message that states it best; empty if nothing is needed."""
        tried, _ = await self._tried(graph, failure, gold_free or not failure.gold_answers)
        return trial.needed_details(tried)

    async def _tried(self, graph: TraceGraph, failure: Failure, is_gold_free: bool) -> tuple[TriedFailure, list[str]]:
        """The failure with its evidence; and the retrieved messages if the failure names no evidence."""
        messages = await self.messages(graph)
        failure = replace(failure, question=asked_part(failure.question))
        evidence = [message for message in failure.evidence_ids if message in messages.sentences]
        retrieved: list[str] = []
        if not evidence:
            mode = Mode.QUESTION if is_gold_free else Mode.GOLD
            known = is_known(graph, failure)
            retrieved = await messages.retrieve(failure, mode, _RETRIEVED, known)
            evidence = await find_evidence(messages, failure, retrieved, known, gold_free=is_gold_free)
            if not is_gold_free and states_it_itself(messages, failure, evidence):
                evidence = [failure.question_id]
        return TriedFailure(graph, messages, failure, evidence, is_gold_free, bool(retrieved)), retrieved
