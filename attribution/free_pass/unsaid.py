"""Failures whose right answer no recorded message states, though the texts that were read for the answer are recorded.

Spans of OpenTelemetry mostly tell questions, prompts, searches and answers, and no conversation that a memory was made
from. Then the texts that were read decide: either they have the right answer, or a search did not return it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial

from attribution.free_pass import proof_path as proof
from attribution.free_pass.condensed import answers, condensed
from attribution.free_pass.earlier_questions import lost_since, may_tell_earlier, share_asked, told_earlier
from attribution.free_pass.in_its_place import told_as_change
from attribution.free_pass.loss import FELL_OUT
from attribution.free_pass.needs import TriedFailure, about_answer
from attribution.free_pass.rules import Finding
from attribution.free_pass.says_gold import AGREES
from attribution.free_pass.told_instead import in_part, share_in_part, told_instead
from attribution.needed.bare_answers import is_bare
from attribution.needed.content import Content, Rarity, content
from attribution.needed.gold_agreement import agreement
from attribution.needed.other_names import names_another
from attribution.text.clock import without_digital_times
from attribution.text.segments import passage
from attribution.trace.advice import fix_for
from attribution.trace.fixes import RECORD_UNITS
from attribution.trace.graph import TraceGraph
from attribution.trace.kept_unseen import is_of_notes
from attribution.trace.vain_searches import found_nothing
from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Failure
from store.contract.answers import Edge

_READ = frozenset(
    {
        VariableKind.PROMPT,
        VariableKind.BUFFER,
        VariableKind.CONTEXT,
        VariableKind.RETRIEVAL_RESULT,
        VariableKind.MEMORY_UNIT,
    }
)
_READERS = frozenset({OperationKind.GENERATION, OperationKind.RETRIEVAL})
"""Operations that may read a text without handing it on."""
_NOTHING, _WITHOUT = "the search found nothing", "what the search returned does not have the right answer"
_DROPPED = "the operation read the right answer for this question, and left it out of what it made"
_UNTOLD = (
    "nothing that is recorded from before the answer says the right answer, neither a turn of the user nor what the "
    "calls of models read: {fix}"
)
_GIVE_SPANS = "give the spans of the tools and of the memory, which may have told it, to the same trace"
_GIVE_UNITS = (
    "what {search} could find is not recorded: give the spans that write what it searches to the same trace, with the "
    "attributes memtrace.operation.kind and memtrace.outputs; see docs/otlp.md"
)
_TOLD_EARLIER = (
    "an earlier turn of the user tells it (“{turn}”), and what became of it in the memory is not recorded: {fix}"
)
_MAY_BE_RIGHT = (
    "the answer has most of what the right answer says, and nothing that is recorded shows a difference: it may say "
    "the same in other words"
)
_ALL = 0.95
"""A text has the right answer if it has at least this share of its words."""
_SAYS = AGREES
"""An answer with this share of the right answer's words may be right: then nothing is decided here."""
_AROUND = " []{}\"',"
"""What surrounds a sentence in the JSON of a tool's result."""
_OF_CHANGE = {OperationKind.UPDATE: ErrorType.UPDATE, OperationKind.DELETION: ErrorType.DELETION}
_SHARED = 0.4
"""A text with at least this share of the right answer may say the rest in other words."""
_IN_OTHER_WORDS = "; unless it says the rest in other words"
_LEFT_OUT, _UNSEEN = 0.8, 0.74
"""Likelihoods: if the step that left it out is recorded, and if the program did it between recorded calls."""
_SURE, _LIKELY = 0.93, 0.5
"""Likelihoods: with the right answer in a sentence about the question, and of all other findings. It is not recorded
whether the memory ever had what a search did not return."""


async def without_messages(tried: TriedFailure) -> Finding | None:
    """The finding of a failure in a trace without messages; None if neither answer nor texts that were read decide."""
    read = await _by_what_was_read(tried)
    findings = about_answer(tried) if read is None and _is_readable(tried) else [read]
    return next((one for one in findings if one is not None and one.likelihood >= _LIKELY), None)


