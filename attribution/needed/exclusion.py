"""Contents that exclude each other: not both can be the answer to one question."""

from __future__ import annotations

from attribution.needed.content import Content, same_days
from attribution.needed.question import asks_for_number, asks_for_time
from attribution.text.lexicon import is_rival_of_any
from attribution.text.weekdays import names_other_weekdays
from schema.models import Failure


def excludes(failure: Failure, want: Content, claim: Content) -> bool:
    """Whether two contents exclude each other: different days, different numbers, or different members of one class.

    An amount or date also excludes a gold answer without any, if the question asks for one.
    """
    question = failure.question
    asks_for_amount = asks_for_time(question) or asks_for_number(question)
    if asks_for_amount and not (want.dates or want.numbers) and (claim.dates or claim.numbers):
        return True
    if names_other_weekdays(failure.gold_answers, failure.prediction or ""):
        return True
    if want.dates and claim.dates:
        return not any(same_days(one, other) or same_days(other, one) for one in want.dates for other in claim.dates)
    if want.numbers and claim.numbers:
        return not want.numbers & claim.numbers
    others = tuple(sorted(claim.words))
    return any(is_rival_of_any(word, others) for word in want.words)
