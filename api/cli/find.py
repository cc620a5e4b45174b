"""Finds elements by the ids and names that users type."""

from __future__ import annotations

from typing import TypeVar

from schema.errors import NotFoundError
from schema.models import Element, Failure, Operation, Session, Trace, Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.resolving import ambiguous, by_name, is_prefix, is_whole_id, trace_by_name

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
