"""Updates the confidence of a verdict by the result of its proof.

``rates.json`` has the frequencies of results for right and wrong verdicts, measured by ``python -m benchmarks replay``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from optimization.proof.model import Result

RATES = "rates.json"


@dataclass(frozen=True, slots=True)
class Rates:
    """Number of right and of wrong verdicts, by result."""

    right: dict[Result, int]
    wrong: dict[Result, int]

    def likelihood(self, result: Result) -> float:
        """The likelihood ratio of a result: right verdicts against wrong ones, among settled proofs.

        One is added to each count, so that a result that never occurred is not impossible (Laplace).
        """
        share, other_share = (
            (counts.get(result, 0) + 1) / (sum(counts.get(one, 0) + 1 for one in (Result.PROVED, Result.REFUTED)))
            for counts in (self.right, self.wrong)
        )
        return share / other_share


def after(confidence: float, result: Result) -> float:
    """The confidence of a verdict after its proof, by Bayes' rule."""
    if result is Result.UNSETTLED:
        return confidence  # the obstacles to a proof hardly depend on whether the verdict is right
    odds = confidence * rates().likelihood(result)
    return round(odds / (odds + 1.0 - confidence), 4) if odds + 1.0 - confidence else confidence


@cache
def rates() -> Rates:
    """The measured counts."""
    return msgspec.json.decode(files("optimization.proof").joinpath(RATES).read_bytes(), type=Rates)
