"""The trial of one failure: what its answer needed is followed, and the operation named that lost it.

The rules are asked in this order. Each says how likely it is that it names the fault:

1. The answer is right: the judge is wrong.
2. The evidence says what was answered, and not what the gold answer says: the annotation is wrong.
3. What was needed is in the text from which the answer was made: the answering operation is at fault.
4. It was read for the question and left out on the way to the answer: so is the operation that left it out.
5. It is in a memory unit that was current when the search ran: the retrieval is at fault.
6. It is in an older version of a unit, or in a deleted one: what ended that version is at fault.
7. Otherwise the operation at fault is the last one that had it and did not pass it on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from attribution.free_pass import proof_path as proof
from attribution.free_pass import rules
from attribution.free_pass.failure_in_trace import Case
from attribution.free_pass.loss import last_loss, lost_on_the_way
from attribution.free_pass.piece_ending import Ending, settled
from attribution.free_pass.possession import wrong_person
from attribution.free_pass.rules import Finding
from attribution.needed.content import Content
from attribution.needed.evidence_sentences import SUPPORTED, is_about, needed, told_nearby, wanted, without_gold
from attribution.needed.messages import Messages, is_known
from attribution.needed.pieces import Piece, alternatives, is_joined, is_list, joined, listed, rested_on, said, says
from attribution.needed.presence import Detail, PresenceJudge
from attribution.needed.question import Form, form, question_kind
from attribution.trace.graph import TraceGraph
from attribution.trace.holes import RECORD_ANSWERS, RECORD_MESSAGES, hole_behind
from attribution.verdicts.probabilities import confidence
from attribution.verdicts.verdict import Candidate, PieceLoss, Step, Verdict, abstention
from schema.kinds import ErrorType, QuestionKind
from schema.models import Failure

NOT_FOLLOWED = "the way of the evidence could not be followed"
SURE = 0.9
"""Below this confidence a judge of presence is asked, where there is one."""
_SPLIT = 0.6
"""A verdict's confidence is multiplied by this if hardly any piece was lost there, and by 1 if all pieces were."""


