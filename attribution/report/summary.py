"""A summary by a model. Sentences that cite no case are left out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from pydantic import BaseModel

from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.data import as_data, data_block
from attribution.llm.transport.schemas import Rejected
from attribution.report import words
from attribution.report.failure_report import FailureReport
from attribution.report.model import Family, ReportData, Sentence, Summary

_FAMILIES = 8
_CASES = 6
_TEXT = 300
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


class _Sentence(BaseModel):
    text: str
    cases: list[int]


class Written(BaseModel):
    """A model's reply."""

    sentences: list[_Sentence]


async def summarise(data: ReportData, client: LlmClient) -> Summary | None:
    """A summary of the largest families; None if no failure is attributed.

    A sentence is kept only if it cites cases that the model was shown, and if the model was shown every number in it.
    Whether a sentence is true can only be judged by reading the cases.

    Args:
        data: the report.
        client: the model; its budget for a failure applies.

    Raises:
        BudgetError: a call could exceed the budget, and was not made.
        LlmError: the model gave no acceptable sentence.
    """
    families = [family for family in data.families if family.error_type][:_FAMILIES]
    if not families:
        return None
    cases = {case.number: case for case in data.cases}
    shown = {number for family in families for number in family.cases[:_CASES]}
    material = [_family(family, cases) for family in families]
    known = _numbers(as_data(material))
    budget = client.case_budget()

    async def accept(written: Written) -> Summary:
        kept = [
            Sentence(text=" ".join(one.text.split()), cases=cited)
            for one in written.sentences
            if (cited := _cited(one, shown)) and known.issuperset(_numbers(one.text)) and one.text.strip()
        ]
        if not kept:
            raise Rejected("every sentence must name in `cases` cases of the data, and hold no number of its own")
        spent = budget.spent
        return Summary(
            model=client.settings.model,
            sentences=kept,
            dropped=len(written.sentences) - len(kept),
            tokens=spent.input_tokens + spent.output_tokens,
            cost=spent.cost,
        )

    instructions = files("attribution.report").joinpath("summary.md").read_text("utf-8")
    return await client.structured(Conversation(instructions, data_block(material)), Written, budget, accept)


def _numbers(text: str) -> set[str]:
    return {number.replace(",", "") for number in _NUMBER.findall(text)}


def _cited(sentence: _Sentence, shown: set[int]) -> list[int]:
    return sorted({number for number in sentence.cases if number in shown})


def _family(family: Family, cases: Mapping[int, FailureReport]) -> dict[str, Any]:
    examples = [cases[number] for number in family.cases[:_CASES]]
    return {
        "error_type": family.error_type,
        "operation": family.operation,
        "failures": family.share.count,
        "of_all": family.share.total,
        "prompts": sorted({prompt.key for case in examples for prompt in case.prompts}),
        "settings": examples[0].operation.settings if examples[0].operation else {},
        "cases": [_case(case) for case in examples],
    }


def _case(case: FailureReport) -> dict[str, Any]:
    return {
        "number": case.number,
        "question": words.cut(case.question, _TEXT),
        "gold_answers": _cuts(case.gold_answers),
        "answer": words.cut(case.prediction or "", _TEXT),
        "reason": words.cut(case.reason or "", _TEXT),
        "quotes": _cuts([step.quote for step in case.path if step.quote]),
    }


def _cuts(texts: Sequence[str]) -> list[str]:
    return [words.cut(text, _TEXT) for text in texts[:3]]
