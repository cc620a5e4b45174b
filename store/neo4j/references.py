"""Checks that all references of a batch are to elements of the batch or to stored elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from schema.errors import InputError
from schema.models import Batch
from store.contract.answers import Label
from store.neo4j.read import Reader
from store.shared.references import references


async def check_references(
    batch: Batch, unique: Mapping[Label, Mapping[str, Any]], stored: Mapping[Label, Mapping[str, Any]], reader: Reader
) -> None:
    """Check that all references are to elements of the batch, or to stored elements of the trace.

    Without the check, relationships to missing nodes would be dropped silently.

    Args:
        batch: the batch.
        unique: the elements of the batch, by label and id.
        stored: stored elements, as far as known; further elements are looked up.
        reader: for the look-ups.

    Raises:
        InputError: an element refers to an element that is neither in the batch nor stored.
    """
    known: dict[Label, set[Any]] = {}
    for place, label, ids in references(batch):
        if label not in known:
            known[label] = {None, *unique[label], *_of_trace(batch.trace.id, stored.get(label, {}).values())}
        missing = ids - known[label]
        if not missing:
            continue
        found = await reader.get(label, [id_ for id_ in missing if id_ is not None])
        known[label] |= _of_trace(batch.trace.id, found)
        for id_ in missing - known[label]:
            raise InputError("batch", place, f"refers to {label.lower()} {id_}, which does not exist")


def _of_trace(trace_id: str, elements: Iterable[Any]) -> set[str]:
    return {element.id for element in elements if element.trace_id == trace_id}
