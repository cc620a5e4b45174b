"""The whole log of a trace in one prompt, as a baseline for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attribution.llm.agent.briefing import describe_failure
from attribution.llm.agent.log import log_of
from attribution.llm.agent.outcome import verdict_or_abstention
from attribution.llm.agent.pieces import checked_with_pieces
from attribution.llm.agent.prompt import prompt
from attribution.llm.agent.proposal import Proposal
from attribution.llm.agent.view import FailureView
from attribution.llm.transport.budget import LlmBudget
from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.conversation import Conversation, byte_size
from attribution.llm.transport.data import data_block
from attribution.llm.transport.errors import LlmError, Problem
from attribution.llm.transport.schemas import schema_of
from attribution.needed.presence import Detail
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Verdict
from schema.models import Failure

PROMPTS = ("oneshot", "taxonomy")

_BYTES_PER_TOKEN = 3
"""A low estimate, so that the log fits at the first attempt."""
_FRAME_BYTES = 2_000
_SHORTER = 3
"""How often the log is halved if the server says that it is too long."""


class Oneshot:
    """Attributes each failure with a single reply; several can run at the same time."""

    def __init__(self, client: LlmClient) -> None:
        self._client = client

    async def attribute(
        self,
        graph: TraceGraph,
        failure: Failure,
        evidence: Sequence[str],
        budget: LlmBudget | None = None,
        pieces: Sequence[Detail] = (),
    ) -> Verdict:
        """The verdict on a failure; an abstention if the model, its server or a budget prevents a verdict.

        Args:
            graph: the trace.
            failure: without gold answers, values that contain gold answers are not shown.
            evidence: ids of the messages that contain the answer.
            budget: shared by all calls for the failure; None makes a new budget. All usage counts for the verdict.
            pieces: what the answer needed, according to the free pass.
        """
        budget = budget or self._client.case_budget()
        view = FailureView(graph, failure, evidence, pieces)
        details: dict[str, Any] = {}
        work = self._ask(view, budget, details)
        return await verdict_or_abstention(work, view, budget, self._client.settings.model, PROMPTS, details)

    async def _ask(self, view: FailureView, budget: LlmBudget, details: dict[str, Any]) -> Verdict:
        system = "\n\n".join(map(prompt, PROMPTS))
        failure = await describe_failure(view)
        room = self._room(byte_size([system, data_block(failure), schema_of(Proposal).schema]), budget)
        for attempt in range(_SHORTER + 1):
            lines, missing = await log_of(view, room)
            details["operations_left_out"] = missing
            asked = {"failure": failure, "operations_left_out_at_the_start": missing, "log": lines}
            conversation = Conversation(system, f"Why is this answer wrong?\n{data_block(asked)}")
            try:
                return await self._client.structured(
                    conversation, Proposal, budget, lambda proposal: checked_with_pieces(view, proposal)
                )
            except LlmError as error:
                if error.kind is not Problem.CONTEXT or attempt == _SHORTER:
                    raise
            room //= 2
        raise AssertionError("the last attempt returns or raises")

    def _room(self, taken: int, budget: LlmBudget) -> int:
        """The maximal size of the log in bytes: by the model's context and by the budget."""
        settings = self._client.settings
        room = (settings.context_tokens - settings.reply_tokens) * _BYTES_PER_TOKEN
        left = budget.tokens_left
        if left is not None:
            room = min(room, left - settings.reply_tokens)
        return max(room - taken - _FRAME_BYTES, 0)
