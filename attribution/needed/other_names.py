"""Answers that put another name in the place of the right one, as ``Mrs Hall`` for ``Mrs Hale``, or beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attribution.text.tokens import Token, tokens

_ONLY = re.compile(
    r"""\b(?:only|alone|solely|nur|allein\w*|ausschließlich|sol[oa]s?|sólo|solamente|únicamente|seule?s?|seulement
          |uniquement|sozinh[oa]s?|só|apenas|somente|soltanto|da\s+sol[oa]|alleen|bara|ensam|alene|yalnız\w*|sadece
          |tylko|sama?|только|лишь|сама?|один|одна|лише|тільки)\b
      | 只 | 独自 | 獨自 | だけ | 一人で | 혼자""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words that say of a thing or person that there is no other."""
_AND = re.compile(
    r"""\b(?:and|with|plus|together|und|mit|sowie|zusammen|y|con|et|avec|com|ed?|en|met|och|med|og|ve|ile
          |oraz|z|ze|и|с|со|та|і|й|з|із|зі)\b | [和跟與与] | (?<=\w)[とو] | (?<=\w)[와과랑]""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words that join two things or persons."""
_LETTER = re.compile(r"(?<=\w[ \u00a0-])[A-Z](?!\w|['’]|\.\w)")
"""A capital letter that stands alone after a word."""


def names_another(golds: Sequence[str], text: str) -> bool:
    """Whether a text has another name after the word that stands before a name in each gold answer.

    A name is a word with a capital letter that does not begin the text. A shorter or longer form is the same name. If
    each gold answer names only one, as ``Zach alone``, a text that joins others to it, as ``you and Zach``, is another.
    """
    return bool(golds) and all(
        _names_another(gold, text) or _adds_to_the_only_one(gold, text) or _names_another_letter(gold, text)
        for gold in golds
    )


def _names_another_letter(gold: str, text: str) -> bool:
    """Whether both texts have single capital letters as names, and none in common: ``lift B`` and ``lift D``."""
    right, said = set(_LETTER.findall(gold)), set(_LETTER.findall(text))
    return bool(right) and bool(said) and right.isdisjoint(said)


def _adds_to_the_only_one(gold: str, text: str) -> bool:
    """Whether a word of the gold answer, which names only one, stands directly beside an "and" in the text."""
    if not _ONLY.search(gold) or _AND.search(gold) or _ONLY.search(text):
        return False
    right, said = {one.stem for one in tokens(gold) if one.carries}, [one for one in tokens(text) if one.stem]
    for joining in _AND.finditer(text):
        before = [one for one in said if one.end <= joining.start() and not text[one.end : joining.start()].strip()]
        after = [one for one in said if one.start >= joining.end() and not text[joining.end() : one.start].strip()]
        if right & {one.stem for one in (*before, *after)}:
            return True
    return False


def _names_another(gold: str, text: str) -> bool:
    right, said = list(_names(gold)), list(_names(text))
    known = {one.word for one in tokens(gold)}
    found = {one.word for one in tokens(text)}
    return any(
        before.stem == other_before.stem
        and name.stem != other.stem
        and name.word not in found
        and other.word not in known
        and not name.word.startswith(other.word)
        and not other.word.startswith(name.word)
        for before, name in right
        for other_before, other in said
    )


def _names(text: str) -> Iterator[tuple[Token, Token]]:
    """The names of a text, each with the word of meaning before it."""
    before: Token | None = None
    for one in tokens(text):
        if not one.carries:
            continue
        if before is not None and text[one.start].isupper() and len(one.word) > 1:
            yield before, one
        before = one
