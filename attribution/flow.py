"""The free pass: follows the needed detail through the exact graph and names the operation that lost it.

Rules speak of kinds and of data flow only. The order of decisions: the answer is right (judge); the gold answer has
no support (annotation); the detail is in what the answering operation read (response); in a unit that was current at
the search (retrieval); in an older version or a deleted unit (what ended it); else where the way from the evidence
stops (what should have carried it on).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from attribution.agreement import agreement
from attribution.detail import Content, content, found
from attribution.evidence import Messages
from attribution.graph import TraceGraph
from attribution.presence import Detail, Presence, is_literal, presence
from attribution.text.segments import Placed, Sentence, passage
from attribution.verdict import Candidate, Link, Step, Verdict, abstention
from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Failure

AGREES = 0.55
SUPPORTED = 0.45
WELL_SUPPORTED = 0.7
NEAR_SUPPORTED = 0.8
HOLDS = 0.55
_NEIGHBOURS = 3
_TELLING = 1.5
"""Weight of the words of an answer that is something said, whatever phrases are around it."""
_MORE = 0.1

_LOSS = {
    OperationKind.EXTRACTION: ErrorType.EXTRACTION,
    OperationKind.INITIALIZATION: ErrorType.EXTRACTION,
    OperationKind.SEGMENTATION: ErrorType.EXTRACTION,
    OperationKind.DELETION: ErrorType.DELETION,
    OperationKind.RETRIEVAL: ErrorType.RETRIEVAL,
    OperationKind.GENERATION: ErrorType.RESPONSE,
}
"""What a loss is called by the kind of the operation; any other kind updates."""
_LISTS = frozenset({VariableKind.RETRIEVAL_RESULT, VariableKind.CONTEXT, VariableKind.MEMORY_UNIT, VariableKind.OTHER})
_NOT_READ = frozenset({VariableKind.QUERY, VariableKind.GOLD_ANSWER, VariableKind.JUDGEMENT, VariableKind.SCORE})


@dataclass(slots=True)
class Case:
    """A failure with what is known of it."""

    graph: TraceGraph
    messages: Messages
    failure: Failure
    evidence: list[str]
    detail: Detail
    future: set[str] = field(default_factory=set)
    _known: dict[tuple[str, bool], Presence] = field(default_factory=dict)
    _scores: dict[tuple[str, int | None, bool], float] = field(default_factory=dict)

    def is_foreign(self, one: Sentence) -> bool:
        """Whether a sentence is another message's, rather than the evidence's."""
        return self.messages.is_foreign(one, self.detail)

    async def presence(self, variable_ids: Iterable[str]) -> dict[str, Presence]:
        """How surely the detail is in some variables."""
        keys = {v: (self.graph.variables[v].value_hash, self._is_sole(v)) for v in variable_ids}
        texts = await self.graph.texts(v for v, key in keys.items() if key not in self._known)
        for variable_id, text in texts.items():
            key = keys[variable_id]
            if key not in self._known:
                self._known[key] = presence(self.detail, text, self.is_foreign, self._scores, key[1])
        return {variable_id: self._known[key] for variable_id, key in keys.items()}

    def _is_sole(self, variable_id: str) -> bool:
        """Whether a variable was made from no other message."""
        return variable_id in self.future and self.messages.behind(self.graph, variable_id) == {self.detail.message_id}

    def is_literal(self, text: str) -> bool:
        """Whether a text has the sentence of the evidence word by word."""
        return is_literal(self.detail, text)


class FlowPass:
    """The free pass over the traces of a run; what a trace's messages say is looked at once."""

    def __init__(self) -> None:
        self._messages: dict[str, Messages] = {}

    async def messages(self, graph: TraceGraph) -> Messages:
        """The messages of a trace."""
        if graph.trace_id not in self._messages:
            self._messages[graph.trace_id] = await Messages.read(graph)
        return self._messages[graph.trace_id]

    async def attribute(self, graph: TraceGraph, failure: Failure, evidence: Sequence[str]) -> Verdict:
        """The verdict on one failure."""
        messages = await self.messages(graph)
        rarity = messages.rarity
        question = content(failure.question, rarity)
        wanted = content("\n".join(failure.gold_answers), rarity).without(question.words, question.numbers)
        if failure.prediction:
            agreed = agreement(wanted, failure.prediction)
            if agreed.recall >= AGREES and not agreed.conflicts:
                return self._judge(graph, failure, agreed.recall)
        detail = needed(messages, evidence, wanted, question)
        if detail is None:
            return abstention("the trace has no message that could be the evidence")
        if detail.support < WELL_SUPPORTED:
            verdict = annotation(messages, failure, evidence, question, detail)
            if verdict is not None:
                return verdict
        if detail.support < SUPPORTED:
            near = needed(messages, messages.neighbours(evidence, _NEIGHBOURS), wanted, question)
            if near is not None and near.support >= NEAR_SUPPORTED:
                detail = near
        case = Case(graph, messages, failure, list(evidence), detail)
        case.future = graph.future([detail.message_id])
        return await trace(case)

    def _judge(self, graph: TraceGraph, failure: Failure, recall: float) -> Verdict:
        judge = None
        if failure.answer_id is not None:
            judges = [o for o in graph.users(failure.answer_id) if graph.operations[o].kind is OperationKind.JUDGE]
            judge = judges[-1] if judges else None
        return Verdict(ErrorType.JUDGE, judge, min(0.99, recall), "the answer says what the gold answer says")


