"""Finds what a reference means: an id, the beginning of one, or an id in the source; see ``store.shared.resolving``."""

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
"""The most references in one list that are no whole ids, because each is looked for by itself."""


async def id_of(store: GraphStore, label: Label, reference: str, trace_id: str | None = None) -> str:
    """The id of what a reference means.

    Args:
        store: where to look.
        label: what it is.
        reference: what is said of it.
        trace_id: where an id in the source, or the beginning of an id, is looked for; None is everywhere.

    Raises:
        NotFoundError: it means nothing.
        AmbiguousError: it may mean several things.
    """
    return (await store.resolve(reference, label, None if is_whole_id(reference) else trace_id)).id


async def ids_of(store: GraphStore, label: Label, references: Sequence[str], trace_id: str | None = None) -> list[str]:
    """The ids of what several references mean, in their order; see ``id_of``.

    Raises:
        InputError: too many of them are no ids of anything.
        NotFoundError: one means nothing.
        AmbiguousError: one may mean several things.
    """
    whole = [reference for reference in references if is_whole_id(reference)]
    known = {element.id for element in await store.get(label, whole)} if whole else set()
    if sum(reference not in known for reference in references) > MOST_TO_FIND:
        raise InputError("ids", "", f"more than {MOST_TO_FIND} that are not there, or not whole")
    return [one if one in known else await id_of(store, label, one, trace_id) for one in references]


async def trace_meant(store: GraphStore, reference: str | None) -> str | None:
    """The id of the trace that a field is about. An unknown reference stays as it is, so that nothing is found for it.

    Raises:
        AmbiguousError: it may mean several traces.
    """
    return None if reference is None else await id_meant(store, Label.TRACE, reference)


async def id_meant(store: GraphStore, label: Label, reference: str) -> str:
    """The id of what a field is about; an unknown reference stays as it is.

    Raises:
        AmbiguousError: it may mean several things.
    """
    try:
        return await id_of(store, label, reference)
    except NotFoundError:
        return reference


async def element_meant(info: Info, door: ProjectDoor, model: type[E], reference: str, trace: str | None) -> E | None:
    """The element that a field is about; None where the reference means nothing.

    Raises:
        AmbiguousError: it may mean several things.
    """
    label = Label(model.__name__)
    if len(reference) == ID_LENGTH and trace is None:
        # Most references are whole ids, which are found together and at once.
        found: E | None = await info.context.load(door.project_id, reads.elements, reference, label)
        if found is not None:
            return found
    try:
        resolved = await door.store.resolve(reference, label, await trace_meant(door.store, trace))
    except NotFoundError:
        return None
    return resolved if isinstance(resolved, model) else None