async def _by_what_was_read(tried: TriedFailure) -> Finding | None:
    """The finding by the texts that were read for the answer; None if they decide nothing."""
    gold = _wanted(tried)
    if gold is None or tried.messages.ids:
        return None
    graph, failure = tried.graph, tried.failure
    answer = graph.variables[failure.answer_id or ""]
    past = graph.past([answer.id])
    holding = await _holding(tried, gold, past)
    if holding:
        return await _was_read(tried, holding, past)
    if (contradicted := await told_instead(tried, gold, past)) is not None:
        return contradicted
    way = past & graph.future([failure.question_id])
    found = _searches(graph, way)
    part = await share_in_part(tried, gold, past)
    turn = await told_earlier(tried, gold)
    if turn is not None and (not part or await share_asked(tried, turn) >= part):
        return await lost_since(tried, turn, gold, [*found, *_in_vain(graph, failure, way)])
    if turn is not None or not found or _has_units_from_outside(graph) or part:
        return None
    last = max(found, key=lambda one: graph.operations[one].sequence)
    return Finding(
        ErrorType.RETRIEVAL,
        last,
        _LIKELY,
        f"{_NOTHING if found_nothing(graph, last) else _WITHOUT}; what the memory holds is not recorded, so the memory "
        "may lack it too",
        lambda: _through(tried, last, answer.id),
        is_local=True,
    )


async def unwritten(tried: TriedFailure) -> str | None:
    """Why a failure is not decided in a trace without messages; None if nothing is known but that."""
    gold = _wanted(tried)
    if tried.messages.ids or not _is_readable(tried) or tried.gold is None or not tried.gold.weight:
        return None
    if gold is None:
        return None if tried.is_unanswerable else _MAY_BE_RIGHT
    turn = await may_tell_earlier(tried, gold)
    if await share_in_part(tried, gold, tried.graph.past([tried.failure.answer_id or ""])):
        return await in_part(tried, gold, turn)
    if turn:
        fix = fix_for(tried.graph, RECORD_UNITS)
        return _TOLD_EARLIER.format(turn=turn, fix=fix)
    if all(one.kind is not VariableKind.PROMPT for one in tried.graph.variables.values()):
        return None
    graph, failure = tried.graph, tried.failure
    way = graph.past([failure.answer_id or ""]) & graph.future([failure.question_id])
    names = [graph.operations[one].name or one for one in (*_searches(graph, way), *_in_vain(graph, failure, way))]
    return _UNTOLD.format(fix=_GIVE_UNITS.format(search=names[0]) if names else _GIVE_SPANS)


