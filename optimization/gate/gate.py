"""The gate: a change of prompts passes if it improves conversations that the search has not seen, and harms nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from optimization.gate.prompts import learnt_by_heart, lost_placeholders
from optimization.gate.statistics import controls_needed, conversations_needed, sign_flip, upper_bound
from schema.errors import InputError


@dataclass(frozen=True, slots=True)
class Scored:
    """Whether the answer to a question of a conversation was judged right."""

    conversation: str
    question: str
    right: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """Conditions for a change to pass.

    Attributes:
        alpha: probability of accepting a useless change, all attempts on the same conversations together.
        margin: largest share of right answers that the change may harm.
        attempts: number of changes that may be tried on the same conversations.
        cost_factor: largest cost of the changed program, as a multiple of the old program's cost.
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
    """The gold answers and questions that the search could see: its training and validation conversations'."""

    gold: Sequence[str]
    questions: Sequence[str]


@dataclass(frozen=True, slots=True)
class Decision:
    """The gate's decision.

    Attributes:
        accepted: whether the change passes.
        reasons: reasons against the change, in words; empty if the change passes.
        p: p-value of a sign-flip test that more conversations got better than worse; None if nothing was measured.
        better: number of conversations with more right answers.
        worse: number of conversations with fewer right answers.
        controls: number of answers that were right before.
        harmed: number of controls that are wrong with the change.
        bound: upper confidence bound, at the level of the rules, of the share of controls that the change harms.
        cost: cost of the changed program, as a multiple of the old program's; None if nothing had a cost.
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
    """The reason why even the best change could not pass on these conversations; None if a change could pass.

    Checked before any money is spent on the change.
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
    """Reasons against a change that follow from the texts alone; empty if there are none."""
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
    """Decide whether a change passes, from the answers to the same questions before and after the change.

    Args:
        before: the answers with the old prompts.
        after: the answers with the new prompts.
        rules: the conditions for the change.
        cost_before: cost of the old answers, in any unit.
        cost_after: cost of the new answers, in the same unit.

    Raises:
        InputError: ``before`` and ``after`` have different questions.
    """
    was, now = _by_question(before), _by_question(after)
    if was.keys() != now.keys():
        only = min(was.keys() ^ now.keys())
        raise InputError("gate", " ".join(only), "was answered on one side only")
    sums: dict[str, int] = defaultdict(int)
    for question, right in was.items():
        sums[question[0]] += now[question] - right
    p = sign_flip(list(sums.values()))
    controls = [question for question, right in was.items() if right]
    harmed = sum(not now[question] for question in controls)
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


def _by_question(answers: Collection[Scored]) -> dict[tuple[str, str], bool]:
    found = {(one.conversation, one.question): one.right for one in answers}
    if len(found) != len(answers):
        raise InputError("gate", "", "a question was answered twice")
    return found
