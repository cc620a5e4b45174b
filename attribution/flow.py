"""The free pass: follows the needed detail through the exact graph and names the operation that lost it.

The rules are asked in this order, and each answers with a probability: the answer is right (judge); the gold answer
has no support (annotation); the detail is in what the answering operation read (response); in what was read for the
question, and left out on the way to the answer (response); in a unit that was current at the search (retrieval); in
an older version or a deleted unit (what ended it); else where the way from the evidence stops (what should have
carried it on).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution import rules
from attribution.case import Case
from attribution.evidence import Embedder, Messages, Mode
from attribution.graph import TraceGraph
from attribution.holes import RECORD_ANSWERS, RECORD_MESSAGES, hole_behind
from attribution.loss import last_loss, lost_on_the_way
from attribution.needed import SUPPORTED, needed, told_nearby, wanted, without_gold
from attribution.presence import PresenceJudge
from attribution.rules import Finding
from attribution.sureness import calibrated
from attribution.verdict import Candidate, Step, Verdict, abstention
from schema.kinds import NOT_THE_MEMORY, ErrorType
from schema.models import Failure

SURE = 0.75
"""Below this confidence a judge of presence is asked, where there is one."""
_RETRIEVED = 10
_INFERRED = 0.6
"""What a verdict is worth whose detail no gold answer tells."""
_GOLD_FREE = 0.7
"""What a verdict is worth that does without gold answers."""


class FlowPass:
    """The free pass over the traces of a run; what a trace's messages say is looked at once."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._messages: dict[str, Messages] = {}

    async def messages(self, graph: TraceGraph) -> Messages:
        """The messages of a trace."""
        if graph.trace_id not in self._messages:
            self._messages[graph.trace_id] = await Messages.read(graph, self._embedder)
        return self._messages[graph.trace_id]

    async def retrieve(self, graph: TraceGraph, failure: Failure, mode: Mode, limit: int = _RETRIEVED) -> list[str]:
        """The messages that look most like the evidence of a failure, best first."""
        return await (await self.messages(graph)).retrieve(failure, mode, limit)

    async def attribute(
        self,
        graph: TraceGraph,
        failure: Failure,
        *,
        gold_free: bool = False,
        judge: PresenceJudge | None = None,
    ) -> Verdict:
        """The verdict on one failure.

        Args:
            graph: the trace.
            failure: what was asked, answered and expected; its attributes are not looked at.
            gold_free: do without the gold answers.
            judge: decides where words don't, for verdicts that are not sure.
        """
        gold_free = gold_free or not failure.gold_answers
        messages = await self.messages(graph)
        evidence = [message for message in failure.evidence_ids if message in messages.sentences]
        retrieved: list[str] = []
        if not evidence:
            mode = Mode.QUESTION if gold_free else Mode.GOLD
            retrieved = await messages.retrieve(failure, mode, _RETRIEVED)
            want = None if gold_free else wanted(messages, failure)
            evidence = await messages.likeliest(failure, want, retrieved)
        details = {"evidence": evidence, "retrieved": retrieved, "goldFree": gold_free}
        verdict = await _Trial(graph, messages, failure, evidence, gold_free, bool(retrieved)).verdict(judge)
        details |= verdict.details
        return Verdict(
            verdict.error_type,
            verdict.operation_id,
            round(verdict.confidence * (_GOLD_FREE if gold_free else 1.0), 4),
            verdict.reason,
            verdict.path,
            verdict.candidates,
            details=details,
        )


