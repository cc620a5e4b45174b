"""Judges of answers: the protocol, and judges that compare words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import Protocol

from attribution.needed.gold_agreement import tells_another_amount
from attribution.text.refusals import refuses
from optimization.harness.datasets.model import Question

_WORD = re.compile(r"\w+", re.UNICODE)
_ARTICLES = frozenset({"a", "an", "the"})
NOT_KNOWN = "It is not known: nothing that was said tells it."
"""The gold answer that is recorded for a question that can't be answered; only a refusal agrees with it."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's opinion of an answer.

    Attributes:
        right: whether the answer is right.
        score: from 0 to 1.
        reason: in words; may be empty.
    """

    right: bool
    score: float
    reason: str = ""


class Judge(Protocol):
    """Decides whether answers are right."""

    name: str

    async def judge(self, question: Question, answer: str) -> Judgement:
        """Judge an answer.

        Raises:
            MemTraceError: the judge itself fails, for example because a model can't be reached.
        """
        ...


class Exact:
    """Right if the answer has the same words as a gold answer; case, punctuation and articles do not count."""

    name = "exact"

    async def judge(self, question: Question, answer: str) -> Judgement:
        """Compare the words."""
        if not question.gold:
            return _of_unanswerable(answer)
        right = any(_words(gold) == _words(answer) for gold in question.gold)
        return Judgement(right, float(right))


class F1:
    """Right if the words agree well enough with one gold answer, and no date, number or time contradicts it.

    The score is the harmonic mean of precision and recall of the answer's words, as for SQuAD (Rajpurkar et al., EMNLP
    2016).

    Args:
        least: smallest score of a right answer.
    """

    name = "f1"

    def __init__(self, least: float = 0.5) -> None:
        self.least = least

    async def judge(self, question: Question, answer: str) -> Judgement:
        """Compare the words."""
        if not question.gold:
            return _of_unanswerable(answer)
        agreeing = [gold for gold in question.gold if not tells_another_amount(gold, answer)]
        score = max(f1(gold, answer) for gold in question.gold)
        if score >= self.least and not any(f1(gold, answer) >= self.least for gold in agreeing):
            return Judgement(False, 0.0, f"F1 {score:.2f}, but another date, number or time")
        return Judgement(score >= self.least, score, f"F1 {score:.2f}")


def f1(gold: str, answer: str) -> float:
    """The agreement of two texts by their words, from 0 to 1."""
    wanted, given = Counter(_words(gold)), Counter(_words(answer))
    common = sum((wanted & given).values())
    if not common:
        return float(wanted == given)
    precision, recall = common / sum(given.values()), common / sum(wanted.values())
    return 2 * precision * recall / (precision + recall)


def _of_unanswerable(answer: str) -> Judgement:
    """Judge the answer to a question without gold answer: right if the answer says that it is unknown."""
    right = not answer.strip() or refuses(answer)
    return Judgement(right, float(right), "the question can't be answered")


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return [word for word in _WORD.findall(plain) if word not in _ARTICLES]
