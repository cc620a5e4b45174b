"""Finds the operation that lost a detail which is in no current memory unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.needed.presence import HOLDS, counts_from_its_day
from attribution.trace.graph import TraceGraph
from attribution.trace.vain_searches import attributes
from attribution.verdicts.probabilities import likely
from attribution.verdicts.reasons import day_lost
from schema.kinds import STORED, ErrorType, OperationKind, VariableKind

BY_KIND = {
    OperationKind.EXTRACTION: ErrorType.EXTRACTION,
    OperationKind.INITIALIZATION: ErrorType.EXTRACTION,
    OperationKind.SEGMENTATION: ErrorType.EXTRACTION,
    OperationKind.DELETION: ErrorType.DELETION,
    OperationKind.RETRIEVAL: ErrorType.RETRIEVAL,
    OperationKind.GENERATION: ErrorType.RESPONSE,
}
"""The error type of a loss by the kind of the operation; other kinds make update errors."""


@dataclass(frozen=True, slots=True)
class Loss:
    """An operation that had the detail and did not pass it on.

    Attributes:
        holder: the variable that still has the detail.
        after: the variable that should have the detail, such as the next version; None if unknown.
    """

    error_type: ErrorType
    operation_id: str
    holder: str
    after: str | None
    likelihood: float
    reason: str


async def last_loss(traced: FailureInTrace, place: int) -> Loss | None:
    """The last operation before ``place`` that ended a version with the detail, by a deletion or by a new version."""
    graph = traced.graph
    losses: list[tuple[int, Loss]] = []
    for versions in traced.lineages():
        if len(versions) == 1 and graph.invalidated_by(versions[0]) is None:
            continue  # most units: nothing ended them
        stored = [version for version in versions if version in traced.future and graph.place(version) < place]
        holder = await _newest_holder(traced, stored)
        if holder is None:
            continue
        score = (await traced.presence([holder]))[holder].score
        ended = graph.invalidated_by(holder)
        following = versions[versions.index(holder) + 1 :]
        maker = graph.variables[following[0]].operation_id if following else None
        if ended is not None and graph.operations[ended].sequence < place:
            reason = "a unit with the needed fact was deleted"
            loss = Loss(ErrorType.DELETION, ended, holder, None, likely(score, HOLDS), reason)
        elif maker is not None and graph.operations[maker].sequence < place:
            kind = BY_KIND.get(graph.operations[maker].kind, ErrorType.UPDATE)
            reason = "a unit had the needed fact, and its next version does not have it"
            if counts_from_its_day(traced.detail):
                reason = day_lost(traced.detail.reference)
            loss = Loss(kind, maker, holder, following[0], likely(score, HOLDS), reason)
        else:
            continue
        losses.append((graph.operations[loss.operation_id].sequence, loss))
    return max(losses, key=lambda item: (item[0], item[1].operation_id))[1] if losses else None


async def _newest_holder(traced: FailureInTrace, versions: Sequence[str]) -> str | None:
    """The newest version of a unit that has the detail.

    Reads a version only if the next version may have dropped the detail, because a long buffer has many versions.
    """
    following: str | None = None
    for version in reversed(versions):
        may_have = following is None or await _may_have_lost(traced, version, following)
        if may_have and await traced.holders([version]):
            return version
        following = version
    return None


async def _may_have_lost(traced: FailureInTrace, version: str, following: str) -> bool:
    """Whether a version may have the detail, given that the next version lacks it."""
    left_out = await traced.graph.left_out(version, following)
    if left_out is None or traced.is_sole(version) != traced.is_sole(following):
        return True
    return bool(left_out) and traced.may_hold(left_out)


async def lost_on_the_way(traced: FailureInTrace, place: int) -> Loss | None:
    """The last operation before ``place`` that used a variable with the detail and made none with it.

    Operations in the answer's past come first. A model that replied to its user need not keep the detail and is never
    blamed; if it was the last to read the detail, what lost the detail is not recorded.
    """
    graph = traced.graph
    carriers = await _carriers(traced, place)
    past = graph.past([traced.failure.answer_id or ""])
    found: list[tuple[bool, int, str, bool, int, str]] = []
    for carrier in carriers:
        for operation_id in graph.readers(carrier):
            operation, made = graph.operations[operation_id], graph.made(operation_id)
            kept = any(one in carriers and goes_on(graph, one) for one in made)
            in_past = not past.isdisjoint(made)
            if operation.sequence >= place or kept or _is_aside(graph, operation_id, in_past):
                continue
            # Prefers a variable that the operation used directly, not through a prompt: the steps of a path must join.
            is_used = carrier in graph.used(operation_id)
            found.append(
                (in_past, operation.sequence, operation_id, is_used, graph.variables[carrier].sequence, carrier)
            )
    best = None
    for key in sorted(found, reverse=True):
        if key[3] or await _has_read(traced, key[2], key[5]):
            best = loss_at(graph, key[2], key[5])
            break
    if best is not None and best.reason == _SUMMARISED and await _is_read_later(traced, best, carriers, place):
        return None
    if best is not None and counts_from_its_day(traced.detail):
        return replace(best, likelihood=_DATE, reason=day_lost(traced.detail.reference))
    return best


async def _is_read_later(traced: FailureInTrace, loss: Loss, carriers: set[str], place: int) -> bool:
    """Whether a model was shown a reply with the detail after the loss: its text did not take the reply's place."""
    graph = traced.graph
    lossy = graph.operations[loss.operation_id].sequence
    for carrier in carriers:
        if graph.variables[carrier].kind not in _REPLIES:
            continue
        for reader in graph.readers(carrier):
            is_later = lossy < graph.operations[reader].sequence < place
            is_model = graph.operations[reader].kind is OperationKind.GENERATION
            if is_later and is_model and await _has_read(traced, reader, carrier):
                return True
    return False


