"""How a proof changes the confidence of a verdict: by how often right and wrong verdicts have such a result.

The counts are measured by ``python -m benchmarks replay`` and kept in ``rates.json``.
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
    """How many right and how many wrong verdicts had each result."""

    right: dict[Result, int]
    wrong: dict[Result, int]

    def likelihood(self, result: Result) -> float:
        """How many times likelier a right verdict has this result than a wrong one, of those that are settled.

        Each count is one more than it was, so that what was never seen is not impossible (Laplace).
        """
        share, other_share = (
            (counts.get(result, 0) + 1) / (sum(counts.get(one, 0) + 1 for one in (Result.PROVED, Result.REFUTED)))
            for counts in (self.right, self.wrong)
        )
        return share / other_share


def after(confidence: float, result: Result) -> float:
    """The confidence of a verdict once its proof is known, by Bayes' rule."""
    if result is Result.UNSETTLED:
        return confidence  # why nothing can be told has little to do with whether the verdict is right
    odds = confidence * rates().likelihood(result)
    return round(odds / (odds + 1.0 - confidence), 4) if odds + 1.0 - confidence else confidence


@cache
def rates() -> Rates:
    """The measured counts."""
    return msgspec.json.decode(files("optimization.proof").joinpath(RATES).read_bytes(), type=Rates)
