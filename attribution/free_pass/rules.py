"""The rules of the free pass. Each rule examines a failure and returns the probability that it names the fault.

Rules use only kinds and data flow, never names of memory systems or data sets.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from attribution.free_pass import proof_path as proof
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.kept_apart import kept_apart
from attribution.free_pass.loss import Loss
from attribution.free_pass.lost_by_search import blamed_search, not_found, returned_in_vain
from attribution.free_pass.other_forms import may_be_kept
from attribution.free_pass.says_gold import AGREES, says_gold
from attribution.free_pass.translated import TRANSLATED, is_translated
from attribution.needed.content import Content, names_only_days
from attribution.needed.evidence_sentences import (
    support_of_answer,
)
from attribution.needed.messages import Messages
from attribution.needed.presence import HOLDS, LARGE, Presence
from attribution.needed.swapped_numbers import swaps
from attribution.text.refusals import refuses
from attribution.text.segments import passage
from attribution.trace.fixes import CONNECT_SEARCH, RECORD_BETWEEN, RECORD_SEARCH
from attribution.trace.given_back import left_out_by
from attribution.trace.graph import TraceGraph
from attribution.trace.holes import overwritten_unseen, unread_searches
from attribution.trace.vain_searches import attributes, untold, unweighed
from attribution.verdicts.naming import operation_label
from attribution.verdicts.probabilities import likely
from attribution.verdicts.reasons import error_said, lost_day
from schema.kinds import STORED, TELLS_GOLD, ErrorType, OperationKind, Status, VariableKind
from schema.models import Failure

_TELLS_NOTHING = 0.0
"""The probability that a refusal, or an answer in the question's own words, is right."""
_TELLS = 0.75
"""Another message states the same detail if it has at least this share of the core."""
_ABOUT = 0.5
"""It must also have at least this share of the question."""
_OF_CHANGE = {OperationKind.UPDATE: ErrorType.UPDATE, OperationKind.DELETION: ErrorType.DELETION}
"""The error type of an operation that dropped the detail after the question came: one that rewrote the history."""
_REWRITTEN = (
    "{operation} was given the unit, and gave back others of its units and not this one: it may have taken the unit "
    "out; name what it ends with memtrace.deleted(...), or store its texts with "
    "memtrace.store_unit(text, store=..., id=...)"
)
_NO_SEARCH = "a unit in the memory has the needed fact, and no search for this question is recorded"
_UNREAD = "a unit in the memory has the needed fact, and no recorded step used what {search} returned for this question"
_PASSED_OVER = (
    "{search} returned a unit with the needed fact, and the operation that answered was not given it: code between "
    "them that is not recorded left it out"
)
_NOT_READ = TELLS_GOLD | {VariableKind.QUERY}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one rule: a possible fault with its likelihood.

    Attributes:
        is_local: whether only the answer, the texts read for the answer and the evidence matter. Then holes in earlier
            steps of the recording do not matter.
        hole: why the finding must not be said although it is likely; empty if it may be said.
        weakness: what makes the finding less sure, as far as the recording tells; empty if nothing does.
        doubt: words after the reason, because the answer may be as right as the gold answer; empty without doubt.
    """

    error_type: ErrorType
    operation_id: str | None
    likelihood: float
    reason: str
    prove: Callable[[], proof.Proof]
    is_local: bool = False
    hole: str = ""
    weakness: str = ""
    doubt: str = ""


def right(
    graph: TraceGraph,
    messages: Messages,
    failure: Failure,
    evidence: Sequence[str],
    want: Content | None,
    *,
    refused: bool = False,
) -> Finding:
    """The answer has the content of the gold answer; without gold answers, of the evidence."""
    judges = [o for o in graph.users(failure.answer_id or "") if graph.operations[o].kind is OperationKind.JUDGE]
    judge = judges[-1] if judges else None
    if refused:
        likelihood, reason = 0.97, "the gold answer says that it isn't known, and so does the answer"
    elif want is None:
        likelihood, reason = _likely_supported(messages, failure, evidence), "the answer says what the evidence says"
    else:
        likelihood = says_gold(messages, failure, evidence, want)
        reason = "the answer says what the gold answer says"
    return Finding(
        ErrorType.JUDGE, judge, likelihood, reason, lambda: proof.of_judge(graph, failure, judge), is_local=True
    )


def _likely_supported(messages: Messages, failure: Failure, evidence: Sequence[str]) -> float:
    """The probability that the evidence states the given answer. An answer that tells nothing is not right."""
    reference = next((placed.reference for message in evidence for placed in messages.sentences[message]), None)
    if refuses(failure.prediction or "") or not messages.claim(failure, reference).weight:
        return _TELLS_NOTHING
    share, _, _ = support_of_answer(messages, failure, evidence, reference)
    return likely(share, AGREES)


def unanswerable(graph: TraceGraph, messages: Messages, failure: Failure) -> Finding:
    """The gold answer is a refusal: then an answer that refuses is right, and any other answer is made up."""
    if refuses(failure.prediction or ""):
        return right(graph, messages, failure, (), None, refused=True)
    answer = graph.reply(failure.answer_id or "")
    return Finding(
        ErrorType.RESPONSE,
        answer.operation_id,
        0.97,
        "the gold answer says that it isn't known, and the answer does not",
        lambda: proof.of_question(graph, failure),
        is_local=True,
    )


def nothing_needed(graph: TraceGraph, failure: Failure) -> Finding:
    """The question itself has all that a good reply says: no memory was needed."""
    answer = graph.reply(failure.answer_id or "")
    reason = "a good answer needs nothing of what was said before"
    return Finding(
        ErrorType.RESPONSE, answer.operation_id, 0.85, reason, lambda: proof.of_question(graph, failure), is_local=True
    )


async def in_context(traced: FailureInTrace) -> Finding:
    """The text that the answering operation read has the detail."""
    graph = traced.graph
    answer = graph.reply(traced.failure.answer_id or "")
    past = graph.past([answer.id])
    read = [d.source for d in graph.parents(answer.id) if graph.variables[d.source].kind not in _NOT_READ]
    units = traced.read_units(past)
    best, holder = 0.0, ""
    sources = [unit for unit in units if unit in traced.future]
    from_units = await traced.best(sources)
    if not units or any(one.score > 0 for one in from_units.values()):
        seen = await traced.best(read)
        limit = max((one.score for one in from_units.values()), default=1.0)
        for variable_id, one in seen.items():
            if min(one.score, limit) > best:
                best, holder = min(one.score, limit), variable_id
    return Finding(
        ErrorType.RESPONSE,
        answer.operation_id,
        likely(best, HOLDS),
        "the answer was made from a text that has the needed fact",
        lambda: proof.of_response(traced, holder, sources),
        is_local=True,
    )


async def told_elsewhere(traced: FailureInTrace) -> Finding | None:
    """A finding if the answering operation read the needed detail in the words of a message that is no evidence."""
    graph, detail = traced.graph, traced.detail
    if not detail.literal:
        return None
    asked = traced.messages.asked(traced.failure)
    answer = graph.reply(traced.failure.answer_id or "")
    read = [d.source for d in graph.parents(answer.id) if graph.variables[d.source].kind not in _NOT_READ]
    best, holder, quote = 0.0, "", ""
    texts = {v: text for v, text in (await graph.texts(read)).items() if len(text) <= LARGE}
    for text in texts.values():
        traced.messages.alike.learn(text, (placed.sentence.stems for placed in passage(text)))
    core_in, asked_in = traced.messages.sought(detail.core), traced.messages.sought(asked)
    may_have = core_in.may_have(_TELLS)
    for variable_id, text in texts.items():
        for placed in passage(text):
            if not may_have(placed.sentence):
                continue
            told = core_in.share(placed)
            if told <= max(best, _TELLS) or asked_in.share(placed) < _ABOUT:
                continue
            if swaps(detail.sentence.text, placed.sentence.text, detail.core.numbers):
                continue
            # The same event at another time is not the same detail.
            if all(names_only_days(placed.sentence, days, placed.reference) for days in detail.core.dates):
                best, holder, quote = told, variable_id, placed.sentence.text
    if not holder:
        return None
    return Finding(
        ErrorType.RESPONSE,
        answer.operation_id,
        0.8,
        "the answer was made from a text that says the same in the words of another message",
        lambda: proof.of_reading(traced, holder, quote),
        is_local=True,
    )


async def left_out(traced: FailureInTrace, past: AbstractSet[str]) -> Finding | None:
    """An operation between search and answer, such as one that writes a prompt, had the detail and dropped it."""
    graph = traced.graph
    way = traced.way(past)
    makers = {graph.variables[v].operation_id for v in way if v != traced.failure.answer_id} - {None}
    had = {v for o in makers for v in graph.used(o or "") if v in past and graph.variables[v].kind in STORED}
    holders = await traced.holders(v for v in (way | had) & traced.future if graph.variables[v].kind not in _NOT_READ)
    lost: list[tuple[int, str, str]] = []
    for maker in makers:
        operation = graph.operations[maker or ""]
        carried = [v for v in graph.used(operation.id) if v in holders and _is_of_holder(graph, v, holders)]
        is_lost = carried and not any(made in holders for made in graph.made(operation.id))
        if is_lost and operation.kind is not OperationKind.RETRIEVAL:
            lost.append((operation.sequence, operation.id, max(carried, key=lambda v: holders[v].score)))
    if not lost:
        return None
    _, blamed, holder = max(lost)
    made = next(v for v in graph.made(blamed) if v in way)
    return Finding(
        _OF_CHANGE.get(graph.operations[blamed].kind, ErrorType.RESPONSE),
        blamed,
        likely(holders[holder].score, HOLDS),
        "the operation read the needed fact for this question, and left it out of what it made",
        lambda: proof.Proof(traced.detail.message_id, holder, ((made, blamed),)),
        hole=await kept_apart(traced, blamed),
        is_local=True,
    )


def _is_of_holder(graph: TraceGraph, variable_id: str, holders: Container[str]) -> bool:
    """Whether a variable that seems to have the detail may have it: a prompt needs a source that has it.

    A prompt repeats the question, whose words may be related to the detail.
    """
    sources = [one.source for one in graph.parents(variable_id)]
    is_written = graph.variables[variable_id].kind is VariableKind.PROMPT and bool(sources)
    return not is_written or any(one in holders for one in sources)


async def stored(traced: FailureInTrace, searches: Sequence[str], answering: str, place: int) -> Finding:
    """A memory unit with the detail was current at the search, and was not returned."""
    units = await traced.current_units(place)
    unit, best = max(units.items(), key=lambda item: item[1].score, default=("", Presence(0.0, "")))
    holders = {variable_id: one for variable_id, one in units.items() if one.score >= HOLDS}
    weak = ""
    if searches:
        blamed, hole = await blamed_search(traced, searches, holders), ""
        wanted = [*holders, unit] if unit else []
        weak = unweighed(traced.graph, blamed, wanted)
        weak = weak or untold(traced.graph, blamed, wanted, traced.failure.question)
        kind, reason = ErrorType.RETRIEVAL, not_found(traced.graph, blamed, place, unit, is_there=not weak)
        if returning := returned_in_vain(traced, searches, blamed, holders):
            reason = _PASSED_OVER.format(search=operation_label(traced.graph.operations[returning]))
            kind, blamed, hole = ErrorType.RESPONSE, answering, f"{reason}; {RECORD_BETWEEN}"
            weak = ""
        hole = hole or overwritten_unseen(traced.graph, blamed, set(wanted))
        rewrote = left_out_by(traced.graph, unit, place) if unit else None
        weak = weak or ("" if rewrote is None else _REWRITTEN.format(operation=operation_label(rewrote)))
    else:
        graph = traced.graph
        asked = set(graph.users(traced.failure.question_id))
        unread = [one for one in unread_searches(graph) if one in asked and graph.operations[one].sequence < place]
        blamed, hole = answering, f"{_NO_SEARCH}; {RECORD_SEARCH}"
        if unread:
            hole = f"{_UNREAD.format(search=operation_label(graph.operations[unread[0]]))}; {CONNECT_SEARCH}"
        kind, reason = ErrorType.RESPONSE, _NO_SEARCH
    return Finding(
        kind,
        blamed,
        likely(best.score, HOLDS),
        reason,
        lambda: proof.of_search(traced, unit, blamed),
        hole=hole,
        weakness=weak,
    )


async def lost(traced: FailureInTrace, loss: Loss) -> Finding:
    """An operation had the detail and did not pass it on."""
    operation = traced.graph.operations[loss.operation_id]
    called_for = attributes(operation).get("calledFor")
    reason = f"{loss.reason}, by a call for {called_for} that emptied the store" if called_for else loss.reason
    if operation.status is Status.ERROR and not lost_day(reason):
        reason += "; the operation ended with an error" + error_said(attributes(operation).get("error"))
    return Finding(
        loss.error_type,
        loss.operation_id,
        loss.likelihood,
        reason,
        lambda: proof.of_loss(traced, loss),
        hole=TRANSLATED if await is_translated(traced, loss) else "",
        weakness=await may_be_kept(traced, loss),
    )
