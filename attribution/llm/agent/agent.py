"""An agent that explores the graph of a trace with tools, and ends with a verdict that is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from attribution.llm.agent.briefing import describe_failure, describe_hint, describe_trace
from attribution.llm.agent.naming import describe_shared, shared_names
from attribution.llm.agent.outcome import verdict_or_abstention
from attribution.llm.agent.pieces import checked_with_pieces
from attribution.llm.agent.prompt import prompt
from attribution.llm.agent.proposal import Proposal
from attribution.llm.agent.tools import PROPOSE, Tools, step_schema, tool_descriptions, tool_names
from attribution.llm.agent.view import FailureView
from attribution.llm.transport.budget import LlmBudget
from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.data import as_data, data_block
from attribution.llm.transport.errors import LlmError, Problem
from attribution.llm.transport.reply import Reply, ToolCall
from attribution.llm.transport.schemas import Rejected, problems_of
from attribution.llm.transport.text_calls import calls_in, without_thoughts
from attribution.needed.presence import Detail
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Verdict
from schema.models import Failure

PROMPTS = ("agent", "taxonomy")

_MOST_REJECTIONS = 5
_MOST_IDLE = 3
"""Largest number of consecutive replies without a call of a tool."""
_MOST_CALLS = 8
"""Largest number of tool calls in one reply that are carried out."""
_MOST_REPEATS = 3
"""After this number of replies in a row with known calls only, the model may only propose a verdict."""
_ENDLESS = 10
"""After this number of them, nothing else is expected of the model."""
_REPEATED = f"this result stands above already: look at something else, or end with {PROPOSE}"
_UNCLEAR = f"several operations have this name: call {PROPOSE} again, with the id of the one that you mean"
_STEPS_LEFT = 3
"""When less time is left than this number of the slowest replies take, the model may only propose a verdict."""
_BEGINNING = 80
_TRAIL = 200
_TRAIL_CHARACTERS = 200
_NUDGE = f"Call a tool: look further, or end with {PROPOSE}."
_BY_SCHEMA = (
    "Reply with one JSON object and nothing else: the name of a tool, and its arguments, as in "
    '{"name": "search", "arguments": {"words": "..."}}. The tools:'
)


@dataclass
class _Exploration:
    """One conversation about one failure.

    Attributes:
        most_replies: number of calls that the budget allowed at the beginning; None means no limit.
        is_by_schema: whether each step is asked for as JSON, because the model or its server calls no tools.
        has_written: whether the model writes its calls as text, so that it gets the results as text.
        shown: the message with the result of each call, and the result itself, which may be dropped from the message.
        repeats: the number of replies in a row all of whose calls have their results in the conversation already.
        explained: names of several operations that the model was told of.
        slowest: the most seconds that a reply has taken; 0 where no time limit counts them.
    """

    view: FailureView
    tools: Tools
    conversation: Conversation
    budget: LlmBudget
    most_replies: int | None
    replies: int = 0
    is_by_schema: bool = False
    has_written: bool = False
    trail: list[str] = field(default_factory=list)
    rejections: list[str] = field(default_factory=list)
    shown: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)
    repeats: int = 0
    explained: set[str] = field(default_factory=set)
    slowest: float = 0.0

    def is_shown(self, asked: str) -> bool:
        """Whether the conversation has the result of a call."""
        message, result = self.shown.get(asked, ({}, ""))
        return bool(message) and message["content"] == result

    @property
    def calls_left(self) -> int | None:
        """The number shown to the model. Failed attempts don't count, so that a resumed run shows the same number."""
        return None if self.most_replies is None else max(self.most_replies - self.replies, 0)


