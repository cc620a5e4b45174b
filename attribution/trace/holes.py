"""Holes in a recording: missing steps, because of which no operation must be blamed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from attribution.trace.fixes import (
    CONNECT_ANSWER,
    CONNECT_SEARCH,
    NAME_KIND,
    OVERWRITTEN,
    RECORD_ANSWERS,
    RECORD_CHANGES,
    RECORD_DELETED,
    RECORD_ENDS,
    RECORD_MESSAGES,
    RECORD_MUTATION,
    RECORD_PLACE,
    RECORD_STORING,
    RECORD_TAKEN_OUT,
    RECORD_TOGETHER,
    RECORD_WIPE,
    SEE_FILTERS,
    WRITE_HERE,
    WRITE_RECORDED,
)
from attribution.trace.given_back import chose, never_ending
from attribution.trace.graph import TraceGraph
from attribution.trace.kept_unseen import fix, kept_unseen, problem
from attribution.trace.out_of_sight import ChangedRead, changed_elsewhere, changed_reads, emptied
from attribution.trace.passed_over import passed_over
from attribution.trace.plain_spans import plain_around_steps
from attribution.trace.storing_fix import storing_fix
from attribution.trace.vain_searches import attributes, found_nothing, limits, says, vain_searches
from schema.kinds import STORED, OperationKind, Status, VariableKind
from schema.models import Failure, Operation, Variable

_SEARCH = OperationKind.RETRIEVAL
_CHANGES = frozenset({OperationKind.UPDATE, OperationKind.DELETION})
_EXAMPLES = 5
_SHOWN = 60
"""The number of characters shown of a unit."""


@dataclass(frozen=True, slots=True)
class Hole:
    """Something that a recording lacks.

    Attributes:
        problem: what is missing.
        count: how often.
        examples: ids of a few operations or variables that show the hole.
        fix: what to record.
    """

    problem: str
    count: int
    examples: tuple[str, ...]
    fix: str


async def holes(graph: TraceGraph) -> list[Hole]:
    """All holes of a trace, those that prevent verdicts first; empty for a complete recording."""
    messages = _messages(graph)
    variables = graph.variables.values()
    answers = [one.id for one in variables if one.kind is VariableKind.ANSWER]
    loose: dict[str, list[str]] = {}
    unconnected = []
    for answer in answers:
        past = graph.past([answer])
        questions = {one for one in past if graph.variables[one].kind is VariableKind.QUERY}
        if searches := await _loose_searches(graph, past, questions, messages):
            loose[answer] = searches
        elif await _is_unconnected(graph, past, questions, messages):
            unconnected.append(answer)
    from_outside = [
        one.id
        for one in variables
        if one.kind in STORED and one.operation_id is None and not graph.parents(one.id) and says(one.preview)
    ]
    plain = plain_around_steps(graph)
    unknown = [one for one in graph.operations.values() if one.kind is OperationKind.OTHER and one.id not in plain]
    unseen = _unseen_changes(graph)
    unended = never_ending(graph)
    changed = await changed_reads(graph)
    vain = vain_searches(graph)
    kept = kept_unseen(graph)
    passed = await passed_over(graph)
    found = [
        _hole("no message is recorded", [] if messages else [""], RECORD_MESSAGES),
        _hole("no answer is recorded", [] if answers else [""], RECORD_ANSWERS),
        _hole(
            f"for {len(loose)} of {len(answers)} answers, searches return what no recorded message led to",
            [search for searches in loose.values() for search in searches],
            storing_fix(graph, [search for searches in loose.values() for search in searches], unseen),
        ),
        _hole(
            "" if kept is None else problem(graph, kept),
            [] if kept is None else list(kept.replies),
            "" if kept is None else fix(graph, kept),
        ),
        _hole("no recorded step used what these searches returned", unread_searches(graph), CONNECT_SEARCH),
        _hole(f"{len(unconnected)} of {len(answers)} answers depend on no message", unconnected, CONNECT_ANSWER),
        _hole(
            "answers were made by no operation",
            [one for one in answers if graph.variables[one].operation_id is None],
            RECORD_ANSWERS,
        ),
        _hole("what the memory keeps came from outside", from_outside, RECORD_STORING),
        _hole(
            f"operations are of kind Other: {_names(unknown)}",
            [one.id for one in unknown],
            NAME_KIND,
        ),
        _hole(
            f"no change of the memory is recorded of operations that should make one: {_names(unseen)}",
            [one.id for one in unseen],
            RECORD_CHANGES,
        ),
        _hole(
            f"deletions returned some of the units that they were given, and ended none: {_names(unended)}",
            [one.id for one in unended],
            RECORD_DELETED,
        ),
        _hole(_changed(graph, changed), [one.read for one in changed], RECORD_MUTATION),
        _hole(
            f"searches found nothing of what the memory had: {_vain(vain)}",
            [one.id for one in vain],
            SEE_FILTERS.format(search=vain[0].id[:8] if vain else ""),
        ),
        _hole(
            f"searches passed over the unit with most words of their question, and do not tell what they chose from: "
            f"{_names([graph.operations[one] for one in passed])}",
            passed,
            RECORD_TAKEN_OUT,
        ),
        _hole(
            "operations have no end",
            [one.id for one in graph.operations.values() if one.status is Status.RUNNING],
            RECORD_ENDS,
        ),
    ]
    return [one for one in found if one.count]


async def hole_behind(graph: TraceGraph, failure: Failure) -> Hole | None:
    """The hole that prevents following a detail to a failure's answer; None if there is none."""
    assert failure.answer_id is not None
    messages = _messages(graph)
    past = graph.past([failure.answer_id])
    if elsewhere := await changed_elsewhere(graph, past):
        return _hole(_changed(graph, elsewhere), [one.read for one in elsewhere], WRITE_RECORDED)
    # A user's message that a model turned into a query is behind all results, and is no origin of any.
    loose = await _loose_searches(graph, past, {failure.question_id}, messages - {failure.question_id})
    if loose:
        before = graph.operations[graph.variables[failure.answer_id].operation_id or ""].sequence
        unseen = [one for one in _unseen_changes(graph) if one.sequence < before]
        fix = RECORD_TOGETHER if _are_elsewhere(graph, loose) else storing_fix(graph, loose, unseen)
        return _hole("the search for the answer returned what no recorded message led to", loose, fix)
    if await _is_unconnected(graph, past, {failure.question_id}, messages):
        return _hole("the answer depends on no message", [failure.answer_id], CONNECT_ANSWER)
    answering = graph.operations[graph.variables[failure.answer_id].operation_id or ""].sequence
    asked = {failure.question_id, *(past & graph.future([failure.question_id]))}
    if (found := emptied(graph, asked, answering)) is not None:
        search, units = found
        problem = (
            f"the memory changed out of sight: the search found nothing and had no limit that explains it, although "
            f"{_counted(len(units))} written and not deleted ({_shown(graph, units)})"
        )
        return _hole(problem, [search, *units], RECORD_WIPE)
    if changed := await changed_reads(graph, answering):
        return _hole(_changed(graph, changed), [one.read for one in changed], RECORD_MUTATION)
    return None


