"""Right answers that a text may have by chance: one number, or one common word."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.needed.content import Content
from attribution.text.lexicon import is_common_word
from attribution.text.tokens import tokens


def is_bare(gold: Content, golds: Sequence[str]) -> bool:
    """Whether a right answer says nothing but one number, or one common word of English that is no name.

    ``The left flap`` and ``they left a violin`` have a word in common.

    Args:
        gold: the content of the gold answers beyond the question.
        golds: the gold answers.
    """
    if gold.dates or len(gold.words) + len(gold.numbers) != 1:
        return False
    names = {one.stem for text in golds for one in tokens(text) if text[one.start].isupper()}
    return all(is_common_word(word) and word not in names for word in gold.words)