def needed(messages: Messages, evidence: Sequence[str], wanted: Content, question: Content) -> Detail | None:
    """The sentence of the evidence that has most of what the answer needs, or is nearest to the question."""
    best: tuple[float, float] = (-1.0, -1.0)
    chosen: tuple[str, Placed] | None = None
    for message_id in evidence:
        for placed in messages.sentences.get(message_id, []):
            if placed.sentence.is_metadata or not placed.sentence.stems:
                continue
            score = (round(found(wanted, placed), 6), found(question, placed))
            if score > best:
                best, chosen = score, (message_id, placed)
    if chosen is None:
        return None
    message_id, placed = chosen
    support = best[0]
    literal = support >= SUPPORTED
    rarity = messages.rarity
    said = content(placed.sentence.text, rarity, placed.reference)
    core = _held(wanted, placed) if literal else said
    about = {word: weight for word, weight in said.words.items() if word not in core.words}
    about |= {word: weight for word, weight in question.words.items() if word not in core.words}
    return Detail(message_id, core, about, placed.sentence, placed.reference, support, literal, rarity)


def _held(wanted: Content, placed: Placed) -> Content:
    """The part of the wanted content that a sentence has."""
    from attribution.detail import tells, word_match

    one = placed.sentence
    return Content(
        {word: weight for word, weight in wanted.words.items() if word_match(word, one)},
        wanted.numbers & one.numbers,
        tuple(days for days in wanted.dates if tells(one, days, placed.reference)),
    )


def annotation(
    messages: Messages, failure: Failure, evidence: Sequence[str], question: Content, detail: Detail
) -> Verdict | None:
    """AnnotationError where the evidence says what was answered, or nothing says what the gold answer says."""
    predicted = content(failure.prediction or "", messages.rarity, detail.reference).without(question.words, question.numbers)
    best = 0.0
    for message_id in evidence:
        for placed in messages.sentences.get(message_id, []):
            share = found(predicted, placed)
            best = max(best, share, min(1.0, share * predicted.weight / _TELLING))
    if best >= SUPPORTED and best > detail.support + _MORE:
        reason = "the evidence says what was answered, not what the gold answer says"
        return Verdict(ErrorType.ANNOTATION, None, min(0.95, 0.4 + best / 2), reason)
    return None


async def trace(case: Case) -> Verdict:
    """Where the detail was lost."""
    graph, failure = case.graph, case.failure
    if failure.answer_id is None or failure.answer_id not in graph.variables:
        return abstention("the failure names no answer of this trace")
    answer = graph.variables[failure.answer_id]
    if answer.operation_id is None:
        return abstention("no operation is recorded that made the answer")
    past = graph.past([answer.id])
    read = [d.source for d in graph.parents(answer.id) if graph.variables[d.source].kind not in _NOT_READ]
    returned = {u for u in past if graph.variables[u].kind is VariableKind.MEMORY_UNIT and u in case.future}
    units_known = any(graph.variables[u].kind is VariableKind.MEMORY_UNIT for u in past)
    near = await case.presence(_last_read(case, past, returned)) if returned else {}
    held = {u: p for u, p in near.items() if p.score >= HOLDS}
    seen = await case.presence(read) if held or not units_known else {}
    if any(one.score >= HOLDS for one in seen.values()):
        q=max([*seen.values(), *held.values()],key=lambda x:x.score)
        return Verdict(ErrorType.RESPONSE, answer.operation_id, 0.9, "the detail is in what the answer was made from: "+str(q))
    searches = _searches(case, past)
    place = graph.operations[searches[0]].sequence if searches else graph.operations[answer.operation_id].sequence
    units = await _current_units(case, place)
    if units:
        if searches:
            return Verdict(ErrorType.RETRIEVAL, await _blamed_search(case, searches, units), 0.9, "a current unit holds it")
        return Verdict(ErrorType.RESPONSE, answer.operation_id, 0.5, "a current unit holds it; no search is recorded")
    loss = await _last_loss(case, place)
    if loss is not None:
        return loss
    return await _never_stored(case, place)


def _last_read(case: Case, past: set[str], units: set[str]) -> list[str]:
    """Of these units those that the way to the answer read: occurrences, or what an answering operation used."""
    graph = case.graph
    asked = graph.future([case.failure.question_id])
    readers = {case.graph.variables[v].operation_id for v in past & asked}
    return [u for u in units if u in asked or any(o in readers for o in graph.users(u))]


