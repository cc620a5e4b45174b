"""The free pass: follows the needed detail through the exact graph and names the operation that lost it.

The rules are asked in this order, and each answers with a probability: the answer is right (judge); the evidence says
what was answered, not what the gold answer says (annotation); the detail is in what the answering operation read
(response); in what was read for the question, and left out on the way to the answer (response); in a unit that was
current at the search (retrieval); in an older version or a deleted unit (what ended it); else where the way from the
evidence stops (what should have carried it on).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attribution import rules
from attribution.case import Case
from attribution.detail import Content
from attribution.ending import Ending, settled
from attribution.evidence import Embedder, Messages, Mode
from attribution.graph import TraceGraph
from attribution.holes import RECORD_ANSWERS, RECORD_MESSAGES, hole_behind
from attribution.loss import last_loss, lost_on_the_way
from attribution.needed import SUPPORTED, needed, told_nearby, wanted, without_gold
from attribution.pieces import Piece, alternatives, is_joined, is_list, joined, listed, rested_on, says
from attribution.possession import wrong_person
from attribution.presence import Detail, PresenceJudge
from attribution.question import Form, form
from attribution.rules import Finding
from attribution.verdict import Candidate, Step, Verdict, abstention, written
from schema.kinds import ErrorType
from schema.models import Failure

SURE = 0.75
"""Below this confidence a judge of presence is asked, where there is one."""
_RETRIEVED = 10
_SPLIT = 0.6
"""What a verdict is worth that hardly any piece backs; all of it where every piece does."""
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
        kind = form(self.failure)
        if not self.gold_free and kind is Form.UNANSWERABLE:
            found = rules.unanswerable(self.graph, self.messages, self.failure)
            return await self._told(Ending([found], None), {"form": kind})
        want = None if self.gold_free else wanted(self.messages, self.failure)
        before: list[Finding] = []
        if self.failure.prediction:
            before.append(rules.right(self.graph, self.messages, self.failure, self.evidence, want))
        if settled(before):
            return await self._told(Ending(before, None), {"form": kind})
        pieces = self._pieces(kind, want, before)
        if not pieces:
            if kind is Form.CONVERSATIONAL:
                found = rules.nothing_needed(self.graph, self.failure)
                return await self._told(Ending([*before, found], None), {"form": kind})
            if not before:
                return abstention(f"the trace has no message that could be the evidence: {RECORD_MESSAGES}")
            return await self._told(Ending(before, None), {"form": kind})
        endings = [await self._end(piece, before, judge) for piece in pieces]
        if kind is Form.CONVERSATIONAL and all(one.chosen is None for one in endings):
            return await self._told(
                Ending([*before, rules.nothing_needed(self.graph, self.failure)], None), {"form": kind}
            )
        return await self._together(endings, kind)

    def _pieces(self, kind: Form, want: Content | None, before: list[Finding]) -> list[Piece]:
        """What the answer needs; the finding that the gold answer is foreign is added to what was found before."""
        messages, failure, evidence = self.messages, self.failure, self.evidence
        if want is None:
            alone = without_gold(messages, failure, evidence)
            return [] if alone is None else [[alone]]
        if kind is Form.CONVERSATIONAL:
            return rested_on(messages, failure, evidence)
        if is_joined(kind, evidence):
            return joined(messages, failure, evidence, want)
        detail = needed(messages, failure, evidence, want)
        pieces = listed(messages, failure, evidence, want)
        if pieces and not (kind is Form.PLAIN and self._is_contradicted(detail)):
            said = failure.prediction or ""
            missing = [piece for piece in pieces if not all(says(messages, failure, said, one) for one in piece)]
            return missing or pieces
        if detail is None:
            return []
        nearby = told_nearby(messages, failure, evidence, want) if detail.support < SUPPORTED else None
        # Evidence that was searched for may be beside the message that was found.
        detail = nearby or detail if self.searched else detail
        if kind is Form.PLAIN:
            other = wrong_person(messages, failure, detail)
            if other is not None:
                before.append(other)
                return [[detail]]
            # One sentence does not contradict a list that several messages tell.
            if len(set(evidence)) == 1 or not is_list(failure):
                before.append(rules.foreign_gold(messages, failure, evidence, detail))
            is_foreign = any(one.error_type is ErrorType.ANNOTATION and one.likelihood >= 0.5 for one in before)
            detail = detail if is_foreign else nearby or detail
        else:
            detail = nearby or detail
        others = [one for one in alternatives(messages, failure, evidence, want) if one.message_id != detail.message_id]
        return [[detail, *others]]

    def _is_contradicted(self, detail: Detail | None) -> bool:
        """Whether the only message of the evidence says what was answered, which contradicts a list too."""
        if detail is None or len(set(self.evidence)) != 1:
            return False
        return rules.foreign_gold(self.messages, self.failure, self.evidence, detail).likelihood >= 0.5

    async def _end(self, piece: Piece, before: list[Finding], judge: PresenceJudge | None) -> Ending:
        """Where a piece ended: of the messages that tell it, the one that came furthest says so."""
        endings = []
        for detail in piece:
            case = Case.of(self.graph, self.messages, self.failure, detail)
            ending = Ending([*before, *await self._flow(case, before)], case)
            if judge is not None and ending.confidence < SURE and await case.ask(judge):
                ending = Ending([*before, *await self._flow(case, before)], case)
            endings.append(ending)
        return max(endings, key=lambda one: one.reach)

    async def _together(self, endings: Sequence[Ending], kind: Form) -> Verdict:
        """The verdict on all pieces: the operation that lost most of them, of several the earliest."""
        groups: dict[tuple[ErrorType | None, str | None], list[Ending]] = {}
        for one in endings:
            groups.setdefault(one.key, []).append(one)
        named = {key: some for key, some in groups.items() if key[0] is not None} or groups

        def weight(key: tuple[ErrorType | None, str | None]) -> tuple[int, int]:
            place = self.graph.operations[key[1]].sequence if key[1] else -1
            return -len(named[key]), place

        chosen = max(named[min(named, key=weight)], key=lambda one: one.confidence)
        others = [one for key, some in groups.items() if key != chosen.key for one in some[:1]]
        losses = [await self._loss(one) for one in endings] if len(endings) > 1 else []
        details: dict[str, Any] = {"form": kind} | ({"losses": losses} if losses else {})
        share = len(groups[chosen.key]) / len(endings)
        return await self._told(chosen, details, others, share)

    async def _loss(self, ending: Ending) -> dict[str, Any]:
        """What is told of a piece: its words, where it was lost and how surely, and the way there."""
        finding, case = ending.chosen, ending.case
        assert case is not None
        path = await finding.prove().steps(self.graph, case) if finding is not None else []
        return {
            "piece": case.detail.sentence.text.strip(),
            "errorType": finding and finding.error_type,
            "operationId": finding and finding.operation_id,
            "reason": finding and finding.reason,
            "confidence": ending.confidence,
            "path": [written(step) for step in path],
        }

    async def _told(
        self, ending: Ending, details: dict[str, Any], others: Sequence[Ending] = (), share: float = 1.0
    ) -> Verdict:
        """The verdict of one ending; others are candidates."""
        weighed = [*ending.weighed, *(one.best for one in others if one.best is not None)]
        finding, case = ending.chosen, ending.case
        if finding is None:
            reason = "the way of the evidence could not be followed"
            return abstention(reason, candidates=_candidates(weighed), details=details)
        if not finding.is_local and (hole := await hole_behind(self.graph, self.failure)) is not None:
            reason = f"the recording has a hole: {hole.problem}; {hole.fix}"
            found = [(finding, ending.share), *weighed]
            return abstention(reason, candidates=_candidates(found), details=details)
        path: list[Step] = await finding.prove().steps(self.graph, case)
        more = {"detail": case.detail.sentence.text.strip()} if case is not None else {}
        return Verdict(
            finding.error_type,
            finding.operation_id,
            round(ending.confidence * (_SPLIT + (1 - _SPLIT) * share), 4),
            finding.reason,
            tuple(path),
            _candidates(weighed),
            details=details | more,
        )

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
        if settled(before):
            return findings
        findings.append(await rules.in_context(case))
        if settled([*before, *findings]):
            return findings
        past = self.graph.past([self.failure.answer_id or ""])
        left_out = await rules.left_out(case, past)
        if left_out is not None:
            findings.append(left_out)
            if settled([*before, *findings]):
                return findings
        searches = case.searches(past)
        answering = self.graph.variables[self.failure.answer_id or ""].operation_id or ""
        place = self.graph.operations[searches[0] if searches else answering].sequence
        findings.append(await rules.stored(case, searches, answering, place))
        if settled([*before, *findings]):
            return findings
        loss = await last_loss(case, place)
        if loss is not None:
            findings.append(rules.lost(case, loss))
        if not settled([*before, *findings]):
            stopped = await lost_on_the_way(case, place)
            if stopped is not None:
                findings.append(rules.lost(case, stopped))
        return findings


def _candidates(weighed: Sequence[tuple[Finding, float]]) -> tuple[Candidate, ...]:
    found = [
        Candidate(one.error_type, one.operation_id, round(share, 4), one.reason)
        for one, share in weighed
        if share >= 0.01 and (one.operation_id is not None or one.error_type in {ErrorType.ANNOTATION, ErrorType.JUDGE})
    ]
    return tuple(sorted(found, key=lambda one: -(one.confidence or 0.0)))