class Agent:
    """Attributes failures one by one; several can run at the same time."""

    def __init__(self, client: LlmClient) -> None:
        self._client = client

    async def attribute(
        self,
        graph: TraceGraph,
        failure: Failure,
        evidence: Sequence[str],
        hint: Verdict | None = None,
        budget: LlmBudget | None = None,
        pieces: Sequence[Detail] = (),
    ) -> Verdict:
        """The verdict on a failure; an abstention if the model, its server or a budget prevents a verdict.

        Args:
            graph: the trace.
            failure: without gold answers, values that contain gold answers are not shown.
            evidence: ids of the messages that contain the answer.
            hint: the verdict of the free pass.
            budget: shared by all calls for the failure; None makes a new budget. All usage counts for the verdict.
            pieces: what the answer needed, according to the free pass.
        """
        budget = budget or self._client.case_budget()
        view = FailureView(graph, failure, evidence, pieces)
        details: dict[str, Any] = {}
        work = self._explore(view, hint, budget, details)
        return await verdict_or_abstention(work, view, budget, self._client.settings.model, PROMPTS, details)

    async def _explore(
        self, view: FailureView, hint: Verdict | None, budget: LlmBudget, details: dict[str, Any]
    ) -> Verdict:
        asked = {"failure": await describe_failure(view), "trace": describe_trace(view)}
        if hint is not None:
            asked["hint"] = describe_hint(view, hint)
        system = "\n\n".join(map(prompt, PROMPTS))
        conversation = Conversation(system, f"Why is this answer wrong?\n{data_block(asked)}")
        exploration = _Exploration(view, Tools(view), conversation, budget, budget.calls_left)
        details |= {"trail": exploration.trail, "rejections": exploration.rejections}
        known = await self._client.abilities()
        if not known.calls_tools:
            self._ask_by_schema(exploration)
        idle = 0
        while True:
            left = budget.seconds_left
            reply = await self._next(exploration)
            if left is not None:
                exploration.slowest = max(exploration.slowest, left - (budget.seconds_left or 0.0))
            exploration.replies += 1
            conversation.add(reply.message())
            calls = reply.calls or calls_in(reply.content, tool_names())
            if calls:
                if exploration.is_by_schema and not exploration.trail and not exploration.rejections:
                    await self._client.remember(replace(await self._client.abilities(), calls_tools=False))
                idle = 0
                exploration.has_written = not reply.calls
                verdict = await self._carry_out(exploration, calls)
                if verdict is not None:
                    return verdict
                continue
            idle += 1
            if idle == _MOST_IDLE:
                raise LlmError(Problem.INVALID, f"the model called no tool in {idle} replies{_said(reply)}")
            self._ask_by_schema(exploration)

    def _ask_by_schema(self, exploration: _Exploration) -> None:
        """From now on, ask for each step as JSON."""
        if not exploration.is_by_schema:
            exploration.is_by_schema = True
            tools = [one["function"] for one in tool_descriptions()]
            exploration.conversation.say(f"{_BY_SCHEMA}\n{data_block(tools)}")
        else:
            exploration.conversation.say(_NUDGE)

    async def _next(self, exploration: _Exploration) -> Reply:
        conversation, budget, settings = exploration.conversation, exploration.budget, self._client.settings
        conversation.shorten(settings.context_tokens - settings.reply_tokens)
        once = self._client.estimate(conversation, tool_descriptions())
        # Leaves room for two proposals, in case the first is invalid.
        is_stuck = exploration.repeats >= _MOST_REPEATS
        if is_stuck and not exploration.is_by_schema:
            self._ask_by_schema(exploration)
        is_late = budget.seconds_left is not None and budget.seconds_left < _STEPS_LEFT * exploration.slowest
        is_last = is_stuck or is_late or not budget.allows(once + once + once)
        try:
            return await self._step(exploration, is_last)
        except LlmError as error:
            # A model that rambles on, in place of calling a tool, can't when a schema leaves it no room.
            if error.kind in {Problem.UNSUPPORTED, Problem.LENGTH} and not exploration.is_by_schema:
                self._ask_by_schema(exploration)
            # The estimate was too low, or the model's context is smaller than configured.
            elif error.kind is not Problem.CONTEXT or not conversation.shorten(0):
                raise
        return await self._step(exploration, is_last)

    async def _step(self, exploration: _Exploration, is_last: bool) -> Reply:
        conversation, budget = exploration.conversation, exploration.budget
        if exploration.is_by_schema:
            return await self._client.complete(conversation, budget, schema=step_schema(only_propose=is_last))
        return await self._client.complete(conversation, budget, tool_descriptions(only_propose=is_last))

    async def _carry_out(self, exploration: _Exploration, calls: Sequence[ToolCall]) -> Verdict | None:
        """Answer every call, as the protocol demands; returns the verdict if a valid one was proposed."""
        has_looked, is_new = False, False
        for number, call in enumerate(calls):
            asked = ""
            if number >= _MOST_CALLS:
                result: dict[str, Any] = {"error": f"at most {_MOST_CALLS} calls in one reply"}
            elif call.name == PROPOSE:
                found = await self._proposed(exploration, call)
                if isinstance(found, Verdict):
                    return found
                result = found
            else:
                asked, result = await self._looked(exploration, call)
                has_looked, is_new = True, is_new or bool(asked)
            if number == len(calls) - 1:
                result = result | {"calls_left": exploration.calls_left}
            if exploration.has_written:
                message = {"role": "user", "content": f"Result of {call.name}:\n{data_block(result)}"}
            else:
                message = {"role": "tool", "tool_call_id": call.id, "content": as_data(result)}
            exploration.conversation.result(message)
            if asked:
                exploration.shown[asked] = (message, message["content"])
        if has_looked:
            exploration.repeats = 0 if is_new else exploration.repeats + 1
        if exploration.repeats == _ENDLESS:
            last = exploration.trail[-1]
            raise LlmError(Problem.INVALID, f"the model repeated its calls in {_ENDLESS} replies, at last {last}")
        return None

    async def _looked(self, exploration: _Exploration, call: ToolCall) -> tuple[str, dict[str, Any]]:
        """The call as text, and its result; no text for a call whose result the conversation has already."""
        asked = f"{call.name} {as_data(call.arguments)}"
        if len(exploration.trail) < _TRAIL:
            exploration.trail.append(asked[:_TRAIL_CHARACTERS])
        if exploration.is_shown(asked):
            return "", {"error": _REPEATED}
        return asked, await exploration.tools.call(call.name, call.arguments)

    async def _proposed(self, exploration: _Exploration, call: ToolCall) -> Verdict | dict[str, Any]:
        """The verdict, or what to tell the model: why it can't stand, or which operations a name may mean.

        A name that several operations have is told once, and does not count as a proposal that can't stand.
        """
        view = exploration.view
        try:
            proposal = Proposal.model_validate(call.arguments)
            unclear = [one for one in shared_names(view, proposal) if one not in exploration.explained]
            if unclear:
                exploration.repeats = 0
                exploration.explained.update(unclear)
                return {"unclear": [describe_shared(view, one) for one in unclear], "note": _UNCLEAR}
            return await checked_with_pieces(view, proposal)
        except ValidationError as error:
            rejection = Rejected(*problems_of(error))
        except Rejected as error:
            rejection = error
        exploration.repeats = 0
        exploration.rejections.append(str(rejection)[:500])
        if len(exploration.rejections) == _MOST_REJECTIONS:
            raise LlmError(
                Problem.INVALID,
                f"{_MOST_REJECTIONS} proposals could not stand, the last one because: {rejection}"[:600],
            )
        return {"rejected": rejection.problems}


def _said(reply: Reply) -> str:
    """How the reply began, for the reason of an abstention."""
    said = " ".join(without_thoughts(reply.content).split())
    if said:
        return f"; the last one begins {said[:_BEGINNING]!r}"
    return "; the last one is empty" if not reply.content.strip() else "; the last one has only thoughts"