async def _has_read(traced: FailureInTrace, operation_id: str, carrier: str) -> bool:
    """Whether a prompt that an operation read has the detail, too: it may have another part of the carrier only."""
    graph = traced.graph
    prompts = [one for one in graph.used(operation_id) if graph.variables[one].kind is _PROMPT]
    written = [one for one in prompts if any(d.source == carrier for d in graph.parents(one))]
    return not written or bool(await traced.holders(written))


async def _carriers(traced: FailureInTrace, place: int) -> set[str]:
    """The message, and the variables made before ``place`` that have the detail from it; no prompts."""
    graph = traced.graph
    before = [
        v
        for v in traced.future
        if graph.is_recorded(v) and graph.place(v) < place and graph.variables[v].kind is not _PROMPT
    ]
    before.sort(key=lambda v: (graph.place(v), graph.variables[v].sequence))
    carriers = {traced.detail.message_id}
    for variable_id in before:
        reached = any(
            d.source in carriers or graph.variables[d.source].kind is _PROMPT for d in graph.parents(variable_id)
        )
        before_it = graph.variables[variable_id].revision_of or ""
        if not reached:
            continue
        is_like = before_it in carriers and traced.is_sole(before_it) == traced.is_sole(variable_id)
        if (is_like and await graph.has_all_of(variable_id, before_it)) or await traced.holders([variable_id]):
            carriers.add(variable_id)
    return carriers


def _is_aside(graph: TraceGraph, operation_id: str, in_past: bool) -> bool:
    """Whether an operation had the detail beside its work: a model or tool that replied, or that led nowhere.

    A model that replied in the answer's past stays: nothing recorded explains what became of the detail after it.
    An operation that only hands a reply out to the user has nothing to store.
    """
    made = graph.made(operation_id)
    if made and all(graph.variables[one].kind is VariableKind.ANSWER for one in made):
        is_dead_end = not in_past and not any(goes_on(graph, one) for one in made)
        return is_dead_end or graph.operations[operation_id].kind is not OperationKind.GENERATION
    if graph.operations[operation_id].kind not in _REPLY or written_by(graph, operation_id):
        return False
    return not in_past


