"""A model that judges whether an answer is right: ``memtrace evaluate --judge llm``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from attribution.llm.agent.prompt import prompt
from attribution.llm.agent.proposal import Probability
from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.data import data_block
from attribution.needed.gold_agreement import tells_another_amount
from attribution.needed.missing_date import is_relative, tells_no_date
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
    """A ``Judge`` that asks a model. The client caches replies, so no judgement is paid twice.

    A model's yes does not count for an answer that names another date, number or time of day than each gold answer, or
    only a day of the week or a relative date where a date is asked for.
    """

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
        fault = _fault(question, answer) if said.right else None
        return Judgement(False, 0.0, fault) if fault else Judgement(said.right, said.score, said.reason[:500])


def _fault(question: Question, answer: str) -> str | None:
    """What the words of an answer prove to be wrong with it; None if they prove nothing."""
    if not question.gold:
        return None
    asked = question.time.toordinal() if question.time else None
    if tells_no_date(question.gold, answer, asked):
        return "the model says that it is right, but it names a day of the week or a relative date, and no date"
    if not is_relative(answer) and all(tells_another_amount(gold, answer) for gold in question.gold):
        return "the model says that it is right, but it names another date, number or time"
    return None


async def _as_it_is(said: Said) -> Said:
    return said
