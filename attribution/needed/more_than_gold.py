"""Answers that have the words of the right answer, and give more, or something else first.

``Hives 1, 2 and 4; number 3 was left out`` has all numbers of ``1, 2, 3 and 4``; ``five: six had hatched`` has ``six``.
Then the right answer may be incomplete or wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attribution.needed.gold_agreement import measures_alike
from attribution.needed.other_role import LEADING
from attribution.needed.pieces import listed_items
from attribution.needed.question import asks_for_number
from attribution.text.capitals import capitals
from attribution.text.clock import times
from attribution.text.dates import mentions
from attribution.text.languages import is_function_word
from attribution.text.numbers import number
from attribution.text.tokens import tokens

_WHO = re.compile(
    r"^\W*(?:who|whom|whose|wer|wem|wen|qui|à\s+qui|quién(?:es)?|quem|chi|wie|vem|hvem|kdo|kto|кто|хто|ποιος|ποια|kim|cine)\b"
    r"|誰|谁|누가|누구|कौन|किस",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(
    r"""\b(?:left\s+out|leaving\s+out|except|excluding|apart\s+from|but\s+not|other\s+than|without|außer|ohne|sauf|sans
        |excepto|salvo|sin|tranne|senza|exceto|sem|behalve|zonder|utom|utan|oprócz|bez|kromě|кроме|без|окрім|εκτός|χωρίς)\b
      | 除了|以外|除く|제외
    """,
    re.VERBOSE | re.IGNORECASE,
)
_JOINED = re.compile(r"\s(?:and|und|et|y|e|ed|en|och|og|i|oraz|та|и|ve|και|și|dan|và)\s|と|와\s|과\s", re.IGNORECASE)
_ADVERBS = """
only just also nur auch seulement aussi sólo también solo anche só também alleen ook bara också tylko też
"""
_ONLY = frozenset(_ADVERBS.split())
_MOST_WORDS = 4
"""A longer item of a list, in words, is a clause that explains."""


def gives_more(golds: Sequence[str], text: str, question: str) -> bool:
    """Whether an answer that has the words of a right answer gives more, or something else first.

    Args:
        golds: the right answers.
        text: the answer.
        question: whose words are no part of the answer.
    """
    return bool(golds) and all(
        _gives_other_number(gold, text, question)
        or _gives_other_name(gold, text, question)
        or (len(listed_items(gold)) > 1 and _leaves_out(gold, text, question))
        or _lists_more(gold, text, question)
        for gold in golds
    )


def _gives_other_number(gold: str, text: str, question: str) -> bool:
    """Whether the first number of the answer is another one than that of the right answer, which is no date or time."""
    wanted, said = _numbers(gold), _numbers(text)
    if len(set(wanted)) != 1 or not said or mentions(gold) or times(gold):
        return False
    return said[0] not in wanted and said[0] not in _numbers(question) and not measures_alike([gold], text, frozenset())


def _numbers(text: str) -> list[float]:
    return [value for one in tokens(text) if (value := number(one.word)) is not None]


def _gives_other_name(gold: str, text: str, question: str) -> bool:
    """Whether the first name of the answer is not in the right answer, for ``who``."""
    if not _WHO.search(question):
        return False
    known = {one.word for one in tokens(question)}
    right = {one.word for one in capitals(gold)}
    said = [one.word for one in capitals(text) if one.word not in known]
    return bool(right) and len(said) > 1 and said[0] not in right


def _leaves_out(gold: str, text: str, question: str) -> bool:
    return _LEFT_OUT.search(text) is not None and _LEFT_OUT.search(f"{gold} {question}") is None


def _lists_more(gold: str, text: str, question: str) -> bool:
    """Whether the answer joins a further thing to that of the right answer: ``the frog and the newt``."""
    items, wanted = _items(text), _items(gold)
    if len(items) <= len(wanted) or any(len(tokens(one)) > _MOST_WORDS for one in items) or asks_for_number(question):
        return False
    known = {one.stem for one in (*tokens(gold), *tokens(question))}
    return any(_is_thing(item, question) and known.isdisjoint(_contents(item)) for item in items)


def _items(text: str) -> list[str]:
    """The things that an "and" joins; commas separate things only beside one."""
    joined = _JOINED.split(text)
    return [part for item in joined for part in listed_items(item)] if len(joined) > 1 else joined


def _contents(text: str) -> set[str]:
    return {one.stem for one in tokens(text) if one.carries and not is_function_word(one.word)}


def _is_thing(item: str, question: str) -> bool:
    """Whether an item of a list names a thing or, for ``who``, a person; ``only on weekends`` does not."""
    found = tokens(item)
    if not found or (_WHO.search(question) and not capitals(item)):
        return False
    return found[0].word not in LEADING and bool(_contents(item)) and found[0].word not in _ONLY
