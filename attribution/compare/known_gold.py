"""Judges an answer that nobody judged by the gold answer of the same question in another run. Only proof counts."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.needed.content import Rarity, content
from attribution.needed.gold_agreement import agreement
from attribution.text.refusals import refuses
from attribution.text.tokens import tokens, words

_ALL = 0.999
"""The share of the gold answer's content that a right answer has; less than 1 because weights are rounded."""


def judged(answer: str, question: str, golds: Sequence[str], wrong: str | None = None) -> bool | None:
    """Whether an answer is right; None if the gold answers don't decide it.

    Args:
        answer: the answer that nobody judged.
        question: what was asked.
        golds: the gold answers of the question; empty if none is known.
        wrong: an answer to the question that is known to be wrong.
    """
    if wrong is not None and _alike(answer, wrong):
        return False
    if not golds:
        return None
    if any(_alike(answer, gold) for gold in golds):
        return True
    if refuses(answer) or not answer.strip():
        return all(map(refuses, golds))
    if any(map(refuses, golds)):
        return None
    asked = frozenset(one.stem for one in tokens(question) if one.carries)
    wanted = content("\n".join(golds), Rarity([])).without(asked)
    if not wanted.weight:
        return None
    found = agreement(wanted, answer, golds, asked)
    if found.conflicts:
        return False
    return True if found.is_proven and found.recall >= _ALL else None


def _alike(one: str, other: str) -> bool:
    """Whether two texts have the same words."""
    return [word for _, word in words(one)] == [word for _, word in words(other)]
