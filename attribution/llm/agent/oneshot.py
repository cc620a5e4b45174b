"""The whole log in one prompt, as a baseline for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attribution.llm.agent.briefing import describe_failure
from attribution.llm.agent.log import log_of
from attribution.llm.agent.outcome import verdict_or_abstention
from attribution.llm.agent.pieces import checked_with_pieces
from attribution.llm.agent.prompt import prompt
from attribution.llm.agent.proposal import Proposal
from attribution.llm.agent.view import CaseView
from attribution.llm.transport.budget import Budget
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
"""Bytes per token, less than texts have on average, so that the log fits at the first attempt."""
_FRAME_BYTES = 2_000
_SHORTER = 3
"""How often the log is halved where the server says that it is too long."""


class Oneshot:
    """Attributes failures one by one, each with one reply; any number at a time."""

    def __init__(self, client: LlmClient) -> None:
        self._client = client

    async def attribute(
        self,
        graph: TraceGraph,
        failure: Failure,
        evidence: Sequence[str],
        budget: Budget | None = None,
        pieces: Sequence[Detail] = (),
    ) -> Verdict:
        """The verdict on a failure; an abstention where the model, its server or a budget allows none.

        Args:
            graph: the trace.
            failure: without gold answers, values that tell them are not shown.
            evidence: ids of the messages that hold the answer.
            budget: shared with other calls for this case; None makes one of its own. All that is spent of it is the
                verdict's usage.
            pieces: what the answer needed, as far as the free pass can tell.
        """
        budget = budget or self._client.case_budget()
        case = CaseView(graph, failure, evidence, pieces)
        details: dict[str, Any] = {}
        work = self._ask(case, budget, details)
        return await verdict_or_abstention(work, case, budget, self._client.settings.model, PROMPTS, details)

    async def _ask(self, case: CaseView, budget: Budget, details: dict[str, Any]) -> Verdict:
        system = "\n\n".join(map(prompt, PROMPTS))
        failure = await describe_failure(case)
        room = self._room(byte_size([system, data_block(failure), schema_of(Proposal).schema]), budget)
        for attempt in range(_SHORTER + 1):
            lines, missing = await log_of(case, room)
            details["operations_left_out"] = missing
            asked = {"failure": failure, "operations_left_out_at_the_start": missing, "log": lines}
            conversation = Conversation(system, f"Why is this answer wrong?\n{data_block(asked)}")
            try:
                return await self._client.structured(
                    conversation, Proposal, budget, lambda proposal: checked_with_pieces(case, proposal)
                )
            except LlmError as error:
                if error.kind is not Problem.CONTEXT or attempt == _SHORTER:
                    raise
            room //= 2
        raise AssertionError("the last attempt returns or raises")

    def _room(self, taken: int, budget: Budget) -> int:
        """Bytes that the log may have: what the model can take in, and what the budget allows for sure."""
        settings = self._client.settings
        room = (settings.context_tokens - settings.reply_tokens) * _BYTES_PER_TOKEN
        left = budget.tokens_left
        if left is not None:
            room = min(room, left - settings.reply_tokens)
        return max(room - taken - _FRAME_BYTES, 0)
