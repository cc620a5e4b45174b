"""The free pass's way through the graph, with a model's judgements where texts alone don't decide.

Each judgement changes the odds of a finding by what the model's judgements are worth (``reliability``). So a model that
guesses changes nothing, and a better model changes more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.flow import FlowPass
from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.rules import Finding
from attribution.free_pass.trial import SURE
from attribution.llm.transport.budget import LlmBudget
from attribution.llm.transport.client import LlmClient
from attribution.llm.walk.asking import DROPPED, SAME, SUPPORTS, Allowance, Asker, Fact, Opinion, StepShown
from attribution.llm.walk.asking import HOLDS as HOLD
from attribution.llm.walk.measuring import Measure
from attribution.llm.walk.passages import LONGEST, Passage, passages
from attribution.llm.walk.reliability import Reliability, changed
from attribution.needed.messages import Mode, is_known
from attribution.needed.presence import HOLDS, Presence, counts_from_its_day
from attribution.needed.question import QuestionForm, form
from attribution.text.refusals import refuses
from attribution.trace.graph import TraceGraph
from attribution.verdicts.probabilities import likely, score_of
from attribution.verdicts.usage import Usage
from attribution.verdicts.verdict import Verdict
from schema.kinds import ErrorType
from schema.models import Failure

_BATCH = 4
"""The number of texts in one judgement."""
_TEXTS = 8
"""The number of texts that are judged for one piece."""
_MESSAGES = 4
_STEPS = 4
_ANSWER = 400
"""The maximal length of a shown answer, in characters."""
_DOUBT = 0.1
"""The least probability that a text holds a piece in words that it does not share with the piece."""
_RULED_OUT = 0.03
"""Findings that are less likely are not asked about: words, numbers and dates decide against them."""
_DISMISSES = 9.0
"""The least factor of a yes that may dismiss the failure, as an error of the judge: then it is right in 9 of 10 cases
that were open before."""
_DISMISSED = 0.49
"""The greatest likelihood that a weaker yes gives to an error of the judge: too little to name it."""
_WAVERS = 0.05
"""Operations whose findings have at least this share of the probability are asked about."""


Known = Callable[[str], Awaitable[Reliability]]
"""What is known of a model's judgements, of a given kind at least."""


class Walker:
    """Walks of one run. What the model's judgements of a kind are worth is measured when the first one is due."""

    def __init__(self, client: LlmClient) -> None:
        self.client = client
        self._measure = Measure(client)

    async def may_explore(self, budget: LlmBudget) -> bool:
        """Whether the model is good enough to explore the graph by itself.

        Args:
            budget: of the failure; what controls take is counted beside its limits.
        """
        with budget.paused():
            may, used = await self._measure.may_explore()
        budget.beside += used
        return may

    async def attribute(
        self,
        flow: FlowPass,
        graph: TraceGraph,
        failure: Failure,
        *,
        gold_free: bool = False,
        budget: LlmBudget | None = None,
    ) -> Verdict:
        """The verdict on a failure: the free pass's own where that is sure, or where no judgement can be had.

        Args:
            flow: the free pass.
            graph: the trace.
            failure: question, answer and gold answers.
            gold_free: ignore the gold answers.
            budget: charged with the calls; None makes a new one.
        """
        free = await flow.attribute(graph, failure, gold_free=gold_free)
        if free.confidence >= SURE:
            return free
        budget = budget or self.client.case_budget()
        controls = _Controls(self._measure, budget)
        asker = Asker(self.client, budget, Allowance())
        eyes = ModelEyes(asker, controls.known)
        seen = await flow.attribute(graph, failure, gold_free=gold_free, eyes=eyes)
        verdict = seen if eyes.judgements else free
        details: dict[str, Any] = {"judgements": eyes.judgements, "controls": controls.reliability.document()}
        if (verdict.error_type, verdict.operation_id) != (free.error_type, free.operation_id):
            details["flow"] = {
                "errorType": free.error_type,
                "operationId": free.operation_id,
                "confidence": free.confidence,
                "reason": free.reason,
            }
        if undecided := [*controls.reliability.problems, *asker.problems]:
            details["undecided"] = undecided
        return self.charged(replace(verdict, details=verdict.details | details), budget)

    def charged(self, verdict: Verdict, budget: LlmBudget) -> Verdict:
        """A verdict with all tokens that were used for it; its details give the tokens of the controls."""
        used, beside = budget.used, budget.beside
        controls = {} if beside == Usage() else {"controlTokens": beside.input_tokens + beside.output_tokens}
        model = self.client.settings.model if used != Usage() else None
        return replace(verdict, details=verdict.details | controls, model=model, usage=used)


