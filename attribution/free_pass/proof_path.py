"""Builds the path that proves a verdict of the free pass, and checks the path of any verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.loss import Loss
from attribution.needed.presence import HOLDS, spellings
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Link, Step, Verdict
from schema.kinds import STORED, ErrorType, OperationKind
from schema.models import Failure
from store.contract.answers import Edge

_BEGINNING = 200
"""The maximal length of a quote from the beginning of a value."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The ends of a path, from which ``steps`` makes the path.

    Attributes:
        start: the first variable.
        holder: the last variable with the detail; the way from ``start`` is found in the graph.
        then: the variables after ``holder``, each with the operation that leads there.
        quote: of the first variable, if there is no detail.
        known: quotes of further variables that are known to have what was needed, by the variables' ids.
    """

    start: str
    holder: str
    then: tuple[tuple[str, str | None], ...] = ()
    quote: str = ""
    known: Mapping[str, str] = field(default_factory=dict)

    async def steps(self, graph: TraceGraph, traced: FailureInTrace | None) -> list[Step]:
        """The path, each step with a quote of its variable."""
        if traced is None or self.quote:
            quote = await _spelled(graph, self.start, self.quote)
            steps = [Step(self.start, graph.variables[self.start].operation_id, Link.START, quote, True)]
        else:
            steps = await _way(traced, self.start, self.holder)
        current = steps[-1].variable_id
        for variable_id, operation_id in self.then:
            direct = [d for d in graph.parents(variable_id) if d.source == current]
            told = self.known.get(variable_id, "")
            if direct and not told and self.quote and steps[-1].holds:
                told = steps[-1].quote if steps[-1].quote in await graph.text(variable_id) else ""
            if direct and told:
                steps.append(Step(variable_id, direct[0].operation_id, Link.DERIVATION, told, True))
            elif direct:
                steps.append(await _step(graph, traced, direct[0]))
            else:
                steps.append(Step(variable_id, operation_id, Link.OPERATION, "", False))
            current = variable_id
        return steps


def of_judge(graph: TraceGraph, failure: Failure, judge: str | None) -> Proof:
    """The answer, and the judge's verdict on it."""
    answer = failure.answer_id or ""
    judged = [d for d in graph.children(answer) if d.operation_id == judge]
    return Proof(answer, answer, tuple((d.target, judge) for d in judged[:1]), quote=failure.prediction or "")


def of_question(graph: TraceGraph, failure: Failure) -> Proof:
    """From the question to the answer, along any derivations."""
    answer = failure.answer_id or ""
    chain = graph.path(failure.question_id, answer)
    then = tuple((d.target, d.operation_id) for d in chain) or ((answer, graph.variables[answer].operation_id),)
    return Proof(failure.question_id, failure.question_id, then, quote=failure.question)


def of_message(message_id: str, quote: str) -> Proof:
    """A single message."""
    return Proof(message_id, message_id, quote=quote)


def of_message_to_answer(graph: TraceGraph, failure: Failure, message_id: str, quote: str) -> Proof:
    """From a message to the answer, along any derivations."""
    return of_way(graph, message_id, failure.answer_id or "", quote)


def of_way(graph: TraceGraph, start: str, end: str, quote: str) -> Proof:
    """From a variable along any derivations to a later variable; the quote is of the first variable."""
    chain = graph.path(start, end)
    return Proof(start, start, tuple((d.target, d.operation_id) for d in chain), quote=quote)


def of_response(traced: FailureInTrace, holder: str, units: Sequence[str]) -> Proof:
    """From the evidence to the text that was read, and on to the answer."""
    graph = traced.graph
    start = traced.detail.message_id
    if holder not in traced.future:
        start = holder
    return Proof(start, holder, _to_answer(graph, traced.failure))


def of_reading(traced: FailureInTrace, holder: str, quote: str) -> Proof:
    """From the text that was read, with a quote that states the detail, to the answer."""
    return Proof(holder, holder, _to_answer(traced.graph, traced.failure), quote=quote)


def _to_answer(graph: TraceGraph, failure: Failure) -> tuple[tuple[str, str | None], ...]:
    """The end of a path: the reply, and the answer if a further step handed the reply out."""
    answer = graph.variables[failure.answer_id or ""]
    ends = dict.fromkeys((graph.reply(answer.id), answer))
    return tuple((one.id, one.operation_id) for one in ends)


def of_search(traced: FailureInTrace, unit: str, blamed: str) -> Proof:
    """From the evidence to the unit, and on to the search's result."""
    made = traced.graph.made(blamed)
    return Proof(traced.detail.message_id, unit, ((made[0], blamed),) if made else ())


async def of_reached(traced: FailureInTrace, answer: str) -> list[Step]:
    """From the evidence to the answer that has the detail."""
    steps = await _way(traced, traced.detail.message_id, answer)
    return [replace(step, holds=True) if step.variable_id == answer else step for step in steps]


def of_loss(traced: FailureInTrace, loss: Loss) -> Proof:
    """From the evidence to the last variable with the detail, and on to the variable that lacks it."""
    after = loss.after
    if after is None and loss.error_type is ErrorType.DELETION:
        ends = [d.target for d in traced.graph.children(loss.holder) if d.operation_id == loss.operation_id]
        after = ends[0] if ends else None
    then: tuple[tuple[str, str | None], ...] = ((after, loss.operation_id),) if after else ()
    graph = traced.graph
    if after and loss.holder not in graph.used(loss.operation_id):
        # The operation may have read the holder in a prompt. Then the prompt is a step of the path.
        chain = graph.path(loss.holder, after)
        then = tuple((derivation.target, derivation.operation_id) for derivation in chain) or then
    return Proof(traced.detail.message_id, loss.holder, then)