async def by_what_nobody_said(tried: TriedFailure) -> Finding | None:
    """The finding if no message states the right answer, but a text that a model was given does, such as a tool result.

    If the model that answered was given the text, the answer is at fault. If another model was given it, whose reply
    was read in place of the text, that model is. If only calls that answered earlier turns were given the text, the
    program left it out. None if none of these can be told.
    """
    gold = _wanted(tried)
    if gold is None:
        return None
    graph, failure = tried.graph, tried.failure
    past = graph.past([failure.answer_id or ""])
    holding = {**await _holding(tried, gold, past), **await _replied(tried, gold, past)}
    reply = graph.reply(failure.answer_id or "")
    maker = reply.operation_id or ""
    given = {*graph.used(maker), *(one.source for one in graph.parents(reply.id))}
    read = {one: is_about for one, is_about in holding.items() if one in given}
    if read:
        return await _was_read(tried, read, past)
    way = past & graph.future([failure.question_id])
    makers = {graph.variables[one].operation_id for one in way} - {None}
    searched = any(graph.operations[one or ""].kind is OperationKind.RETRIEVAL for one in makers)
    earlier = [one for one, is_about in holding.items() if is_about and graph.readers(one)]
    if searched or not earlier or graph.operations[maker].kind is not OperationKind.GENERATION:
        return None
    if (cut := await _cut_from_history(graph, earlier, {*given, *graph.past(given)} - holding.keys())) is not None:
        return cut
    holder = max(earlier, key=lambda one: graph.variables[one].sequence)
    quote = await graph.text(holder)
    if (made := condensed(graph, holder, past, given)) is not None:
        wrote = graph.variables[made].operation_id
        return Finding(
            ErrorType.UPDATE,
            wrote,
            _LEFT_OUT,
            "the model read the right answer, and its text, which was read in place of it, does not have it",
            lambda: proof.Proof(holder, holder, ((made, wrote),), quote=quote),
            is_local=True,
            doubt=told_as_change(tried.messages, failure, gold, (await graph.texts(graph.used(wrote or ""))).values())
            or ("" if agreement(gold, await graph.text(made)).recall < _SHARED else _IN_OTHER_WORDS),
        )
    if not any(answers(graph, one) for one in graph.readers(holder)) or is_of_notes(graph, holder):
        return None  # notes are no history: the program may have overwritten or dropped them anywhere
    reason = (
        "no longer in the prompt: an earlier call of a model was given a text with the right answer, and the call that "
        "answered was not; the program, or the package that keeps its history, left it out"
    )
    return Finding(ErrorType.DELETION, maker, _UNSEEN, reason, lambda: proof.of_message(holder, quote), is_local=True)


def _in_vain(graph: TraceGraph, failure: Failure, way: AbstractSet[str]) -> list[str]:
    """The searches for the question that found nothing: nothing of them is in the answer's past."""
    asked = {operation for one in {*way, failure.question_id} for operation in graph.users(one)}
    answering = graph.operations[graph.reply(failure.answer_id or "").operation_id or ""].sequence
    earlier = [one for one in asked if graph.operations[one].sequence < answering]
    searches = [one for one in earlier if graph.operations[one].kind is OperationKind.RETRIEVAL]
    return [one for one in searches if found_nothing(graph, one)]


def _searches(graph: TraceGraph, variables: Iterable[str]) -> list[str]:
    """The searches that made some of the variables."""
    makers = {graph.variables[one].operation_id for one in variables}
    return [one for one in makers if one and graph.operations[one].kind is OperationKind.RETRIEVAL]


def _is_readable(tried: TriedFailure) -> bool:
    """Whether the trace has the question, and the answer with the operation that made it."""
    graph, failure = tried.graph, tried.failure
    answer = graph.variables.get(failure.answer_id or "")
    return answer is not None and answer.operation_id is not None and failure.question_id in graph.variables


def _wanted(tried: TriedFailure) -> Content | None:
    """The content of the right answer; None if nothing can be decided by it."""
    failure, gold = tried.failure, tried.gold
    if not _is_readable(tried) or gold is None or not gold.weight or tried.is_unanswerable:
        return None
    said = agreement(gold, failure.prediction or "", failure.gold_answers, question=failure.question)
    is_other = said.conflicts or names_another(failure.gold_answers, failure.prediction or "")
    return None if said.recall >= _SAYS and not is_other else gold


async def _cut_from_history(graph: TraceGraph, earlier: Iterable[str], lacking: AbstractSet[str]) -> Finding | None:
    """The last recorded step that made a history without the right answer from one with it; None if none did.

    Args:
        graph: the trace.
        earlier: texts with the right answer.
        lacking: texts without it, of which the answer was made.
    """
    cuts = [
        (graph.operations[reader].sequence, reader, holder, after)
        for holder in earlier
        if graph.variables[holder].kind is VariableKind.BUFFER
        for reader in graph.readers(holder)
        for after in graph.made(reader)
        if after in lacking and graph.variables[after].kind is VariableKind.BUFFER
    ]
    cuts = [one for one in cuts if graph.operations[one[1]].kind in _OF_CHANGE]
    if not cuts:
        return None
    _, cut, holder, after = max(cuts)
    prove = partial(proof.Proof, holder, holder, ((after, cut),), quote=await graph.text(holder))
    return Finding(_OF_CHANGE[graph.operations[cut].kind], cut, _LEFT_OUT, FELL_OUT, prove, is_local=True)


