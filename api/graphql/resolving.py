"""Resolving references: an id, a prefix of an id, or an id in the source; see ``store.shared.resolving``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from api.auth.access import ProjectDoor
from api.graphql import reads
from api.graphql.context import Info
from schema.errors import InputError, NotFoundError
from schema.ids import ID_LENGTH
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.resolving import is_whole_id

E = TypeVar("E")

MOST_TO_FIND = 100
"""The most references in a list that are not whole ids, because each is looked up separately."""


async def id_of(store: GraphStore, label: Label, reference: str, trace_id: str | None = None) -> str:
    """The id of the element that a reference names.

    Args:
        store: where to look.
        label: label of the element.
        reference: an id, a prefix or an id in the source.
        trace_id: the trace in which prefixes and ids in the source are looked up; None for all traces.

    Raises:
        NotFoundError: no element fits.
        AmbiguousError: several elements fit.
    """
    return (await store.resolve(reference, label, None if is_whole_id(reference) else trace_id)).id


async def ids_of(store: GraphStore, label: Label, references: Sequence[str], trace_id: str | None = None) -> list[str]:
    """The ids of the elements that several references name, in the same order; see ``id_of``.

    Raises:
        InputError: too many references are not ids of elements.
        NotFoundError: no element fits a reference.
        AmbiguousError: several elements fit a reference.
    """
    whole = [reference for reference in references if is_whole_id(reference)]
    known = {element.id for element in await store.get(label, whole)} if whole else set()
    if sum(reference not in known for reference in references) > MOST_TO_FIND:
        raise InputError("ids", "", f"more than {MOST_TO_FIND} that are not there, or not whole")
    return [one if one in known else await id_of(store, label, one, trace_id) for one in references]


async def trace_meant(store: GraphStore, reference: str | None) -> str | None:
    """The id of the trace that an argument names.

    An unknown reference is returned unchanged, and nothing is found for it.

    Raises:
        AmbiguousError: several traces fit.
    """
    return None if reference is None else await id_meant(store, Label.TRACE, reference)


async def id_meant(store: GraphStore, label: Label, reference: str) -> str:
    """The id of the element that an argument names; an unknown reference is returned unchanged.

    Raises:
        AmbiguousError: several elements fit.
    """
    try:
        return await id_of(store, label, reference)
    except NotFoundError:
        return reference


async def element_meant(info: Info, door: ProjectDoor, model: type[E], reference: str, trace: str | None) -> E | None:
    """The element that an argument names; None if no element fits.

    Raises:
        AmbiguousError: several elements fit.
    """
    label = Label(model.__name__)
    if len(reference) == ID_LENGTH and trace is None:
        # Most references are whole ids, which one read finds.
        found: E | None = await info.context.load(door.project_id, reads.elements, reference, label)
        if found is not None:
            return found
    try:
        resolved = await door.store.resolve(reference, label, await trace_meant(door.store, trace))
    except NotFoundError:
        return None
    return resolved if isinstance(resolved, model) else None