@dataclass(slots=True)
class _Controls:
    """Asks for controls on behalf of one failure.

    Attributes:
        reliability: what is known of the kinds that were due.
    """

    measure: Measure
    budget: LlmBudget
    reliability: Reliability = field(default_factory=Reliability)

    async def known(self, kind: str) -> Reliability:
        """What is known after the controls of a kind; they are counted beside the failure's limits."""
        with self.budget.paused():
            self.reliability, used = await self.measure.of(kind)
        self.budget.beside += used
        return self.reliability


class ModelEyes:
    """The judgements for one failure; implements ``attribution.free_pass.eyes.Eyes``.

    Attributes:
        judgements: what was asked and said, for the verdict's details.
    """

    def __init__(self, asker: Asker, known: Known) -> None:
        """Nothing is asked yet.

        Args:
            asker: asks the model.
            known: is asked for a kind only where a judgement of this kind is due.
        """
        self._asker = asker
        self._known = known
        self.judgements: list[dict[str, Any]] = []

    async def on_answer(self, tried: TriedFailure, findings: Sequence[Finding]) -> list[Finding]:
        """The findings about the answer, after a judgement whether it says what the gold answer says.

        To dismiss a failure needs the strongest proof: only the yes of a model that is hardly ever wrong does.
        """
        found, answer = list(findings), tried.failure.prediction or ""
        place = next((n for n, one in enumerate(found) if one.error_type is ErrorType.JUDGE), None)
        is_open = place is not None and _RULED_OUT <= found[place].likelihood <= 1 - _RULED_OUT
        is_reply = form(tried.failure) is QuestionForm.CONVERSATIONAL
        if place is None or not is_open or is_reply or tried.is_gold_free or refuses(answer) or len(answer) > _ANSWER:
            return found
        known = await self._known(SAME)
        if not known.is_worth(SAME):
            return found
        opinion = await self._asker.same(tried.failure.question, tried.failure.gold_answers, answer)
        if opinion is not None:
            factor = self._note(SAME, answer, opinion, known)
            before = found[place].likelihood
            after = changed(before, factor)
            if opinion.yes and factor < _DISMISSES and before < 0.5:
                after = min(after, max(before, _DISMISSED))
            found[place] = replace(found[place], likelihood=after)
        return found

    async def on_gold(self, tried: TriedFailure, findings: Sequence[Finding]) -> list[Finding]:
        """The findings, after a judgement whether messages support the gold answer.

        A model's no makes only a finding likelier that the free pass holds for likely by a proof of its own: absence
        of support is no proof that the gold answer is wrong.
        """
        found = list(findings)
        places = [
            n for n, one in enumerate(found) if one.error_type is ErrorType.ANNOTATION and one.likelihood > _RULED_OUT
        ]
        if not places or tried.is_gold_free:
            return found
        known = await self._known(SUPPORTS)
        if not known.is_worth(SUPPORTS):
            return found
        messages = await _said(tried)
        opinion = await self._asker.supports(tried.failure.question, tried.failure.gold_answers, messages)
        if opinion is not None:
            factor = self._note(SUPPORTS, " / ".join(messages), opinion, known)
            for place in places:
                if opinion.yes or found[place].likelihood >= 0.5:
                    found[place] = replace(found[place], likelihood=changed(found[place].likelihood, 1 / factor))
        return found

    async def on_piece(self, traced: FailureInTrace) -> bool:
        """Judge which texts have the piece, and tell ``traced``; whether anything changed.

        Days that count from a message's own day are left to the free pass, which computes them.
        """
        asked = [] if counts_from_its_day(traced.detail) else await passages(traced, _TEXTS)
        if not asked:
            return False
        known = await self._known(HOLD)
        if not known.is_worth(HOLD):
            return False
        fact = _fact(traced)
        before = await traced.presence(dict.fromkeys(v for one in asked for v in one.variables))
        said: dict[str, list[tuple[Passage, str]]] = {}
        for start in range(0, len(asked), _BATCH):
            batch = asked[start : start + _BATCH]
            picked = await self._asker.holds(fact, [one.shown for one in batch])
            if picked is None:
                continue
            number, opinion = picked
            # The quote may be from the beginning of the line, which other values need not have.
            quote = opinion.quote if opinion.quote in batch[number].text else batch[number].text
            # A yes is about the chosen text alone; the others stay open.
            for one in [batch[number]] if opinion.yes else batch:
                self._note(HOLD, one.shown, opinion, known)
                for variable_id in one.variables:
                    said.setdefault(variable_id, []).append((one, quote if opinion.yes else ""))
        for variable_id, some in said.items():
            traced.decide(variable_id, weighed(before[variable_id], some, known))
        return bool(said)

    async def on_steps(self, traced: FailureInTrace, findings: Sequence[Finding]) -> list[Finding]:
        """The findings, after a judgement which of their operations dropped the piece.

        Asked only where several operations may have dropped it. The chosen one comes first if that is likelier then.
        """
        found = list(findings)
        shares = _shares(found)
        blamed = {
            one.operation_id: n
            for n, (one, share) in enumerate(zip(found, shares, strict=True))
            if one.operation_id is not None and one.error_type is not ErrorType.JUDGE and share >= _WAVERS
        }
        if not 2 <= len(blamed) <= _STEPS:
            return found
        known = await self._known(DROPPED)
        if not known.is_worth(DROPPED):
            return found
        ids = sorted((one for one in blamed if one), key=lambda one: traced.graph.operations[one].sequence)
        shown = [await _step_shown(traced, one) for one in ids]
        chosen = await self._asker.dropped(_fact(traced), shown)
        if chosen is None:
            return found
        factor = known.step_factor
        self.judgements.append({"asked": DROPPED, "text": shown[chosen].name, "said": True, "factor": round(factor, 2)})
        place = blamed[ids[chosen]]
        likelihood = changed(shares[place], factor)
        first = next((n for n, one in enumerate(found) if one.likelihood >= 0.5), None)
        if likelihood < 0.5 or (first is not None and place != first and likelihood <= shares[first]):
            return found
        return [replace(found[place], likelihood=likelihood), *found[:place], *found[place + 1 :]]

    def _note(self, kind: str, text: str, opinion: Opinion, known: Reliability) -> float:
        """Keep a judgement for the verdict's details; returns the factor by which the judgement changes the odds."""
        factor = known.factor(kind, yes=opinion.yes)
        kept = {"asked": kind, "text": text[:LONGEST], "said": opinion.yes, "factor": round(factor, 2)}
        self.judgements.append(kept | ({"quote": opinion.quote} if opinion.quote else {}))
        return factor