async def _holding(tried: TriedFailure, gold: Content, past: AbstractSet[str]) -> dict[str, bool]:
    """The texts in an answer's past with the right answer, each with whether a sentence about the question has it.

    What a search returned was read, whatever kind the recording gives it.
    """
    graph = tried.graph
    found = {made for one in _searches(graph, past) for made in graph.made(one)}
    texts = await graph.texts(one for one in past if one in found or graph.variables[one].kind in _READ)
    asked = content(tried.failure.question, Rarity(())).words.keys() - gold.words.keys()
    golds = tried.failure.gold_answers
    is_time = any(without_digital_times(one) != one for one in golds)
    told = {
        one: _is_about(asked, gold, text, is_time=is_time)
        for one, text in texts.items()
        if agreement(gold, text).recall >= _ALL
    }
    # Any long text may have a number: alone, it tells nothing unless a sentence about the question has it.
    chance = is_bare(gold, golds)
    return {one: is_about for one, is_about in told.items() if is_about or not chance}


async def _replied(tried: TriedFailure, gold: Content, past: AbstractSet[str]) -> dict[str, bool]:
    """The earlier replies and results of tools with the right answer, each with whether it is about the question.

    A reply is also about what its user asked: replies seldom repeat the question.
    """
    graph = tried.graph
    own = {tried.failure.answer_id, graph.reply(tried.failure.answer_id or "").id}
    earlier = [one for one in past - own if _is_in_conversation(graph, one) and graph.readers(one)]
    asked = content(tried.failure.question, Rarity(())).words.keys() - gold.words.keys()
    found = {}
    for one, text in (await graph.texts(earlier)).items():
        if agreement(gold, text).recall < _ALL:
            continue
        told = [said for said in graph.used(graph.variables[one].operation_id or "") if said in tried.messages.ids]
        turn = await graph.texts(told[-1:])
        stems = {stem for said in (text, *turn.values()) for placed in passage(said) for stem in placed.sentence.stems}
        found[one] = not asked.isdisjoint(stems)
    return found


def _is_in_conversation(graph: TraceGraph, variable_id: str) -> bool:
    """Whether a variable is a model's reply, or a text such as a tool's result, which no model thought of."""
    variable = graph.variables[variable_id]
    maker = graph.operations.get(variable.operation_id or "")
    is_of_model = maker is not None and maker.kind is OperationKind.GENERATION
    if variable.kind is VariableKind.OTHER:
        return not is_of_model
    return is_of_model and variable.kind in {VariableKind.ANSWER, VariableKind.RESPONSE}


async def _was_read(tried: TriedFailure, holding: Mapping[str, bool], past: AbstractSet[str]) -> Finding:
    """The answer is at fault: it was made from a text that has the right answer."""
    graph = tried.graph
    holder = max(holding, key=lambda one: (holding[one], graph.variables[one].sequence))
    where = "" if holding[holder] else ", but in no sentence about the question"
    quote = _telling(tried, await graph.text(holder))
    lost = _left_out(tried, holder, holding)
    then = () if lost is None else ((lost.target, lost.operation_id),)
    reason = "the answer was made from a text that has the right answer" if lost is None else _DROPPED
    blamed = _answering(tried, holder, past) if lost is None else lost.operation_id
    # What another model wrote may have kept the right answer, and been changed or deleted since.
    is_sure = holding[holder] and (lost is not None or _is_reply(tried, blamed))
    return Finding(
        ErrorType.RESPONSE,
        blamed,
        _SURE if is_sure else _LIKELY,
        f"{reason}{where}",
        lambda: proof.Proof(holder, holder, then, quote=quote),
        is_local=True,
        doubt=told_as_change(tried.messages, tried.failure, tried.gold, [await graph.text(holder)]),
    )