def weakness(graph: TraceGraph, failure: Failure) -> str:
    """What the recording lacks for this answer, if it makes the verdict less sure; empty if it lacks nothing known."""
    assert failure.answer_id is not None
    answering = graph.operations[graph.variables[failure.answer_id].operation_id or ""].sequence
    unseen = [one for one in _unseen_changes(graph) if one.sequence < answering]
    return f"no change of the memory is recorded of {_names(unseen)}" if unseen else ""


def overwritten_unseen(graph: TraceGraph, search: str, units: AbstractSet[str]) -> str:
    """The hole that a unit may have been overwritten before a search, which nothing shows; empty if there is none.

    An update that records no change was given the unit, so what it keeps under which key is not known. Nothing is
    missing if the search was given the unit, or if this or a later search returned it.
    """
    searches = (one for one in graph.operations.values() if one.kind is _SEARCH)
    later = [one.id for one in searches if graph.operations[search].sequence <= one.sequence]
    seen = {graph.recorded(one) for one in [*graph.used(search), *(made for one in later for made in graph.made(one))]}
    taking = [
        one
        for one in _unseen_changes(graph)
        if one.sequence < graph.operations[search].sequence
        and any(graph.recorded(given) in units for given in graph.used(one.id))
    ]
    if not taking or seen & units:
        return ""
    return f"the recording has a hole: {OVERWRITTEN.format(names=_names(taking))}; {RECORD_PLACE}"


