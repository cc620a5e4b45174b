"""Answers that may say what the gold answer says, in words that no rule knows to be the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attribution.free_pass.needs import TriedFailure
from attribution.needed.content import Content, Rarity, content
from attribution.needed.gold_agreement import agreement, measures_alike
from attribution.needed.presence import Detail
from attribution.needed.question import polar, polarity
from attribution.text.lexicon import is_common_word
from attribution.text.refusals import refuses
from attribution.text.tokens import tokens
from attribution.text.word_forms import has_form

_PLAIN = Rarity(())
_YES_OR_NO = re.compile(r"^\W*\w{1,6}[,.;:!]\s+(?=\w)")
"""A first word with a mark after it, such as ``No,``."""
_FEWEST_LETTERS = 3
_FEWEST_WORDS = 2
_TELLS_GOLD = 0.5
"""A sentence tells the gold answer if it has at least this share of it: ``call her`` tells ``by phone``."""
_TOLD = 0.75
"""Another sentence tells what was answered if it has at least this share of the answer's own words."""


def may_say_the_same(tried: TriedFailure, needed: Detail | None) -> bool:
    """Whether nothing shows that the answer differs from the gold answer.

    ``A fortnight`` and ``two weeks`` have no word in common. What shows a difference: a refusal, another number, day or
    member of a class, an answer without words of its own, and an answer whose words a sentence has that tells neither
    the needed fact nor the gold answer.

    Args:
        tried: the failure.
        needed: what the answer needed; None if that is not known.
    """
    failure, gold = tried.failure, tried.gold
    said = failure.prediction or ""
    if gold is None or not gold.weight or refuses(said) or _is_polar(failure.gold_answers, said):
        return False
    asked = frozenset(tried.messages.asked(failure).words)
    golds: Sequence[str] = failure.gold_answers
    if polar(golds) is not None:
        golds = [_YES_OR_NO.sub("", one) for one in golds]
    if agreement(gold, said, golds, asked, failure.question).conflicts and not (
        _may_be_fraction(gold, content(said, _PLAIN)) or _counts_otherwise(tried, gold, needed)
    ):
        return False
    own = tried.messages.claim(failure, None).without(gold.words)
    return bool(own.weight) and not _is_told_elsewhere(tried, own, gold, needed)


def _is_polar(golds: Sequence[str], said: str) -> bool:
    """Whether ``yes`` or ``no`` decides, and not the words: ``he flunked it`` may say the same as ``no, he failed``."""
    if polar(golds) is None:
        return False
    return polarity(said) is not None or all(len(tokens(gold)) < _FEWEST_WORDS for gold in golds)


def _counts_otherwise(tried: TriedFailure, gold: Content, needed: Detail | None) -> bool:
    """Whether the number of the answer counts something that nobody else named, in a word that no lexicon knows.

    ``Yılda iki kez`` (twice a year) and ``altı ayda bir`` (once in six months) are the same, with other numbers.
    """
    failure, said = tried.failure, tried.failure.prediction or ""
    if len(gold.numbers) != 1 or gold.dates or measures_alike(failure.gold_answers, said, frozenset()) is not None:
        return False
    found = tokens(said)
    numbers = [place for place, one in enumerate(found) if content(one.word, _PLAIN).numbers]
    if len(numbers) != 1 or numbers[0] + 1 >= len(found):
        return False
    number, counted = found[numbers[0]], found[numbers[0] + 1]
    if said[number.end : counted.start].strip():
        return False
    others = " ".join((failure.question, *failure.gold_answers, "" if needed is None else needed.sentence.text))
    is_unknown = counted.word.isalpha() and len(counted.word) >= _FEWEST_LETTERS and not is_common_word(counted.stem)
    return is_unknown and not has_form(counted.word, [one.word for one in tokens(others)])


def _may_be_fraction(one: Content, other: Content) -> bool:
    """Whether one of two texts has a number that is a fraction more than the other's, which has more words.

    ``Quatre quilos i mig`` are 4.5 kilos: the words for parts of a number are not known in each language.
    """
    for words, digits in ((one, other), (other, one)):
        if len(words.numbers) == len(digits.numbers) == 1 and words.words.keys() - digits.words.keys():
            more = next(iter(digits.numbers)) - next(iter(words.numbers))
            if 0 < more < 1:
                return True
    return False


def _is_told_elsewhere(tried: TriedFailure, own: Content, gold: Content, needed: Detail | None) -> bool:
    """Whether a sentence that does not tell the gold answer has most of the answer's own words."""
    messages, sought, right = tried.messages, tried.messages.sought(own), tried.messages.sought(gold)
    may_have = sought.may_have(_TOLD)
    return any(
        may_have(placed.sentence)
        and sought.share(placed) >= _TOLD
        and right.share(placed) < _TELLS_GOLD
        and (needed is None or placed.sentence.text != needed.sentence.text)
        for one in messages.ids
        if may_have(messages.gist(one))
        for placed in messages.sentences[one]
    )