def _is_reply(tried: TriedFailure, operation_id: str | None) -> bool:
    """Whether an operation made the answer, or the reply that was handed out as the answer."""
    answer = tried.failure.answer_id or ""
    return operation_id in {tried.graph.reply(answer).operation_id, tried.graph.variables[answer].operation_id}


def _telling(tried: TriedFailure, text: str) -> str:
    """The sentence of a text that has the right answer, that with most words of the question; else the whole text."""
    asked = tried.messages.asked(tried.failure).words.keys()
    telling = [
        placed.sentence
        for placed in passage(text)
        if tried.gold is not None and agreement(tried.gold, placed.sentence.text).recall >= _ALL
    ]
    best = max(telling, key=lambda one: len(asked & set(one.stems)), default=None)
    return text if best is None or best.text not in text else best.text.strip(_AROUND)


def _is_about(asked: AbstractSet[str], gold: Content, text: str, *, is_time: bool) -> bool:
    """Whether a sentence of a text has all of the right answer, and a word of the question.

    A long prompt may have a short answer, such as a number, in a sentence about other things. The hours and minutes of
    a time of day are no numbers by themselves, unless the right answer is a time of day (``is_time``).
    """
    is_cut = bool(gold.numbers) and not is_time
    sentences = [placed.sentence for placed in passage(without_digital_times(text) if is_cut else text)]
    return any(not asked.isdisjoint(one.stems) and agreement(gold, one.text).recall >= _ALL for one in sentences)


def _has_units_from_outside(graph: TraceGraph) -> bool:
    """Whether the trace has units of a memory that nobody recorded being written: other units may exist as well."""
    units = (one for one in graph.variables.values() if one.kind is VariableKind.MEMORY_UNIT)
    return any(one.operation_id is None for one in units)


def _through(tried: TriedFailure, search: str, answer: str) -> proof.Proof:
    """From the question to a result of the search, and on to the answer."""
    graph, question = tried.graph, tried.failure.question_id
    results = [one for one in graph.made(search) if graph.path(question, one) and graph.path(one, answer)]
    if not results:
        return proof.of_question(graph, tried.failure)
    chain = [*graph.path(question, results[0]), *graph.path(results[0], answer)]
    then = tuple((derivation.target, derivation.operation_id) for derivation in chain)
    return proof.Proof(question, question, then, quote=tried.failure.question)


def _left_out(tried: TriedFailure, holder: str, holding: Mapping[str, bool]) -> Edge | None:
    """The derivation on the way to the answer from a text with the right answer to one without it.

    None if a text with the right answer reached the operation that answered, or if its way there is not recorded.
    """
    graph = tried.graph
    reply = graph.reply(tried.failure.answer_id or "")
    given = {*graph.used(reply.operation_id or ""), *(one.source for one in graph.parents(reply.id))}
    if not given.isdisjoint(holding):
        return None
    way = [one for one in graph.path(holder, reply.id) if one.target not in holding]
    return way[0] if way and graph.operations[way[0].operation_id].kind not in _READERS else None


def _answering(tried: TriedFailure, holder: str, past: Iterable[str]) -> str | None:
    """The last model that read a text and whose reply led to the answer; else the operation of the answer."""
    graph = tried.graph
    behind = {graph.variables[one].operation_id for one in past}
    own = graph.variables[holder].operation_id  # a span of a model has its prompt, too
    models = [one for one in [*graph.readers(holder), *([own] if own else [])] if one in behind]
    models = [one for one in models if graph.operations[one].kind is OperationKind.GENERATION]
    return max(
        models,
        key=lambda one: graph.operations[one].sequence,
        default=graph.reply(tried.failure.answer_id or "").operation_id,
    )