def in_another_trace(graph: TraceGraph, failure: Failure) -> Hole | None:
    """The hole that a search for the answer looked into a store to which this trace wrote nothing; None if none did."""
    assert failure.answer_id is not None
    past = graph.past([failure.answer_id])
    makers = {graph.variables[one].operation_id for one in past} - {None}
    searches = [graph.operations[one or ""] for one in makers if graph.operations[one or ""].kind is _SEARCH]
    stores = {one.id: {str(store) for store in _stores(graph, one) if store} for one in searches}
    named = set().union(*stores.values()) if stores else set()
    units = (one for one in graph.variables.values() if one.kind is VariableKind.MEMORY_UNIT) if named else ()
    written = {str(attributes(one).get("store")) for one in units if one.operation_id is not None and not _is_read(one)}
    loose = [one for one in searches if stores[one.id] and stores[one.id].isdisjoint(written)]
    if not loose:
        return None
    asked = graph.future([failure.question_id])
    # Earlier turns of the conversation may have searched, too.
    own = [one for one in loose if not asked.isdisjoint(graph.made(one.id))]
    loose = sorted(own or loose, key=lambda one: one.sequence)
    said = f"{loose[0].name or loose[0].external_id}{f' ({by})' if (by := limits(loose[0])) else ''}"
    problem = f"{said} looked into a store to which nothing in this trace was written"
    return _hole(problem, [one.id for one in loose], WRITE_HERE)


def _stores(graph: TraceGraph, search: Operation) -> set[object]:
    """The stores of a search: its attributes name one, and the attributes of its units may name others."""
    units = [graph.variables[graph.recorded(one)] for one in graph.made(search.id)]
    own = {attributes(one).get("store") for one in units if one.kind is VariableKind.MEMORY_UNIT}
    return {attributes(search).get("store"), *own}


def _is_read(unit: Variable) -> bool:
    return bool(unit.occurrence)


def _changed(graph: TraceGraph, changed: Sequence[ChangedRead]) -> str:
    """The problem of units that changed without a recorded operation."""
    if not changed:
        return ""
    first = changed[0]
    reader = graph.operations.get(_reader(graph, first.read) or "")
    writer = graph.operations.get(graph.variables[first.unit].operation_id or "")
    between = f"between {_names([writer])} and {_names([reader])}" if writer and reader else "in between"
    name = graph.variables[first.unit].name
    said = f"{name} was read with another value than it was stored with"
    values = f"{_shown(graph, [first.unit])} became {_shown(graph, [first.read])}"
    return f"the memory changed out of sight: {said}, so it changed {between}: {values}"


def _reader(graph: TraceGraph, read: str) -> str | None:
    """The operation that read a unit."""
    return graph.variables[read].operation_id or next(iter(graph.users(read)), None)


def _vain(searches: Sequence[Operation]) -> str:
    """The names of searches with what limits each."""
    named = list(dict.fromkeys(f"{one.name or one.external_id} ({limits(one)})" for one in searches))
    return ", ".join([*named[:_EXAMPLES], *(["…"] if len(named) > _EXAMPLES else [])])


def _counted(units: int) -> str:
    return f"{units:,} unit was" if units == 1 else f"{units:,} units were"


def _shown(graph: TraceGraph, units: Sequence[str]) -> str:
    texts = [f"“{' '.join(graph.variables[one].preview.split())[:_SHOWN]}”" for one in units[:_EXAMPLES]]
    return ", ".join([*texts, *(["…"] if len(units) > _EXAMPLES else [])])


async def _loose_searches(
    graph: TraceGraph, past: AbstractSet[str], questions: set[str], messages: set[str]
) -> list[str]:
    """The searches between questions and an answer, if they returned something and no result comes from a message.

    One search with results that come from messages is enough: other searches may return something else, such as a
    decision.
    """
    makers = {graph.variables[one].operation_id for one in past & graph.future(questions)}
    searches = [one for one in makers if one is not None and graph.operations[one].kind is OperationKind.RETRIEVAL]
    if any(graph.past(graph.made(one)) & messages for one in searches):
        return []
    return sorted(
        [one for one in searches if not found_nothing(graph, one)],
        key=lambda one: graph.operations[one].sequence,
    )