def _searches(case: Case, past: set[str]) -> list[str]:
    """The retrieval operations that served the question, in order."""
    graph = case.graph
    asked = graph.future([case.failure.question_id])
    return sorted(
        {
            maker
            for variable_id in past & asked
            if (maker := graph.variables[variable_id].operation_id) is not None
            and graph.operations[maker].kind is OperationKind.RETRIEVAL
        },
        key=lambda operation_id: graph.operations[operation_id].sequence,
    )


async def _current_units(case: Case, place: int) -> dict[str, Presence]:
    """Current units that hold the detail of the evidence."""
    graph = case.graph
    current = [
        version
        for versions in graph.names()
        if graph.variables[versions[0]].kind is VariableKind.MEMORY_UNIT
        and (version := graph.current_version(versions, place)) is not None
        and version in case.future
    ]
    return {unit: one for unit, one in (await case.presence(current)).items() if one.score >= HOLDS}


async def _blamed_search(case: Case, searches: Sequence[str], units: Mapping[str, Presence]) -> str:
    """The last search one of whose lists still held a unit, else the first."""
    graph = case.graph
    blamed = searches[0]
    for operation_id in searches:
        lists = await graph.texts(v for v in graph.made(operation_id) if graph.variables[v].kind in _LISTS)
        if any(one.quote in text for text in lists.values() for one in units.values()):
            blamed = operation_id
    return blamed


async def _last_loss(case: Case, place: int) -> Verdict | None:
    """The operation that last ended a unit's version which held the detail."""
    graph = case.graph
    losses: list[tuple[int, str, bool]] = []
    for versions in graph.names():
        if graph.variables[versions[0]].kind is not VariableKind.MEMORY_UNIT or versions[-1] not in case.future:
            continue
        stored = [version for version in versions if version in case.future and graph.place(version) < place]
        holder = await _newest_holder(case, stored)
        if holder is None:
            continue
        after = versions[versions.index(holder) + 1 :]
        ended = graph.invalidated_by(holder)
        if ended is not None and graph.operations[ended].sequence < place:
            losses.append((graph.operations[ended].sequence, ended, True))
        elif after and (maker := graph.variables[after[0]].operation_id) and graph.operations[maker].sequence < place:
            losses.append((graph.operations[maker].sequence, maker, False))
    if not losses:
        return None
    _, blamed, deleted = max(losses)
    kind = ErrorType.DELETION if deleted else _LOSS.get(graph.operations[blamed].kind, ErrorType.UPDATE)
    return Verdict(kind, blamed, 0.85, "the unit's next version lacks it" if not deleted else "the unit was deleted")


async def _newest_holder(case: Case, versions: Sequence[str]) -> str | None:
    """The newest of some versions that holds the detail.

    Versions of a long buffer are many: where one has the sentence word by word, of those after it only the next and
    the newest are read closely.
    """
    texts = await case.graph.texts(versions)
    number = len(versions) - 1
    literal = next((n for n in range(number, -1, -1) if case.is_literal(texts[versions[n]])), None)
    close = range(number, -1, -1) if literal is None else dict.fromkeys([number, min(number, literal + 1), literal])
    for n in close:
        if (await case.presence([versions[n]]))[versions[n]].score >= HOLDS:
            return versions[n]
    return None


async def _never_stored(case: Case, place: int) -> Verdict:
    """Where the way from the evidence stops."""
    graph = case.graph
    before = [v for v in case.future if graph.place(v) < place and graph.variables[v].occurrence == 0]
    held = await case.presence(before)
    carriers = {case.detail.message_id}
    for variable_id in sorted(before, key=lambda v: (graph.place(v), graph.variables[v].sequence)):
        if held[variable_id].score >= HOLDS and any(d.source in carriers for d in graph.parents(variable_id)):
            carriers.add(variable_id)
    stored = {v for v in before if graph.variables[v].kind is VariableKind.MEMORY_UNIT}
    writers = {graph.variables[v].operation_id for v in stored}
    best: tuple[int, str, str] | None = None
    for carrier in carriers:
        if graph.variables[carrier].kind is VariableKind.PROMPT:
            continue
        for operation_id in graph.users(carrier):
            operation = graph.operations[operation_id]
            if operation.sequence >= place or any(made in carriers for made in graph.made(operation_id)):
                continue
            key = (operation.sequence, operation_id, carrier)
            if best is None or key > best:
                best = key
    if best is None:
        return abstention("the way of the evidence could not be followed")
    _, blamed, carrier = best
    state = graph.variables[carrier].kind in {VariableKind.BUFFER, VariableKind.MEMORY_UNIT}
    kind = _LOSS.get(graph.operations[blamed].kind, ErrorType.UPDATE if state else ErrorType.EXTRACTION)
    _ = writers
    return Verdict(kind, blamed, 0.7, "it was never stored")


_ = (Candidate, Link, Step, passage)
