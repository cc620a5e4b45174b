"""How much a model's judgements are worth, measured on controls: judgements whose right reply is known.

A judgement changes the odds of a finding by a factor (a likelihood ratio). The factor of a yes is the share of yes
among controls of which yes is right, divided by the share of yes among controls of which no is right. A model that
guesses has the factor 1 and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from attribution.llm.walk.asking import DROPPED

_LEAST = 1.5
"""A kind of judgement is asked for only if a yes or a no changes the odds by at least this factor."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a model said of the texts of all controls of one kind.

    Attributes:
        true: the number of texts of which yes is right, and how many of them got a yes, and a no.
        false: the same for texts of which no is right.
    """

    true: tuple[int, int, int] = (0, 0, 0)
    false: tuple[int, int, int] = (0, 0, 0)

    def factor(self, *, yes: bool) -> float:
        """The factor by which a yes or a no changes the odds.

        Half a reply is added to each count, as Jeffreys' prior does; more to the larger class, so that a model that
        says nothing of either has the factor 1.
        """
        fewest = min(self.true[0], self.false[0])
        if not fewest:
            return 1.0
        place = 1 if yes else 2
        rate, other = (one[place] / one[0] + 0.5 / fewest for one in (self.true, self.false))
        # A model that is wrong more often than right is not believed either way.
        return max(rate / other, 1.0) if yes else min(rate / other, 1.0)


@dataclass(frozen=True, slots=True)
class Reliability:
    """What is known of a model's judgements, of the kinds that were measured.

    Attributes:
        counts: by kind of judgement, for all kinds but the choice of a step.
        right: the numbers of right replies and of controls, by kind.
        steps: the number of steps to choose from, in controls of that kind.
        problems: why controls could not be had.
    """

    counts: dict[str, Counts] = field(default_factory=dict)
    right: dict[str, tuple[int, int]] = field(default_factory=dict)
    steps: int = 1
    problems: tuple[str, ...] = ()

    def factor(self, kind: str, *, yes: bool) -> float:
        """The factor by which a judgement changes the odds."""
        return self.counts.get(kind, Counts()).factor(yes=yes)

    @property
    def step_factor(self) -> float:
        """The factor by which the choice of a step changes the odds of the chosen step."""
        right, cases = self.right.get(DROPPED, (0, 0))
        if not cases:
            return 1.0
        rate = (right + 0.5) / (cases + 1.0)
        return max(1.0, rate * (self.steps - 1) / (1.0 - rate))

    def is_worth(self, kind: str) -> bool:
        """Whether to ask for a kind of judgement at all."""
        if kind == DROPPED:
            return self.step_factor >= _LEAST
        return max(self.factor(kind, yes=True), 1.0 / self.factor(kind, yes=False)) >= _LEAST

    def document(self) -> dict[str, Any]:
        """The right replies of each kind that was measured, for the details of a verdict."""
        return {kind: f"{right} of {cases}" for kind, (right, cases) in self.right.items()}


def changed(likelihood: float, factor: float) -> float:
    """A probability after its odds were multiplied by a factor."""
    odds = likelihood * factor
    return odds / (odds + 1.0 - likelihood) if odds else 0.0