def unread_searches(graph: TraceGraph) -> list[str]:
    """The searches that were given a question and returned something that nothing was made from.

    A text that another search returned, too, may have come from either: equal prompts are recorded once. A search was
    used, too, if a unit that it returned was changed or deleted later: programs look up the ids of units.
    """
    searches = [one.id for one in graph.operations.values() if one.kind is _SEARCH]
    read: dict[str, bool] = {}
    texts: set[str] = set()
    for search in searches:
        used = [made for made in graph.made(search) if graph.users(made) or graph.children(made)]
        read[search] = bool(used)
        texts.update(graph.variables[made].value_hash for made in used)
    return [
        search
        for search in searches
        if not read[search]
        and any(graph.variables[used].kind is VariableKind.QUERY for used in graph.used(search))
        and not found_nothing(graph, search)
        and not any(graph.variables[made].value_hash in texts for made in graph.made(search))
        and not any(_is_changed_after(graph, made, search) for made in graph.made(search))
    ]


def _is_changed_after(graph: TraceGraph, made: str, search: str) -> bool:
    """Whether a unit that a search returned got a next version later, or was deleted."""
    unit = graph.recorded(made)
    if graph.variables[unit].kind is not VariableKind.MEMORY_UNIT:
        return False
    versions = graph.versions(unit)
    later = versions[versions.index(unit) + 1 :] if unit in versions else []
    changes = [graph.invalidated_by(unit), *(graph.variables[one].operation_id for one in later)]
    return any(one and graph.operations[one].sequence > graph.operations[search].sequence for one in changes)


def _are_elsewhere(graph: TraceGraph, searches: Sequence[str]) -> bool:
    """Whether all units that searches read are known by a store and were not written in this trace."""
    read = {one for search in searches for one in graph.used(search) if graph.variables[one].kind in STORED}
    units = [graph.variables[graph.recorded(one)] for one in read]
    return bool(units) and all(one.operation_id is None and "store" in attributes(one) for one in units)


async def _is_unconnected(graph: TraceGraph, past: AbstractSet[str], questions: set[str], messages: set[str]) -> bool:
    """Whether an answer with this past depends on no message, although no search for the answer returned nothing."""
    if past & messages:
        return False
    asked = {operation for one in questions for operation in graph.users(one)}
    asked |= {operation for one in past if (operation := graph.variables[one].operation_id) is not None}
    searches = [one for one in asked if graph.operations[one].kind is OperationKind.RETRIEVAL]
    return not any(found_nothing(graph, one) for one in searches)


def _unseen_changes(graph: TraceGraph) -> list[Operation]:
    """Updates and deletions with a name for which the whole trace records no change. A single call may change nothing.

    If an operation returns all its inputs unchanged, the recording does not say what changed in the memory. An
    operation that returns some of its inputs and leaves out others shows by this which units the memory takes.
    """
    changes = [
        one
        for one in graph.operations.values()
        # A model's call only decides: another operation stores the reply.
        if one.kind in _CHANGES and one.status is not Status.ERROR and not _is_reply(graph, one.id)
    ]
    ending = {graph.invalidated_by(id_) for id_ in graph.variables}
    seen = {
        one.name
        for one in changes
        if one.id in ending
        or chose(graph, one.id)
        or any(graph.variables[made].kind in STORED and graph.is_recorded(made) for made in graph.made(one.id))
    }
    return [one for one in changes if one.name not in seen]


def _is_reply(graph: TraceGraph, operation_id: str) -> bool:
    return any(graph.variables[made].kind is VariableKind.RESPONSE for made in graph.made(operation_id))


def _messages(graph: TraceGraph) -> set[str]:
    return {id_ for id_ in graph.variables if graph.is_message(id_)}


def _names(operations: Iterable[Operation]) -> str:
    """Some of the distinct names of operations."""
    named = list(dict.fromkeys(one.name or one.external_id for one in operations))
    return ", ".join([*named[:_EXAMPLES], *(["…"] if len(named) > _EXAMPLES else [])])


def _hole(problem: str, places: list[str], fix: str) -> Hole:
    places = list(dict.fromkeys(places))
    return Hole(problem, len(places), tuple(filter(None, places[:_EXAMPLES])), fix)
