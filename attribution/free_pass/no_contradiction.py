"""Answers that can't contradict a gold answer, although the evidence states them and does not state the gold answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from attribution.needed.content import DATE_WEIGHT, NUMBER_WEIGHT, Content
from attribution.needed.gold_agreement import denies
from attribution.needed.messages import Messages
from attribution.needed.question import asks_for_number, asks_for_time
from attribution.text.dates import mentions
from attribution.text.languages import is_function_word
from attribution.text.segments import passage
from attribution.text.weekdays import weekdays
from schema.models import Failure

_MOSTLY = 0.5
"""A gold answer names an amount or a day if these have at least this share of its weight; its words are units."""
_MOST_NUMBERS = 6
"""Among more numbers, some two make any other number."""


def is_part(messages: Messages, failure: Failure) -> bool:
    """Whether one of the gold answers says all that the answer says, and more: ``Friday`` of ``Monday and Friday``.

    Args:
        messages: of the trace.
        failure: question and answers; what the answer repeats of the question does not count.
    """
    answer = failure.prediction or ""
    said = _told(answer) - messages.asked(failure).words.keys()
    return bool(said) and not denies(answer) and any(said < _told(gold) for gold in failure.gold_answers)


def _told(text: str) -> set[str | float]:
    """The stems and numbers of a text, without words of grammar."""
    sentences = [placed.sentence for placed in passage(text)]
    stems = {stem for one in sentences for stem in one.stems if not is_function_word(stem)}
    return stems.union(*(one.numbers for one in sentences))


def is_beside_the_amount(question: str, gold: Content, claim: Content, text: str) -> bool:
    """Whether question and gold answer are about an amount or a day, and the answer names none.

    ``She married Ilse`` does not contradict ``on 10 January``: it answers another question. If the question asks for no
    amount, the gold answer is beside the point.

    Args:
        question: in any language. Where its question words are not known, it counts as no question for an amount.
        gold: content of one gold answer.
        claim: content of the answer beyond the question.
        text: the answer.
    """
    if not (asks_for_time(question) or asks_for_number(question)):
        return False
    amount = DATE_WEIGHT * len(gold.dates) + NUMBER_WEIGHT * len(gold.numbers)
    if not amount or amount < _MOSTLY * gold.weight:
        return False
    names_day = bool(claim.dates or weekdays(text) or mentions(text))
    # "On the 12th" names a day. "Dwa tygodnie temu" does not: a number beside words of its own counts something.
    return not (names_day or (bool(claim.numbers) and not (gold.dates and claim.words)))


def is_reckoned(messages: Messages, evidence: Sequence[str], gold: Content, claim: Content) -> bool:
    """Whether a number of the gold answer is a sum, difference, product or quotient of numbers of the evidence.

    Of ``nine went in, four cracked`` the answer ``four`` names one number, and the gold answer ``five`` what is left.

    Args:
        messages: of the trace.
        evidence: ids of messages.
        gold: content of one gold answer.
        claim: content of the answer beyond the question.
    """
    told = {value for one in evidence for placed in messages.sentences[one] for value in placed.sentence.numbers}
    wanted = gold.numbers - told
    if gold.dates or len(wanted) != 1 or not claim.numbers or not 1 < len(told) <= _MOST_NUMBERS:
        return False
    made = {sum(told)}
    for one, other in combinations(told, 2):
        made |= {one + other, abs(one - other), one * other}
        made |= {whole / part for whole, part in ((one, other), (other, one)) if part}
    return wanted <= made
