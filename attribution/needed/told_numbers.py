"""The numbers of a right answer and of a given answer, as far as they can be compared.

Some words are numbers in one language and something else in another. Halves and times of day are written in several
ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attribution.text.clock import Time, times
from attribution.text.halves import half_words, with_halves
from attribution.text.languages import language_of
from attribution.text.named_days import same_named_days
from attribution.text.segments import passage
from attribution.text.tokens import tokens
from attribution.text.wanted_numbers import readings, told

LONGEST_COMPARED = 2_000
"""A longer text, in characters, may have any word by chance, and takes long to read."""


class ToldNumbers(NamedTuple):
    """The numbers of both answers, without those of times of day that are the same.

    Attributes:
        wanted: of the right answer.
        said: of the given answer.
        same: numbers of the right answer that stand in a time of day which the given answer tells in other words.
        named: stems of words of the right answer that are numbers of the given answer, as ``due`` of ``2``.
        is_other: whether each of both texts has one word that is a number in their language, and not the same.
    """

    wanted: frozenset[float]
    said: frozenset[float]
    same: frozenset[float]
    named: frozenset[str]
    is_other: bool


def told_numbers(wanted: frozenset[float], golds: Sequence[str], text: str) -> ToldNumbers:
    """The numbers of a right and a given answer.

    Args:
        wanted: the numbers of the right answer beyond the question.
        golds: the right answers; empty if only their content is known.
        text: the given answer.
    """
    said = numbers_in(text)
    if len(text) > LONGEST_COMPARED:
        return ToldNumbers(wanted, said, frozenset(), frozenset(), False)
    said = with_halves(said, text)
    right = " ".join(golds)
    language = language_of(f"{right} {text}")
    said |= told(wanted - said, text, language)
    if not golds:
        return ToldNumbers(wanted, said, frozenset(), frozenset(), False)
    wanted = with_halves(wanted, right)
    said |= told(wanted - said, text, language)
    of_words, of_text = readings(right, language), readings(text, language)
    named = frozenset(word for word, values in of_words.items() if values & said)
    is_other = language is not None and len(of_words) == len(of_text) == 1 and not named and of_words != of_text
    is_other = is_other and not (wanted or said)
    if any(one % 1 == 0.5 for one in wanted & said):
        named |= {one.stem for half in half_words(right) for one in tokens(half)}
    in_golds, in_text = _common(golds, text)
    same = wanted & frozenset[float]().union(*map(numbers_in, in_golds))
    named |= {one.stem for said_in in in_golds for one in tokens(said_in)}
    said -= frozenset[float]().union(*map(numbers_in, in_text))
    return ToldNumbers(wanted - same, said, same, named, is_other)


def numbers_in(text: str) -> frozenset[float]:
    """The numbers of a text."""
    return frozenset[float]().union(*(placed.sentence.numbers for placed in passage(text)))


def times_of_both(golds: Sequence[str], text: str) -> tuple[list[tuple[str, Time]], list[Time]]:
    """The times of day of right answers, each with its answer, and of a given answer.

    Where the one names a time of day, ``after six`` is one in the other. A long text is read only beside a time.
    """
    is_wanted = bool(golds) and len(text) <= LONGEST_COMPARED and bool(times(text))
    wanted = [(gold, one) for gold in golds for one in times(gold, is_wanted=is_wanted)]
    return wanted, times(text, is_wanted=len(text) <= LONGEST_COMPARED) if wanted else []


def _common(golds: Sequence[str], text: str) -> tuple[list[str], list[str]]:
    """The words of the times of day and days of the year that right answers and a given answer have in common."""
    wanted, said = times_of_both(golds, text)
    pairs = [(gold[one.start : one.end], text[other.start : other.end])
             for gold, one in wanted for other in said if one.same(other)]  # fmt: skip
    for gold in golds:
        days, same = same_named_days(gold, text)
        pairs += [(gold[one.start : one.end], text[other.start : other.end])
                  for one, other in zip(days, same, strict=True)]  # fmt: skip
    return [one for one, _ in pairs], [other for _, other in pairs]