@dataclass(slots=True)
class Trial:
    """A failure, with what was found out about it so far."""

    graph: TraceGraph
    messages: Messages
    failure: Failure
    evidence: list[str]
    gold_free: bool
    searched: bool
    losses: list[PieceLoss] = field(default_factory=list)
    said: list[Piece] = field(default_factory=list)
    """Pieces that the answer has."""
    kind: QuestionKind = QuestionKind.PLAIN
    paths: dict[Ending, tuple[Step, ...]] = field(default_factory=dict)
    hole: str | None = None
    """Why nothing before the answer can be told, empty where it can be; None before it is asked for."""

    async def verdict(self, judge: PresenceJudge | None) -> Verdict:
        """The verdict; ``losses`` and ``kind`` are known then."""
        problem = self._unusable()
        if problem:
            return abstention(problem)
        kind = form(self.failure)
        self.kind = question_kind(kind, pieces=1)
        if not self.gold_free and kind is Form.UNANSWERABLE:
            found = rules.unanswerable(self.graph, self.messages, self.failure)
            return await self._told(self._ending([found]), {"form": kind})
        want = None if self.gold_free else wanted(self.messages, self.failure)
        before = self._before(want)
        if settled(before):
            return await self._told(self._ending(before), {"form": kind})
        pieces = self._followed(kind, want, before)
        if not pieces:
            if kind is Form.CONVERSATIONAL:
                found = rules.nothing_needed(self.graph, self.failure)
                return await self._told(self._ending([*before, found]), {"form": kind})
            if not before:
                return abstention(f"the trace has no message that could be the evidence: {RECORD_MESSAGES}")
            return await self._told(self._ending(before), {"form": kind})
        endings = [await self._end(piece, before, judge) for piece in pieces]
        if kind is Form.CONVERSATIONAL and all(one.chosen is None for one in endings):
            return await self._told(
                self._ending([*before, rules.nothing_needed(self.graph, self.failure)]), {"form": kind}
            )
        return await self._together(endings, kind)

    async def endings(self) -> list[list[Ending]]:
        """Where each piece ended, also where the verdict needs none, as for an answer that is right."""
        kind = form(self.failure)
        if self._unusable() or (not self.gold_free and kind is Form.UNANSWERABLE):
            return []
        want = None if self.gold_free else wanted(self.messages, self.failure)
        before = self._before(want)
        pieces = self._followed(kind, want, before)
        ends = [await self._ends(self._cases(piece), before, None) for piece in pieces]
        return [sorted(some, key=lambda one: one.reach, reverse=True) for some in ends]

    def needed(self) -> list[Detail]:
        """The best source of each piece, those that the answer has last."""
        kind = form(self.failure)
        if self._unusable() or (not self.gold_free and kind is Form.UNANSWERABLE):
            return []
        want = None if self.gold_free else wanted(self.messages, self.failure)
        pieces = self._pieces(kind, want, self._before(want))
        return [piece[0] for piece in [*pieces, *self.said]]

    def _before(self, want: Content | None) -> list[Finding]:
        """What can be said before any piece is followed."""
        if not self.failure.prediction:
            return []
        return [rules.right(self.graph, self.messages, self.failure, self.evidence, want)]

    def _ending(self, findings: Sequence[Finding], case: Case | None = None) -> Ending:
        return Ending(findings, case, self.kind)

    def _followed(self, kind: Form, want: Content | None, before: list[Finding]) -> list[Piece]:
        """The pieces that are followed, after which the kind of question is known."""
        pieces = self._pieces(kind, want, before)
        self.kind = question_kind(kind, len(pieces) + len(self.said))
        return pieces

    def _pieces(self, kind: Form, want: Content | None, before: list[Finding]) -> list[Piece]:
        """What the answer needs; the finding that the gold answer is foreign is added to what was found before."""
        messages, failure, evidence = self.messages, self.failure, self.evidence
        if want is None:
            alone = without_gold(messages, failure, evidence)
            return [] if alone is None else [[alone]]
        if kind is Form.CONVERSATIONAL:
            return rested_on(messages, failure, evidence, is_known(self.graph, failure))
        if is_joined(kind, evidence):
            return joined(messages, failure, evidence, want)
        detail = needed(messages, failure, evidence, want)
        pieces = listed(messages, failure, evidence, want)
        if pieces and not (kind is Form.PLAIN and self._is_contradicted(detail, want)):
            said = failure.prediction or ""
            missing = [piece for piece in pieces if not all(says(messages, failure, said, one) for one in piece)]
            self.said = [piece for piece in pieces if piece not in missing] if missing else []
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
            # One sentence does not contradict a list that several messages tell, nor does one that was only found.
            is_told = nearby is not None and is_about(messages, failure, nearby)
            if not is_told and (not is_list(failure) or (len(set(evidence)) == 1 and not self.searched)):
                before.append(rules.foreign_gold(messages, failure, evidence, detail, want))
            is_foreign = any(one.error_type is ErrorType.ANNOTATION and one.likelihood >= 0.5 for one in before)
            detail = detail if is_foreign else nearby or detail
        else:
            detail = nearby or detail
        others = [one for one in alternatives(messages, failure, evidence, want) if one.message_id != detail.message_id]
        return [[detail, *others]]

    def _is_contradicted(self, detail: Detail | None, want: Content) -> bool:
        """Whether the only message of the evidence says what was answered, which contradicts a list too."""
        if detail is None or self.searched or len(set(self.evidence)) != 1:
            return False
        return rules.foreign_gold(self.messages, self.failure, self.evidence, detail, want).likelihood >= 0.5

    async def _end(self, piece: Piece, before: list[Finding], judge: PresenceJudge | None) -> Ending:
        """Where a piece ended: of the messages that tell it, the one that came furthest says so."""
        cases = self._cases(piece, is_judged=judge is not None)
        for case in cases if judge is None and not settled(before) else ():
            # Nothing comes further than what the answer was made from: then the memory need not be searched.
            findings = [*before, await rules.in_context(case)]
            if settled(findings):
                return self._ending(findings, case)
        return max(await self._ends(cases, before, judge), key=lambda one: one.reach)

    def _cases(self, piece: Piece, *, is_judged: bool = False) -> list[Case]:
        return [Case.of(self.graph, self.messages, self.failure, detail, is_judged=is_judged) for detail in piece]

    async def _ends(self, cases: Sequence[Case], before: list[Finding], judge: PresenceJudge | None) -> list[Ending]:
        """Where a piece ended as each of the messages has it that tell it."""
        endings = []
        for case in cases:
            ending = self._ending([*before, *await self._flow(case, before)], case)
            if judge is not None and ending.confidence < SURE and await case.ask(judge):
                ending = self._ending([*before, *await self._flow(case, before)], case)
            endings.append(ending)
        return endings

    async def _together(self, endings: Sequence[Ending], kind: Form) -> Verdict:
        """The verdict on all pieces: the operation that lost most of them, of several the earliest.

        Sentences of a reply are no equal pieces: one takes a name from memory, another a whole list. So they are
        weighed by what they take.
        """
        groups: dict[tuple[ErrorType | None, str | None], list[Ending]] = {}
        for one in endings:
            groups.setdefault(one.key, []).append(one)
        named = {key: some for key, some in groups.items() if key[0] is not None} or groups

        def lost(some: Sequence[Ending]) -> float:
            if kind is not Form.CONVERSATIONAL:
                return len(some)
            return round(sum(one.case.detail.core.weight for one in some if one.case is not None), 3)

        def weight(key: tuple[ErrorType | None, str | None]) -> tuple[float, int]:
            place = self.graph.operations[key[1]].sequence if key[1] else -1
            return -lost(named[key]), place

        chosen = max(named[min(named, key=weight)], key=lambda one: one.share)
        others = [one for key, some in groups.items() if key != chosen.key for one in some[:1]]
        self.losses = [await self._loss(one) for one in endings] + [await self._reached(piece) for piece in self.said]
        share = lost(groups[chosen.key]) / lost(endings)
        return await self._told(chosen, {"form": kind}, others, share)

    async def _loss(self, ending: Ending) -> PieceLoss:
        """Where a piece ended."""
        finding, case = ending.chosen, ending.case
        assert case is not None
        piece = case.detail.quote
        if finding is None:
            return PieceLoss(piece, None, None, 0.0, NOT_FOLLOWED)
        if not finding.is_local and (hole := await self._hole()) is not None:
            return PieceLoss(piece, None, None, 0.0, hole)
        reached = finding.error_type is ErrorType.JUDGE
        path = await self._path(ending)
        operation_id = None if reached else finding.operation_id
        return PieceLoss(piece, finding.error_type, operation_id, ending.confidence, finding.reason, path, reached)

    async def _reached(self, piece: Piece) -> PieceLoss:
        """A piece that the answer has, with the way there, if the answer was made from the message that tells it."""
        case = Case.of(self.graph, self.messages, self.failure, piece[0])
        text, answer = case.detail.quote, self.failure.answer_id or ""
        path = await proof.of_reached(case, answer) if answer in case.future else []
        sure = min(said(self.messages, self.failure, self.failure.prediction or "", one) for one in piece)
        return PieceLoss(text, None, None, round(sure, 4), "the answer says it", tuple(path), reached=True)

    async def _path(self, ending: Ending) -> tuple[Step, ...]:
        """The path that proves what is said of an ending, found once."""
        if ending not in self.paths:
            assert ending.chosen is not None
            self.paths[ending] = tuple(await ending.chosen.prove().steps(self.graph, ending.case))
        return self.paths[ending]

    async def _hole(self) -> str | None:
        """Why nothing before the answer can be told; None where the recording is whole."""
        if self.hole is None:
            hole = await hole_behind(self.graph, self.failure)
            self.hole = "" if hole is None else f"the recording has a hole: {hole.problem}; {hole.fix}"
        return self.hole or None

    async def _told(
        self, ending: Ending, details: dict[str, Any], others: Sequence[Ending] = (), share: float = 1.0
    ) -> Verdict:
        """The verdict of one ending; others are candidates."""
        weighed = [*ending.weighed, *(one.best for one in others if one.best is not None)]
        finding, case = ending.chosen, ending.case
        if finding is None:
            return abstention(NOT_FOLLOWED, candidates=_candidates(weighed), details=details)
        if not finding.is_local and (hole := await self._hole()) is not None:
            found = [(finding, ending.share), *weighed]
            return abstention(hole, candidates=_candidates(found), details=details)
        path = await self._path(ending)
        whole = ending.share * (_SPLIT + (1 - _SPLIT) * share)
        details = details | {"share": round(whole, 4)}
        more = {"detail": case.detail.quote} if case is not None else {}
        return Verdict(
            finding.error_type,
            finding.operation_id,
            confidence(whole, self.kind),
            finding.reason,
            path,
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
        elsewhere = await rules.told_elsewhere(case)
        if elsewhere is not None:
            findings.append(elsewhere)
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
