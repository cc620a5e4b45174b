"""How much a model's judgements are worth, measured on controls: judgements whose right reply is known.

A judgement changes the odds of a finding by a factor (a likelihood ratio). The factor of a yes is the share of yes
among controls of which yes is right, divided by the share of yes among controls of which no is right. A model that
guesses has the factor 1 and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec

from attribution.llm.transport.budget import Limits, LlmBudget
from attribution.llm.transport.client import LlmClient
from attribution.llm.walk.asking import DROPPED, HOLDS, KINDS, SAME, SUPPORTS, Asker, Fact, StepShown, controls

_LEAST = 1.5
"""A kind of judgement is asked for only if a yes or a no changes the odds by at least this factor."""
_TRUSTED = 0.9
"""The share of right controls from which a model may explore the graph by itself."""


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
    """What is known of a model's judgements.

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
        rate = (right + 0.5) / (cases + 1.0)
        return max(1.0, rate * (self.steps - 1) / (1.0 - rate))

    def is_worth(self, kind: str) -> bool:
        """Whether to ask for a kind of judgement at all."""
        if kind == DROPPED:
            return self.step_factor >= _LEAST
        return max(self.factor(kind, yes=True), 1.0 / self.factor(kind, yes=False)) >= _LEAST

    @property
    def share(self) -> float:
        """The share of right replies to all controls; 0 if there are none."""
        cases = sum(cases for _, cases in self.right.values())
        return sum(right for right, _ in self.right.values()) / cases if cases else 0.0

    @property
    def is_trusted(self) -> bool:
        """Whether the model is good enough to explore the graph by itself."""
        return self.share >= _TRUSTED

    def document(self) -> dict[str, Any]:
        """The right replies of each kind, for the details of a verdict."""
        return {kind: f"{right} of {cases}" for kind, (right, cases) in self.right.items()}


async def measure(client: LlmClient) -> Reliability:
    """Ask a model for the judgements of all controls. Cached replies make this free the next time.

    The calls are charged to the run, not to a failure.
    """
    asker = Asker(client, LlmBudget(Limits(), "trial", client.run_budget))
    counts = {kind: Counts() for kind in KINDS if kind != DROPPED}
    right: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    known = _controls()
    for same in known.same:
        opinion = await asker.same(same.question, same.right, same.answer)
        said = None if opinion is None else opinion.yes
        counts[SAME] = _counted(counts[SAME], same.same, said)
        right[SAME].append(said is same.same)
    for held in known.holds:
        picked = await asker.holds(Fact(held.question, held.right, held.said), held.texts)
        for number in range(len(held.texts)):
            said = None if picked is None or (picked[1].yes and picked[0] != number) else picked[1].yes
            counts[HOLDS] = _counted(counts[HOLDS], number + 1 in held.holds, said)
        right[HOLDS].append(picked is not None and (picked[0] + 1 in held.holds if picked[1].yes else not held.holds))
    for supported in known.supports:
        opinion = await asker.supports(supported.question, supported.right, supported.messages)
        said = None if opinion is None else opinion.yes
        counts[SUPPORTS] = _counted(counts[SUPPORTS], supported.supports, said)
        right[SUPPORTS].append(said is supported.supports)
    for dropped in known.dropped:
        shown = [StepShown(one.name, one.given, one.made) for one in dropped.steps]
        chosen = await asker.dropped(Fact(dropped.question, dropped.right, dropped.said), shown)
        right[DROPPED].append(chosen is not None and chosen + 1 == dropped.step)
    if asker.gave_up:
        return Reliability(problems=tuple(asker.problems))
    shares = {kind: (sum(some), len(some)) for kind, some in right.items()}
    steps = min(len(one.steps) for one in known.dropped)
    return Reliability(counts, shares, steps, tuple(asker.problems))


def _counted(counts: Counts, expected: bool, said: bool | None) -> Counts:
    """The counts with one more control; ``said`` is None if there was no usable reply."""
    cases, yes, no = counts.true if expected else counts.false
    more = (cases + 1, yes + (said is True), no + (said is False))
    return Counts(more, counts.false) if expected else Counts(counts.true, more)


class _SameControl(msgspec.Struct):
    question: str
    right: list[str]
    answer: str
    same: bool


class _HoldsControl(msgspec.Struct):
    question: str
    right: list[str]
    said: str
    texts: list[str]
    holds: list[int]


class _SupportsControl(msgspec.Struct):
    question: str
    right: list[str]
    messages: list[str]
    supports: bool


class _Step(msgspec.Struct):
    name: str
    given: str
    made: str


class _DroppedControl(msgspec.Struct):
    question: str
    right: list[str]
    said: str
    steps: list[_Step]
    step: int


class _Controls(msgspec.Struct):
    same: list[_SameControl]
    holds: list[_HoldsControl]
    supports: list[_SupportsControl]
    dropped: list[_DroppedControl]


@cache
def _controls() -> _Controls:
    return msgspec.json.decode(controls(), type=_Controls)


def changed(likelihood: float, factor: float) -> float:
    """A probability after its odds were multiplied by a factor."""
    odds = likelihood * factor
    return odds / (odds + 1.0 - likelihood) if odds else 0.0
