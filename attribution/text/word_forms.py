"""Whether two words may be forms of one word, in languages without a stemmer here.

``Đakovu`` is a form of ``Đakovo``, and ``בחליל`` of ``חליל``. Likeness proves nothing: ``Radoslav`` and ``Radostin``
are alike, too. So it may make a verdict less sure, and never decides one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

_BEGINNING, _ENDING = 4, 3
"""Forms of a word have at least this number of first letters in common, and at most this number of others each."""
_PREFIXED = re.compile("[\u0590-\u06ff]{3,}")
_ARTICLES = 2
"""Hebrew and Arabic write articles and prepositions together with the word."""


def may_be_form(one: str, other: str) -> bool:
    """Whether two words in lower case are equal, or may be forms of one word."""
    if one == other:
        return True
    if not (one.isalpha() and other.isalpha()):
        return False
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    if same >= _BEGINNING and max(len(one), len(other)) - same <= _ENDING:
        return True
    short, long = sorted((one, other), key=len)
    return bool(_PREFIXED.fullmatch(short)) and long.endswith(short) and len(long) - len(short) <= _ARTICLES


def has_form(word: str, words: Iterable[str]) -> bool:
    """Whether a word is among others, or a form of one of them may be."""
    return any(may_be_form(word, other) for other in words)
