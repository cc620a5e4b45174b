"""The gate: a change of prompts passes if it is better on conversations that nobody tuned to, and harms nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from optimization.gate.prompts import learnt_by_heart, lost_placeholders
from optimization.gate.statistics import controls_needed, conversations_needed, sign_flip, upper_bound
from schema.errors import InputError


@dataclass(frozen=True, slots=True)
class Scored:
    """One answer. ``conversation`` and ``question`` name the case, ``right`` says whether it was judged right."""

    conversation: str
    question: str
    right: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """What a change must show.

    Attributes:
        alpha: the chance of accepting a useless change; shared by all attempts on the same conversations.
        margin: the largest share of right answers that the change may harm.
        attempts: how many changes may be tried on the same conversations.
        cost_factor: the most that the changed program may cost, as a multiple of what it cost before.
    """

    alpha: float = 0.05
    margin: float = 0.10
    attempts: int = 1
    cost_factor: float = 1.25

    def __post_init__(self) -> None:
        for name, value in (("alpha", self.alpha), ("margin", self.margin)):
            if not 0.0 < value < 1.0:
                raise InputError("gate", name, f"must be between 0 and 1, got {value}")
        if self.attempts < 1:
            raise InputError("gate", "attempts", f"must be 1 or more, got {self.attempts}")
        if self.cost_factor < 1.0:
            raise InputError("gate", "cost_factor", f"must be 1 or more, got {self.cost_factor}")

    @property
    def level(self) -> float:
        """The significance level of one attempt (Bonferroni)."""
        return self.alpha / self.attempts


@dataclass(frozen=True, slots=True)
class Seen:
    """What the search could see: the gold answers and questions of its training and validation cases."""

    gold: Sequence[str]
    questions: Sequence[str]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate found.

    Attributes:
        accepted: whether the change passes: there is no reason against it.
        reasons: what is against it, in words; empty where it passes.
        p: the p-value of "better, by conversation"; None where nothing was measured.
        better: number of conversations with more right answers.
        worse: number of conversations with fewer.
        controls: number of answers that were right before.
        harmed: number of them that are wrong now.
        bound: the upper bound of the share that is harmed.
        cost: what the changed program cost, as a multiple of before; None where nothing had a cost.
    """

    accepted: bool
    reasons: tuple[str, ...]
    p: float | None = None
    better: int = 0
    worse: int = 0
    controls: int = 0
    harmed: int = 0
    bound: float | None = None
    cost: float | None = None


def refusal(before: Sequence[Scored], rules: Rules) -> str | None:
    """Why no change could pass on these conversations, however good; None if one could.

    It is asked before anything is paid for the change.
    """
    conversations = {one.conversation for one in before}
    needed = conversations_needed(rules.level)
    if len(conversations) < needed:
        return (
            f"the gate has {len(conversations)} conversations, and needs at least {needed} to tell a better prompt "
            f"from luck (alpha {rules.level:g})"
        )
    controls = sum(one.right for one in before)
    wanted = controls_needed(rules.margin, rules.level)
    if controls < wanted:
        return (
            f"{controls} answers of the gate are right, and {wanted} are needed to show that at most "
            f"{rules.margin:.0%} of such answers are harmed: add conversations, or allow a larger margin"
        )
    if all(one.right for one in before):
        return "all answers of the gate are right already: nothing can be better"
    return None


def against_texts(old: Mapping[str, str], new: Mapping[str, str], seen: Seen) -> tuple[str, ...]:
    """What the texts alone have against a change; empty if nothing."""
    reasons = []
    if dict(old) == dict(new):
        reasons.append("the prompts are the same")
    if unknown := sorted(new.keys() - old.keys()):
        reasons.append(f"there are prompts that the program does not have: {', '.join(unknown)}")
    if missing := sorted(old.keys() - new.keys()):
        reasons.append(f"prompts are missing: {', '.join(missing)}")
    for name, lost in lost_placeholders(old, new).items():
        if name in new:
            reasons.append(f"the prompt {name} has other placeholders than before: {', '.join(lost)}")
    for name, words in learnt_by_heart(old, new, seen.gold, seen.questions).items():
        reasons.append(f"the prompt {name} has learnt answers by heart: {', '.join(words[:10])}")
    return tuple(reasons)


def decide(
    before: Sequence[Scored],
    after: Sequence[Scored],
    rules: Rules,
    cost_before: float = 0.0,
    cost_after: float = 0.0,
) -> Decision:
    """Whether a change passes, from the answers to the same questions before and after it.

    Args:
        before: the answers with the old prompts.
        after: the answers with the new ones.
        rules: what it must show.
        cost_before: what the old answers cost, in any unit.
        cost_after: what the new ones cost, in the same unit.

    Raises:
        InputError: the two are not answers to the same questions.
    """
    was, now = _by_case(before), _by_case(after)
    if was.keys() != now.keys():
        only = min(was.keys() ^ now.keys())
        raise InputError("gate", " ".join(only), "was answered on one side only")
    sums: dict[str, int] = defaultdict(int)
    for case, right in was.items():
        sums[case[0]] += now[case] - right
    p = sign_flip(list(sums.values()))
    controls = [case for case, right in was.items() if right]
    harmed = sum(not now[case] for case in controls)
    bound = upper_bound(harmed, len(controls), rules.level)
    cost = cost_after / cost_before if cost_before > 0 else None
    reasons = []
    if (reason := refusal(before, rules)) is not None:
        reasons.append(reason)
    if p > rules.level:
        reasons.append(f"it is not shown to be better: p = {p:.3g} by conversation, where {rules.level:g} is the most")
    if bound > rules.margin:
        reasons.append(
            f"it may harm what was right: {harmed} of {len(controls)} right answers are wrong now, which may be up to "
            f"{bound:.1%} of such answers, where {rules.margin:.0%} is the most"
        )
    if cost is not None and cost > rules.cost_factor:
        reasons.append(f"it costs {cost:.2f} times as much as before, where {rules.cost_factor:g} times is the most")
    return Decision(
        accepted=not reasons,
        reasons=tuple(reasons),
        p=p,
        better=sum(one > 0 for one in sums.values()),
        worse=sum(one < 0 for one in sums.values()),
        controls=len(controls),
        harmed=harmed,
        bound=bound,
        cost=cost,
    )


def _by_case(answers: Collection[Scored]) -> dict[tuple[str, str], bool]:
    found = {(one.conversation, one.question): one.right for one in answers}
    if len(found) != len(answers):
        raise InputError("gate", "", "a question was answered twice")
    return found
