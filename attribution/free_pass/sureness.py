"""How sure a verdict is."""

from __future__ import annotations

from attribution.free_pass.ending import Ending
from attribution.verdicts.probabilities import confidence
from schema.kinds import QuestionKind

_SPLIT = 0.6
"""Factor for the confidence of an operation that lost hardly any of the pieces; 1 if it lost all pieces."""
_UNSURE = 0.6
"""The most that the rules are sure of an operation, if the answer may be as right as the gold answer."""
_WEAK = 0.6
"""Factor for the share of a verdict on steps of which the recording lacks something."""


def sureness(ending: Ending, lost: float, *, has_gap: bool, is_doubted: bool) -> tuple[float, float]:
    """The share that the rules give to the finding of an ending, and the confidence of its verdict, both from 0 to 1.

    Args:
        ending: of a piece.
        lost: the share of the pieces that the blamed operation lost.
        has_gap: whether the recording lacks something of the steps that the finding is about.
        is_doubted: whether the answer may be as right as the gold answer.
    """
    alone = _SPLIT + (1 - _SPLIT) * lost
    share = ending.share * alone
    if is_doubted:
        share = min(share, _UNSURE)
    # The curves of rare kinds are flat: several operations at fault, and a doubt, must count there, too.
    sure = min(confidence(_WEAK * share if has_gap else share, ending.kind), alone)
    return share, min(sure, confidence(share, QuestionKind.PLAIN)) if is_doubted else sure