async def _way(traced: FailureInTrace, start: str, holder: str) -> list[Step]:
    """From a variable to a dependent one, through variables with the detail if possible."""
    graph = traced.graph
    # A prompt that the program wrote has no place of its own: nothing before it is too late then.
    last = graph.place(holder)
    inside = {v for v in graph.past([holder]) & traced.future if last < 0 or graph.place(v) <= last}
    chain = graph.path(start, holder, inside)
    steps = [Step(start, graph.variables[start].operation_id, Link.START, await _quote(traced, start), True)]
    # Versions of a buffer repeat most of the version before.
    repeats = [await graph.has_all_of(derivation.target, derivation.source) for derivation in chain]
    read = [derivation.target for derivation, is_same in zip(chain, repeats, strict=True) if not is_same]
    texts = await graph.texts(read)
    for derivation, is_same in zip(chain, repeats, strict=True):
        quote = steps[-1].quote
        if quote and (is_same or quote in texts[derivation.target]):
            steps.append(Step(derivation.target, derivation.operation_id, Link.DERIVATION, quote, True))
        else:
            steps.append(await _step(graph, traced, derivation))
    return steps


async def _step(graph: TraceGraph, traced: FailureInTrace | None, derivation: Edge) -> Step:
    target = derivation.target
    if traced is None:
        return Step(target, derivation.operation_id, Link.DERIVATION, "", False)
    answer = target == traced.failure.answer_id
    one = (await traced.presence([target]))[target]
    holds = one.score >= HOLDS and not answer
    quote = (
        await _spelled(graph, target, traced.failure.prediction or "")
        if answer
        else without_lone_mark(one.quote)
        if holds
        else ""
    )
    return Step(target, derivation.operation_id, Link.DERIVATION, quote, holds)


async def _quote(traced: FailureInTrace, variable_id: str) -> str:
    if variable_id == traced.detail.message_id:
        return traced.detail.quote
    return without_lone_mark((await traced.presence([variable_id]))[variable_id].quote)


def without_lone_mark(quote: str) -> str:
    """A quote without a quotation mark at its beginning or end whose other mark is outside: a text inside JSON."""
    quote = quote.strip()
    if quote.count('"') % 2 == 0:
        return quote
    return quote[1:] if quote.startswith('"') else quote.removesuffix('"')


async def _spelled(graph: TraceGraph, variable_id: str, said: str) -> str:
    """The quote as spelled in the variable's value; the beginning of the value if the quote is not there."""
    text = await graph.text(variable_id)
    return next((spelled for spelled in spellings(said) if spelled and spelled in text), text[:_BEGINNING])


async def problems(verdict: Verdict, graph: TraceGraph) -> list[str]:
    """Errors of a verdict's paths: unknown ids, quotes that are not in the values, steps that don't join.

    Checks the verdict's own path and the paths of its losses.
    """
    found = await _problems(graph, verdict.operation_id, verdict.path, "")
    for number, loss in enumerate(verdict.losses):
        found += await _problems(graph, loss.operation_id, loss.path, f"piece {number}, ")
    return found


async def _problems(graph: TraceGraph, operation_id: str | None, path: Sequence[Step], where: str) -> list[str]:
    found: list[str] = []
    if operation_id is not None and operation_id not in graph.operations:
        found.append(f"{where}operation {operation_id} is not in the trace")
    before: Step | None = None
    stands = False
    for number, step in enumerate(path):
        place = f"{where}step {number}"
        if step.variable_id not in graph.variables:
            found.append(f"{place}: variable {step.variable_id} is not in the trace")
            before = None
            continue
        # A quote of a version need not be looked up in the next version, if that is known to contain all of the text.
        repeats = before is not None and stands and bool(step.quote) and step.quote == before.quote
        is_text = "\ufffd" not in step.quote  # the mark replaces undecodable bytes, which may be decoded differently
        if not (repeats and is_text and before and await graph.has_all_of(step.variable_id, before.variable_id)):
            stands = not step.quote or step.quote in await graph.text(step.variable_id)
        if not stands:
            found.append(f"{place}: the quote does not stand in the value")
        if before is not None and not _joined(graph, before.variable_id, step):
            found.append(f"{place}: does not follow from the step before")
        before = step
    return found


def _joined(graph: TraceGraph, before: str, step: Step) -> bool:
    """Whether a derivation leads to the step, or its operation had the variable before at hand and made the step's."""
    if any(d.source == before and d.operation_id == step.operation_id for d in graph.parents(step.variable_id)):
        return True
    operation = graph.operations.get(step.operation_id or "")
    if operation is None or graph.variables[step.variable_id].operation_id != operation.id:
        return False
    if before in graph.used(operation.id) or graph.invalidated_by(before) == operation.id:
        return True
    recorded = graph.recorded(before)
    searched = operation.kind is OperationKind.RETRIEVAL and graph.variables[recorded].kind in STORED
    return searched and graph.current_version(graph.versions(recorded), operation.sequence) == recorded