def loss_at(graph: TraceGraph, blamed: str, carrier: str) -> Loss | None:
    """The loss at an operation that had a variable with the detail; None if it is a reply to the user."""
    made = graph.made(blamed)
    kind, reason = graph.operations[blamed].kind, "the operation read the needed fact, and nothing that it made has it"
    revised = [graph.variables[m].revision_of for m in made]
    if kind is OperationKind.GENERATION:
        written = written_by(graph, blamed) or written_around(graph, blamed)
        if not written and any(graph.variables[d.target].kind is _BUFFER for m in made for d in graph.children(m)):
            return None  # a reply to the user
        is_first = all(graph.variables[one].revision_of is None for one in written) if written else False
        is_noted = not written and (_read_one_message(graph, blamed) or _was_new(graph, blamed, carrier))
        error = ErrorType.EXTRACTION if is_first or is_noted else ErrorType.UPDATE
        reason = _WRITTEN if written else reason if is_noted else _SUMMARISED
    else:
        state = any(v is not None and graph.variables[v].kind in STORED for v in [carrier, *revised])
        # If an earlier step had already extracted the detail from the message, writing lost it.
        state = state or graph.variables[carrier].operation_id is not None
        state = state or kind is OperationKind.UPDATE
        error = BY_KIND.get(kind, ErrorType.UPDATE if state else ErrorType.EXTRACTION)
        if any(v is not None and graph.variables[v].kind is _BUFFER for v in revised):
            reason = FELL_OUT
    derived = [d.target for d in graph.children(carrier) if d.target in made]
    after = derived[0] if derived else made[0] if made else None
    return Loss(error, blamed, carrier, after, 0.85, reason)


def _read_one_message(graph: TraceGraph, operation_id: str) -> bool:
    """Whether a model made its text of a single message, and of no reply: a note of it, and no summary of a history."""
    used = graph.used(operation_id)
    read = {*used, *graph.past(used)}
    is_of_model = any(graph.variables[one].kind in {VariableKind.RESPONSE, VariableKind.ANSWER} for one in read)
    return not is_of_model and sum(graph.is_message(one) for one in read) == 1


def _was_new(graph: TraceGraph, operation_id: str, carrier: str) -> bool:
    """Whether a model was the first to be given a message, as the only one, such as beside notes of earlier ones."""
    messages = [one for one in graph.used(operation_id) if graph.is_message(one)]
    first = min((graph.operations[one].sequence for one in graph.users(carrier)), default=None)
    return messages == [carrier] and graph.operations[operation_id].sequence == first


def written_by(graph: TraceGraph, operation_id: str) -> list[str]:
    """The memory units that were written from what an operation made, through tools but no other model or search."""
    found, waiting, seen = [], list(graph.made(operation_id)), set(graph.made(operation_id))
    while waiting:
        for derivation in graph.children(waiting.pop()):
            maker = graph.operations[derivation.operation_id]
            if derivation.target in seen or maker.id == operation_id or maker.kind in _DECIDES:
                continue
            seen.add(derivation.target)
            if graph.variables[derivation.target].kind is VariableKind.MEMORY_UNIT:
                found += [derivation.target] if graph.is_recorded(derivation.target) else []
            elif graph.variables[derivation.target].kind is not _BUFFER:
                waiting.append(derivation.target)
    return found


def written_around(graph: TraceGraph, operation_id: str) -> list[str]:
    """The memory units that the operation around a model's call made: the model works for that operation."""
    around = graph.operations.get(str(attributes(graph.operations[operation_id]).get("parentId")))
    if around is None or around.kind in _DECIDES:
        return []
    made = graph.made(around.id)
    return [one for one in made if graph.variables[one].kind is VariableKind.MEMORY_UNIT and graph.is_recorded(one)]


def goes_on(graph: TraceGraph, variable_id: str) -> bool:
    """Whether a variable is stored or was used again. A reply that nothing reads is a dead end."""
    variable = graph.variables[variable_id]
    made_from = graph.children(variable_id)
    elsewhere = any(d.operation_id != variable.operation_id for d in made_from)
    return variable.kind in STORED or bool(graph.users(variable_id)) or elsewhere


_REPLY = frozenset({OperationKind.GENERATION, OperationKind.TOOL})
"""Kinds of operations that tell something. What a tool keeps is recorded only if it makes memory units."""
_REPLIES = frozenset({VariableKind.RESPONSE, VariableKind.ANSWER})
_PROMPT, _BUFFER = VariableKind.PROMPT, VariableKind.BUFFER
_DECIDES = frozenset({OperationKind.GENERATION, OperationKind.RETRIEVAL})
FELL_OUT = "the history had the needed fact, and the new history that the operation made does not have it"
"""The reason of a loss from a history."""
_WRITTEN = "the model read the needed fact, and what it wrote into the memory does not have it"
_DATE = 0.7
"""The likelihood that an operation is at fault that dropped a date: people differ on which sort of fault it is."""
_SUMMARISED = "the model read the needed fact, and its text, which was read in place of it, does not have it"
