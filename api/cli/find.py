"""Finds elements by the ids and names that users type."""

from __future__ import annotations

from typing import TypeVar

from api.cli.render.text import short
from attribution.verdicts.stored import every_failure
from schema.errors import AmbiguousError, InputError, NotFoundError
from schema.kinds import VariableKind
from schema.models import Element, Failure, Operation, Session, Trace, Variable
from store.contract.answers import ALL_FAILURES, FailureKey, FailureOrder, Label
from store.contract.protocol import GraphStore
from store.shared.resolving import ambiguous, by_name, is_prefix, is_whole_id, trace_by_name

LAST = "last"
"""The failure that was recorded last, unless something has this name."""
_MOST_VERSIONS = 10_000

E = TypeVar("E", Trace, Session, Operation, Variable, Failure)


async def find(store: GraphStore, model: type[E], reference: str, trace_id: str | None = None) -> E:
    """The element of this model that an id means; for variables and traces, also a name.

    Raises:
        NotFoundError: no element matches.
        AmbiguousError: several elements match.
    """
    try:
        found: Element = await store.resolve(reference, Label(model.__name__), trace_id)
    except NotFoundError:
        if model not in {Variable, Trace} or is_whole_id(reference):
            raise
        by = trace_by_name(store, reference) if model is Trace else by_name(store, reference, trace_id)
        found = await by
    if not isinstance(found, model):
        raise NotFoundError(reference, model.__name__)
    return found


async def find_trace_id(store: GraphStore, reference: str | None) -> str | None:
    """The id of the trace in ``--trace``; None without the option."""
    return (await find(store, Trace, reference)).id if reference else None


async def find_variable(store: GraphStore, reference: str, trace: str | None) -> Variable:
    """The variable with this id or name, if given in the trace with that id or name."""
    return await find(store, Variable, reference, await find_trace_id(store, trace))


async def find_any_version(store: GraphStore, reference: str, trace: str | None) -> Variable:
    """A variable; the name of something with several versions, such as a memory unit, means one of the versions.

    Raises:
        NotFoundError: no variable matches.
        AmbiguousError: several things match, not just versions of one thing.
    """
    try:
        return await find_variable(store, reference, trace)
    except AmbiguousError:
        named = await store.named(reference, None, await find_trace_id(store, trace), _MOST_VERSIONS)
        if not named or len(named) == _MOST_VERSIONS:
            raise
        if {one.id for one in named} - {one.id for one in await store.versions(named[0].id)}:
            raise
        return named[0]


async def find_cause(store: GraphStore, reference: str, trace: str | None) -> Variable | Operation | Failure:
    """The variable with this id or name; else the operation; else the failure.

    Raises:
        NotFoundError: no element matches.
        AmbiguousError: several elements of one label match, or one's id begins with another's name.
    """
    trace_id = await find_trace_id(store, trace)
    found: list[Variable | Operation | Failure] = []
    for label in (Label.VARIABLE, Label.OPERATION, Label.FAILURE):
        try:
            one = await store.resolve(reference, label, trace_id)
        except NotFoundError:
            continue
        assert isinstance(one, Variable | Operation | Failure)
        found.append(one)
        if not is_prefix(reference):
            break
    if len(found) > 1:
        raise ambiguous(reference, found)
    if found:
        return found[0]
    try:
        return await by_name(store, reference, trace_id)
    except NotFoundError:
        raise NotFoundError(reference, "variable, operation or failure") from None


async def find_failure(store: GraphStore, reference: str, trace_id: str | None = None) -> Failure:
    """The failure with this id; else the failure of the answer, or of the question, with this id or name.

    ``last`` means the failure that was recorded last.

    Raises:
        NotFoundError: no failure, answer or question matches.
        AmbiguousError: several failures match.
        InputError: the answer or the question exists, but no failure has it.
    """
    try:
        return await find(store, Failure, reference, trace_id)
    except NotFoundError:
        pass
    try:
        named = await find(store, Variable, reference, trace_id)
    except NotFoundError:
        if reference.casefold() == LAST and (newest := await _newest_failure(store, trace_id)):
            return newest
        raise NotFoundError(reference, "failure or answer") from None
    failures = await every_failure(store, named.trace_id)
    matching = [one for one in failures if named.id in {one.answer_id, one.question_id}]
    if len(matching) > 1:
        raise ambiguous(reference, matching)
    if matching:
        return matching[0]
    if named.kind is VariableKind.ANSWER:
        problem = f'it is not marked as wrong. If it is, say: memtrace fail {short(named.id)} "the right answer"'
    else:
        problem = f"it is a {named.kind.value}, and no answer to it is marked as wrong. See: memtrace answers"
    raise InputError(short(named.id), "", problem)


async def find_failures(store: GraphStore, reference: str) -> list[Failure]:
    """The failure that ``find_failure`` finds; else all failures of the trace with this id or name.

    Raises:
        NotFoundError: no failure, answer, question or trace matches.
        AmbiguousError: several elements match.
        InputError: the answer or the question exists, but no failure has it.
    """
    try:
        return [await find_failure(store, reference)]
    except NotFoundError:
        pass
    try:
        trace = await find(store, Trace, reference)
    except NotFoundError:
        raise NotFoundError(reference, "failure, answer or trace") from None
    return await every_failure(store, trace.id)


async def _newest_failure(store: GraphStore, trace_id: str | None) -> Failure | None:
    """The failure that was recorded last, in one trace or in the project."""
    page = await store.failures(trace_id, 1, None, ALL_FAILURES, FailureOrder(FailureKey.TIME, descending=True))
    return next(iter(page.items), None)


async def find_anything(store: GraphStore, reference: str) -> Element:
    """The element with this id; else the variable or the trace with this name.

    Raises:
        NotFoundError: nothing matches.
        AmbiguousError: several elements match.
    """
    try:
        return await store.resolve(reference)
    except NotFoundError:
        if is_whole_id(reference):
            raise
    try:
        return await find_any_version(store, reference, None)
    except NotFoundError:
        return await find(store, Trace, reference)
