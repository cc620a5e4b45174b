"""A model that judges whether an answer is right: ``memtrace evaluate --judge llm``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from attribution.llm.agent.prompt import prompt
from attribution.llm.agent.proposal import Probability
from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.data import data_block
from optimization.harness.datasets.model import Question
from optimization.harness.judging import Judgement

PROMPT = "answer_judge"


class Said(BaseModel):
    """The model's reply about an answer."""

    model_config = ConfigDict(extra="forbid")

    reason: str
    right: bool
    score: Probability


class LlmJudge:
    """A ``Judge`` that asks a model. The client caches replies, so no judgement is paid twice."""

    name = "llm"

    def __init__(self, client: LlmClient) -> None:
        """``client``: must stay open while the judge is used; its settings limit the cost per answer and per run."""
        self._client = client

    async def judge(self, question: Question, answer: str) -> Judgement:
        """Ask the model.

        Raises:
            BudgetError: the call could exceed the budget, and was not made.
            LlmError: there is no valid reply.
        """
        asked = {
            "question": question.text,
            "gold": list(question.gold) or "the question can't be answered from what was said",
            "answer": answer,
        }
        conversation = Conversation(prompt(PROMPT), f"Is the answer right?\n{data_block(asked)}")
        said = await self._client.structured(conversation, Said, self._client.case_budget(), _as_it_is)
        return Judgement(said.right, said.score, said.reason[:500])


async def _as_it_is(said: Said) -> Said:
    return said