def weighed(before: Presence, said: Sequence[tuple[Passage, str]], known: Reliability) -> Presence:
    """How surely a variable has the piece after judgements on its passages: one yes is enough.

    Args:
        before: by the free pass.
        said: the passages, each with the quote of a yes; the quote of a no is empty.
        known: of the model's judgements.
    """
    prior = likely(before.score, HOLDS)
    quote = next((quote for _, quote in said if quote), "")
    if quote:
        after = changed(max(prior, _DOUBT), known.factor(HOLD, yes=True))
        return before if after <= prior else Presence(score_of(after, HOLDS), quote)
    # A passage that was not asked about may be the one that has the piece.
    if before.quote and not any(one.text in before.quote or before.quote.strip() in one.text for one, _ in said):
        return before
    return Presence(score_of(changed(prior, known.factor(HOLD, yes=False)), HOLDS), before.quote)


def _fact(traced: FailureInTrace) -> Fact:
    right = traced.failure.gold_answers if traced.detail.literal else ()
    return Fact(traced.failure.question, [one[:LONGEST] for one in right[:3]], traced.detail.quote[:LONGEST])


def _shares(findings: Sequence[Finding]) -> list[float]:
    """The probability of each finding, given that earlier findings are wrong."""
    left, shares = 1.0, []
    for one in findings:
        shares.append(left * one.likelihood)
        left -= shares[-1]
    return shares


async def _said(tried: TriedFailure) -> list[str]:
    """The messages that are most likely to tell the gold answer, each with its speaker and day."""
    messages, failure = tried.messages, tried.failure
    known = is_known(tried.graph, failure)
    near = await messages.retrieve(failure, Mode.GOLD, _MESSAGES, known)
    shown = []
    for one in list(dict.fromkeys([*tried.evidence[:2], *near]))[:_MESSAGES]:
        told = tried.graph.told(one)
        day = date.fromordinal(told.day).isoformat() if told.day else ""
        who = ", ".join(part for part in (told.speaker or "", day) if part)
        shown.append(f"{who}: {messages.texts[one][:LONGEST]}" if who else messages.texts[one][:LONGEST])
    return shown


async def _step_shown(traced: FailureInTrace, operation_id: str) -> StepShown:
    """An operation, with what it was given and made that is nearest to the piece."""
    graph = traced.graph
    operation = graph.operations[operation_id]
    given, made = await _nearest(traced, graph.used(operation_id)), await _nearest(traced, graph.made(operation_id))
    return StepShown(f"{operation.kind}: {operation.name}"[:80], given, made)


async def _nearest(traced: FailureInTrace, variable_ids: Sequence[str]) -> str:
    """The text of the variable that has the piece most surely: the quote, or the beginning of the text."""
    if not variable_ids:
        return ""
    found = await traced.presence(variable_ids)
    best = max(variable_ids, key=lambda one: found[one].score)
    return (found[best].quote or await traced.graph.text(best)).strip()[:LONGEST]