@dataclass(slots=True)
class _Trial:
    graph: TraceGraph
    messages: Messages
    failure: Failure
    evidence: list[str]
    gold_free: bool
    searched: bool

    async def verdict(self, judge: PresenceJudge | None) -> Verdict:
        problem = self._unusable()
        if problem:
            return abstention(problem)
        want = None if self.gold_free else wanted(self.messages, self.failure)
        findings: list[Finding] = []
        if self.failure.prediction:
            findings.append(rules.right(self.graph, self.messages, self.failure, self.evidence, want))
        case: Case | None = None
        if not _settled(findings):
            detail = (
                without_gold(self.messages, self.failure, self.evidence)
                if want is None
                else needed(self.messages, self.failure, self.evidence, want)
            )
            if detail is None and not findings:
                return abstention(f"the trace has no message that could be the evidence: {RECORD_MESSAGES}")
            if detail is not None:
                nearby = None
                if want is not None and detail.support < SUPPORTED:
                    nearby = told_nearby(self.messages, self.failure, self.evidence, want)
                # Evidence that was searched for may be beside the message that was found.
                detail = nearby or detail if self.searched else detail
                if not self.gold_free:
                    foreign = rules.foreign_gold(self.messages, self.failure, self.evidence, detail)
                    findings.append(foreign)
                    detail = nearby or detail if foreign.likelihood < 0.5 else detail
                case = Case.of(self.graph, self.messages, self.failure, detail)
                findings += await self._flow(case, findings)
        made = await self._decide(findings, case)
        if judge is not None and case is not None and made.confidence < SURE and await case.ask(judge):
            findings = [one for one in findings if one.error_type in NOT_THE_MEMORY]
            findings += await self._flow(case, findings)
            made = await self._decide(findings, case)
        return made

    def _unusable(self) -> str | None:
        failure, variables = self.failure, self.graph.variables
        if failure.answer_id is None or failure.answer_id not in variables:
            return "the failure names no answer of this trace"
        if variables[failure.answer_id].operation_id is None:
            return f"no operation is recorded that made the answer: {RECORD_ANSWERS}"
        if failure.question_id not in variables:
            return "the failure's question is not in this trace"
        if not self.messages.ids:
            return f"no messages are recorded in this trace: {RECORD_MESSAGES}"
        return None

    async def _flow(self, case: Case, before: Sequence[Finding]) -> list[Finding]:
        """What the way of the detail says, after what was found before."""
        findings: list[Finding] = []
        if _settled(before):
            return findings
        findings.append(await rules.in_context(case))
        if _settled([*before, *findings]):
            return findings
        past = self.graph.past([self.failure.answer_id or ""])
        left_out = await rules.left_out(case, past)
        if left_out is not None:
            findings.append(left_out)
            if _settled([*before, *findings]):
                return findings
        searches = case.searches(past)
        answering = self.graph.variables[self.failure.answer_id or ""].operation_id or ""
        place = self.graph.operations[searches[0] if searches else answering].sequence
        findings.append(await rules.stored(case, searches, answering, place))
        if _settled([*before, *findings]):
            return findings
        loss = await last_loss(case, place)
        if loss is not None:
            findings.append(rules.lost(case, loss))
        if not _settled([*before, *findings]):
            stopped = await lost_on_the_way(case, place)
            if stopped is not None:
                findings.append(rules.lost(case, stopped))
        return findings

    async def _decide(self, findings: Sequence[Finding], case: Case | None) -> Verdict:
        """The first finding that is more likely than not; each is worth what those before it leave."""
        left = 1.0
        chosen: tuple[Finding, float] | None = None
        weighed: list[tuple[Finding, float]] = []
        for one in findings:
            share = left * one.likelihood
            left -= share
            if chosen is None and one.likelihood >= 0.5:
                chosen = one, share
            else:
                weighed.append((one, share))
        if chosen is None:
            return abstention("the way of the evidence could not be followed", candidates=_candidates(weighed))
        finding, share = chosen
        if not finding.is_local and (hole := await hole_behind(self.graph, self.failure)) is not None:
            reason = f"the recording has a hole: {hole.problem}; {hole.fix}"
            return abstention(reason, candidates=_candidates([chosen, *weighed]))
        if case is not None and not case.detail.literal and finding.error_type is not ErrorType.JUDGE:
            share *= _INFERRED
        path: list[Step] = await finding.prove().steps(self.graph, case)
        return Verdict(
            finding.error_type,
            finding.operation_id,
            calibrated(share),
            finding.reason,
            tuple(path),
            _candidates(weighed),
            details={"detail": case.detail.sentence.text.strip()} if case is not None else {},
        )


def _settled(findings: Sequence[Finding]) -> bool:
    """Whether nothing that comes later could matter."""
    left = 1.0
    for one in findings:
        left *= 1.0 - one.likelihood
    return left < 0.1


def _candidates(weighed: Sequence[tuple[Finding, float]]) -> tuple[Candidate, ...]:
    found = [
        Candidate(one.error_type, one.operation_id, round(share, 4), one.reason)
        for one, share in weighed
        if share >= 0.01 and (one.operation_id is not None or one.error_type in {ErrorType.ANNOTATION, ErrorType.JUDGE})
    ]
    return tuple(sorted(found, key=lambda one: -one.confidence))
