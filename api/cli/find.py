"""From what users write to what is stored."""

from __future__ import annotations

from typing import TypeVar

from schema.errors import NotFoundError
from schema.models import Element, Failure, Operation, Session, Trace, Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.resolving import ambiguous, by_name, is_prefix, is_whole_id, trace_by_name

E = TypeVar("E", Trace, Session, Operation, Variable, Failure)


async def find(store: GraphStore, model: type[E], reference: str, trace_id: str | None = None) -> E:
    """The one thing of this model that a reference means; a variable or a trace may be called by its name, too.

    Raises:
        NotFoundError: there is none.
        AmbiguousError: there are several.
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
    """The id of the trace that ``--trace`` means; None where it was not given."""
    return (await find(store, Trace, reference)).id if reference else None


async def find_variable(store: GraphStore, reference: str, trace: str | None) -> Variable:
    """The variable that a reference means, in the trace that another one means."""
    return await find(store, Variable, reference, await find_trace_id(store, trace))


async def find_cause(store: GraphStore, reference: str, trace: str | None) -> Variable | Operation | Failure:
    """The variable, else the operation, else the failure that a reference means.

    Raises:
        NotFoundError: there is none.
        AmbiguousError: there are several of one label, or one is called as the id of another begins.
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
