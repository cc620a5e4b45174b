"""The free pass: follows the needed detail through the exact graph and names the operation that lost it.

Rules speak of kinds and of data flow only. They are asked in this order, and each answers with a probability: the
answer is right (judge); the gold answer has no support (annotation); the detail is in what the answering operation
read (response); in what was read for the question, and left out on the way to the answer (response); in a unit that
was current at the search (retrieval); in an older version or a deleted unit (what ended it); else where the way from
the evidence stops (what should have carried it on).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attribution import proof
from attribution.agreement import agreement
from attribution.case import Case
from attribution.detail import Content
from attribution.evidence import Embedder, Messages, Mode
from attribution.graph import TraceGraph
from attribution.loss import Loss, last_loss, lost_on_the_way
from attribution.needed import SUPPORTED, backing, needed, told_nearby, wanted, without_gold
from attribution.presence import HOLDS, Detail, Presence, PresenceJudge
from attribution.sureness import calibrated, likely
from attribution.verdict import Candidate, Step, Verdict, abstention
from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Failure

AGREES = 0.55
"""The part of the gold answer that an answer must say to be right."""
SURE = 0.75
"""Below this confidence a judge of presence is asked, where there is one."""
_MORE = 0.1
"""How much better the evidence must back the answer than the gold answer."""
_RETRIEVED = 10
_INFERRED = 0.6
"""What a verdict is worth whose detail no gold answer tells."""
_GOLD_FREE = 0.7
"""What a verdict is worth that does without gold answers."""
_NOT_THE_MEMORY = frozenset({ErrorType.JUDGE, ErrorType.ANNOTATION})
_NOT_READ = frozenset({VariableKind.QUERY, VariableKind.GOLD_ANSWER, VariableKind.JUDGEMENT, VariableKind.SCORE})
_KEPT = frozenset({VariableKind.MEMORY_UNIT, VariableKind.BUFFER})
_LISTS = frozenset({VariableKind.RETRIEVAL_RESULT, VariableKind.CONTEXT, VariableKind.MEMORY_UNIT, VariableKind.OTHER})


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule says: how likely it is that it names the fault."""

    error_type: ErrorType
    operation_id: str | None
    likelihood: float
    reason: str
    prove: Callable[[], proof.Proof]


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
        findings = [self._right(want)] if self.failure.prediction else []
        case: Case | None = None
        if not _settled(findings):
            detail = (
                without_gold(self.messages, self.failure, self.evidence)
                if want is None
                else needed(self.messages, self.failure, self.evidence, want)
            )
            if detail is None and not findings:
                return abstention("the trace has no message that could be the evidence")
            if detail is not None:
                nearby = None
                if want is not None and detail.support < SUPPORTED:
                    nearby = told_nearby(self.messages, self.failure, self.evidence, want)
                # Evidence that was searched for may be beside the message that was found.
                detail = nearby or detail if self.searched else detail
                foreign = self._foreign_gold(detail)
                findings.append(foreign)
                detail = nearby or detail if foreign.likelihood < 0.5 else detail
                case = Case.of(self.graph, self.messages, self.failure, detail)
                findings += await self._flow(case, findings)
        made = await self._decide(findings, case)
        if judge is not None and case is not None and made.confidence < SURE and await case.ask(judge):
            findings = [one for one in findings if one.error_type in _NOT_THE_MEMORY]
            findings += await self._flow(case, findings)
            made = await self._decide(findings, case)
        return made

    def _unusable(self) -> str | None:
        failure, variables = self.failure, self.graph.variables
        if failure.answer_id is None or failure.answer_id not in variables:
            return "the failure names no answer of this trace"
        if variables[failure.answer_id].operation_id is None:
            return "no operation is recorded that made the answer"
        if failure.question_id not in variables:
            return "the failure's question is not in this trace"
        if not self.messages.ids:
            return "no messages are recorded in this trace"
        return None

    def _right(self, want: Content | None) -> Finding:
        """The answer says what the gold answer says; without one, what the evidence says."""
        judges = [
            o
            for o in self.graph.users(self.failure.answer_id or "")
            if self.graph.operations[o].kind is OperationKind.JUDGE
        ]
        judge = judges[-1] if judges else None
        if want is None:
            share, _, _ = backing(self.messages, self.failure, self.evidence, self._day())
            likelihood, reason = likely(share, AGREES), "the answer says what the evidence says"
        else:
            agreed = agreement(want, self.failure.prediction or "")
            likelihood = 0.02 if agreed.conflicts else likely(agreed.recall, AGREES)
            reason = "the answer says what the gold answer says"
        return Finding(
            ErrorType.JUDGE, judge, likelihood, reason, lambda: proof.of_judge(self.graph, self.failure, judge)
        )

    def _day(self) -> int | None:
        places = [placed for message in self.evidence for placed in self.messages.sentences[message]]
        return next((placed.reference for placed in places), None)

    async def _flow(self, case: Case, before: Sequence[Finding]) -> list[Finding]:
        """What the way of the detail says, after what was found before."""
        findings: list[Finding] = []
        if _settled(before):
            return findings
        findings.append(await self._in_context(case))
        if _settled([*before, *findings]):
            return findings
        past = self.graph.past([self.failure.answer_id or ""])
        left_out = await self._left_out(case, past)
        if left_out is not None:
            findings.append(left_out)
            if _settled([*before, *findings]):
                return findings
        searches = case.searches(past)
        answering = self.graph.variables[self.failure.answer_id or ""].operation_id or ""
        place = self.graph.operations[searches[0] if searches else answering].sequence
        findings.append(await self._stored(case, searches, answering, place))
        if _settled([*before, *findings]):
            return findings
        loss = await last_loss(case, place)
        if loss is not None:
            findings.append(self._lost(case, loss))
        if not _settled([*before, *findings]):
            stopped = await lost_on_the_way(case, place)
            if stopped is not None:
                findings.append(self._lost(case, stopped))
        return findings

    def _foreign_gold(self, detail: Detail) -> Finding:
        """The evidence says what was answered, not what the gold answer says."""
        likelihood, quote, message = 0.0, "", detail.message_id
        if not self.gold_free and self.failure.prediction:
            share, found, sentence = backing(self.messages, self.failure, self.evidence, detail.reference)
            if detail.support < 0.7 and share > 0:
                likelihood = min(likely(share, SUPPORTED), likely(share - detail.support - _MORE, 0.0))
                quote, message = sentence, found
            elif detail.support < SUPPORTED:
                likelihood = 0.25
        reason = "the evidence says what was answered, not what the gold answer says"
        return Finding(ErrorType.ANNOTATION, None, likelihood, reason, lambda: proof.of_message(message, quote))

    async def _in_context(self, case: Case) -> Finding:
        """The detail is in what the answering operation read."""
        graph = self.graph
        answer = graph.variables[self.failure.answer_id or ""]
        past = graph.past([answer.id])
        read = [d.source for d in graph.parents(answer.id) if graph.variables[d.source].kind not in _NOT_READ]
        units = case.read_units(past)
        best, holder = 0.0, ""
        sources = [unit for unit in units if unit in case.future]
        from_units = await case.presence(sources)
        if not units or any(one.score > 0 for one in from_units.values()):
            seen = await case.presence(read)
            limit = max((one.score for one in from_units.values()), default=1.0)
            for variable_id, one in seen.items():
                if min(one.score, limit) > best:
                    best, holder = min(one.score, limit), variable_id
        return Finding(
            ErrorType.RESPONSE,
            answer.operation_id,
            likely(best, HOLDS),
            "what the answer was made from has the detail",
            lambda: proof.of_response(case, holder, sources),
        )

    async def _left_out(self, case: Case, past: set[str]) -> Finding | None:
        """An operation between search and answer, as one that writes a prompt, had the detail and left it out."""
        graph = self.graph
        way = case.way(past)
        makers = {graph.variables[v].operation_id for v in way if v != self.failure.answer_id} - {None}
        had = {v for o in makers for v in graph.used(o or "") if v in past and graph.variables[v].kind in _KEPT}
        holders = await case.holders(v for v in (way | had) & case.future if graph.variables[v].kind not in _NOT_READ)
        lost: list[tuple[int, str, str]] = []
        for maker in makers:
            operation = graph.operations[maker or ""]
            carried = [v for v in graph.used(operation.id) if v in holders]
            is_lost = carried and not any(made in holders for made in graph.made(operation.id))
            if is_lost and operation.kind is not OperationKind.RETRIEVAL:
                lost.append((operation.sequence, operation.id, max(carried, key=lambda v: holders[v].score)))
        if not lost:
            return None
        _, blamed, holder = max(lost)
        made = next(v for v in graph.made(blamed) if v in way)
        return Finding(
            ErrorType.RESPONSE,
            blamed,
            likely(holders[holder].score, HOLDS),
            "the operation read what has the detail for the question, and left it out",
            lambda: proof.Proof(case.detail.message_id, holder, ((made, blamed),)),
        )

    async def _stored(self, case: Case, searches: Sequence[str], answering: str, place: int) -> Finding:
        """The detail is in a unit that was current at the search, and not among what was returned."""
        graph = self.graph
        current = [graph.current_version(versions, place) for versions in case.lineages()]
        units = await case.presence(unit for unit in current if unit is not None and unit in case.future)
        unit, best = max(units.items(), key=lambda item: item[1].score, default=("", Presence(0.0, "")))
        holders = {variable_id: one for variable_id, one in units.items() if one.score >= HOLDS}
        if searches:
            blamed = await self._blamed_search(searches, holders)
            kind, reason = (
                ErrorType.RETRIEVAL,
                "a unit that was current at the search has the detail, and was not returned",
            )
        else:
            blamed = answering
            kind, reason = ErrorType.RESPONSE, "a current unit has the detail; no search is recorded"
        return Finding(kind, blamed, likely(best.score, HOLDS), reason, lambda: proof.of_search(case, unit, blamed))

    async def _blamed_search(self, searches: Sequence[str], units: dict[str, Presence]) -> str:
        """The last search one of whose lists still had a unit, else the first."""
        graph = self.graph
        blamed = searches[0]
        if len(searches) == 1:
            return blamed
        quotes = {one.quote for one in units.values() if one.quote}
        for operation_id in searches:
            lists = await graph.texts(v for v in graph.made(operation_id) if graph.variables[v].kind in _LISTS)
            if any(quote in text for text in lists.values() for quote in quotes):
                blamed = operation_id
        return blamed

    def _lost(self, case: Case, loss: Loss) -> Finding:
        return Finding(
            loss.error_type, loss.operation_id, loss.likelihood, loss.reason, lambda: proof.of_loss(case, loss)
        )

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
