"""Optimizes prompts: search on training conversations, choice by validation conversations, gate on the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from memtrace.replay.budget import Budget

from attribution.llm.transport.settings import LlmSettings
from optimization.gate.gate import Decision, Rules, Scored, Seen, against_texts, decide, refusal
from optimization.gate.statistics import conversations_needed
from optimization.harness.child import prompts_of
from optimization.harness.folder import opened, write
from optimization.harness.plan import Plan
from optimization.loop.evaluator import Evaluated, Evaluator
from optimization.loop.reflection import Reflector
from optimization.loop.search import Found, TriedPrompts, search
from optimization.loop.split import Split, split
from schema.errors import InputError

Tell = Callable[[str], None]
_NAME = re.compile(r"[\w-]{1,100}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Settings of the search and of the gate.

    Attributes:
        rules: the rules of the gate.
        max_evaluations: largest number of conversations that the search may evaluate.
        seed: seed for dividing the conversations, and for the search.
        by_blame: whether verdicts choose the prompt to change; False changes the prompts in turn.
    """

    rules: Rules = field(default_factory=Rules)
    max_evaluations: int = 200
    seed: int = 0
    by_blame: bool = True


@dataclass(frozen=True, slots=True)
class Optimization:
    """The result of an optimization.

    Attributes:
        before: the old prompts, by name.
        after: the best candidate's prompts.
        split: the training, validation and gate conversations.
        found: the result of the search; None if the gate refused before the search.
        decision: the gate's decision.
        fixed, broken: questions of the gate as (user, question) that are right only after, or only before, the change.
        calls, tokens, cost: spent in this run; kept results of earlier runs cost nothing.
    """

    before: dict[str, str]
    after: dict[str, str]
    split: Split
    found: Found | None
    decision: Decision
    fixed: tuple[tuple[str, str], ...] = ()
    broken: tuple[tuple[str, str], ...] = ()
    calls: int = 0
    tokens: int = 0
    cost: float | None = None

    def as_json(self) -> dict[str, Any]:
        """The content of ``found.json``."""
        said = asdict(self)
        said["gate"] = said.pop("decision")
        return said


async def optimize(
    plan: Plan, prompts: Mapping[str, str], llm: LlmSettings, wanted: Wanted, tell: Tell = lambda said: None
) -> Optimization:
    """Optimize the prompts of a program; writes only to the folder of the run.

    Another call continues a stopped run, because evaluations and model replies are kept.

    Args:
        plan: the program, the data set, the judge, the limits, and the folder of the run.
        prompts: the prompts that may be changed, by name.
        llm: the reflecting model, which writes new texts.
        wanted: settings of the search and of the gate.
        tell: called with the progress.

    Raises:
        InputError: the program has no such prompt, or there are too few conversations.
        ProgramFailed: the program fails.
        MemTraceError: the reflecting model gives no reply.
    """
    budget = Budget(plan.limits.calls, plan.limits.cost, plan.limits.prices)
    with opened(plan):
        own = await _own_prompts(plan, prompts)
        before = {name: prompts[name] for name in sorted(prompts)}
        parts = split([one.user for one in plan.dataset.conversations], wanted.seed)
        needed = conversations_needed(wanted.rules.level)
        if len(parts.gate) < needed:
            reason = (
                f"the gate would have {len(parts.gate)} of {len(plan.dataset.conversations)} conversations, and needs "
                f"at least {needed} to tell a better prompt from luck: add conversations"
            )
            return _ended(plan, Optimization(before, before, parts, None, Decision(False, (reason,))), budget)
        evaluator = Evaluator(plan, own, budget)
        tell("the gate's conversations, with the prompts as they are")
        baseline = await evaluator.evaluate(parts.gate, before)
        if (refused := refusal(_scored(baseline), wanted.rules)) is not None:
            return _ended(plan, Optimization(before, before, parts, None, Decision(False, (refused,))), budget)
        tell("search")
        async with Reflector(llm, plan.folder / "reflections", budget) as reflector:
            found = await search(
                evaluator, reflector, before, parts, wanted.max_evaluations, wanted.seed, by_blame=wanted.by_blame
            )
        best = found.best(parts.validation)
        decision, after = await _through_gate(plan, evaluator, parts, before, best, found, baseline, wanted.rules, tell)
        was, now = _rights(baseline), _rights(after)
        return _ended(
            plan,
            Optimization(
                before,
                best.prompts,
                parts,
                found,
                decision,
                tuple(case for case, right in now.items() if right and not was[case]),
                tuple(case for case, right in now.items() if not right and was[case]),
            ),
            budget,
        )


async def _own_prompts(plan: Plan, prompts: Mapping[str, str]) -> dict[str, str]:
    folder = plan.folder / "prompts of the program"
    own = await prompts_of(plan.program, plan.python, plan.directory, folder, plan.limits.seconds)
    for name in prompts:
        if name not in own:
            raise InputError(plan.program, "", f"has no prompt {name!r}; it has {', '.join(sorted(own)) or 'none'}")
        if not _NAME.fullmatch(name):
            raise InputError(plan.program, name, "a prompt's name is made of letters, digits, _ and -")
    return own


async def _through_gate(
    plan: Plan,
    evaluator: Evaluator,
    parts: Split,
    before: Mapping[str, str],
    best: TriedPrompts,
    found: Found,
    baseline: Sequence[Evaluated],
    rules: Rules,
    tell: Tell,
) -> tuple[Decision, Sequence[Evaluated]]:
    """The gate's decision about the best candidate; evaluates only candidates with acceptable texts and validation."""
    first = found.candidates[0]
    if best.id == first.id or best.score <= first.score:
        reason = f"the search found nothing better ({found.ended})"
        return Decision(False, (reason,)), baseline
    searched = {*parts.train, *parts.validation}
    questions = [
        question
        for conversation in plan.dataset.conversations
        if conversation.user in searched
        for question in conversation.questions
    ]
    seen = Seen([gold for one in questions for gold in one.gold], [one.text for one in questions])
    reasons = against_texts(before, best.prompts, seen)
    if reasons:
        return Decision(False, reasons), baseline
    tell("the gate's conversations, with the best candidate")
    after = await evaluator.evaluate(parts.gate, best.prompts)
    return decide(_scored(baseline), _scored(after), rules, _cost(baseline), _cost(after)), after


def _scored(evaluated: Sequence[Evaluated]) -> list[Scored]:
    return [Scored(one.user, answer.question_id, answer.right) for one in evaluated for answer in one.answers]


def _rights(evaluated: Sequence[Evaluated]) -> dict[tuple[str, str], bool]:
    return {(one.user, answer.question): answer.right for one in evaluated for answer in one.answers}


def _cost(evaluated: Sequence[Evaluated]) -> float:
    """The cost in tokens, or in calls if the server reports no tokens."""
    return float(sum(one.tokens for one in evaluated) or sum(one.calls for one in evaluated))


def _ended(plan: Plan, outcome: Optimization, budget: Budget) -> Optimization:
    spent = budget.spent()
    outcome = replace(outcome, calls=spent.calls, tokens=spent.tokens, cost=spent.cost)
    write(plan.folder / "found.json", outcome.as_json())
    return outcome
