"""Whether what a batch refers to is in it or stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schema.errors import InputError
from schema.models import Batch
from store.answers import Label
from store.neo4j.read import Reader
from store.references import references


async def check_references(batch: Batch, unique: Mapping[Label, Mapping[str, Any]], reader: Reader) -> None:
    """What is referred to is in the batch, or in the stored part of the trace.

    An edge to nothing would be lost without a word.

    Raises:
        InputError: something is in neither.
    """
    known: dict[Label, set[Any]] = {}
    for place, label, ids in references(batch):
        if label not in known:
            known[label] = {None, *unique[label]}
        missing = ids - known[label]
        if not missing:
            continue
        stored: list[Any] = await reader.get(label, [id_ for id_ in missing if id_ is not None])
        known[label].update(element.id for element in stored if element.trace_id == batch.trace.id)
        for id_ in missing - known[label]:
            raise InputError("batch", place, f"refers to {label.lower()} {id_}, which does not exist")
