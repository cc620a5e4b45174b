"""Computes spines from a store on request. Spines are not stored."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress

from attribution.spine.build import SpineSources, build
from attribution.spine.choose import roots
from attribution.spine.model import BOXES, LEAST_BOXES, MOST_BOXES, Spine
from attribution.verdicts.stored import by_id, word_on
from attribution.verdicts.verdict import from_attribution
from schema.errors import InputError, NotFoundError
from schema.models import Attribution, Failure, Variable
from store.contract.answers import Closure
from store.contract.protocol import GraphStore

_AT_ONCE = 8
"""The number of pasts in memory at a time."""
_NOTHING = "[]"


def check_boxes(most: int) -> int:
    """Check a maximal number of boxes.

    Raises:
        InputError: it is not from 5 to 60.
    """
    if not LEAST_BOXES <= most <= MOST_BOXES:
        raise InputError("maxBoxes", "", f"{most} is not from {LEAST_BOXES} to {MOST_BOXES}")
    return most


async def spines(
    store: GraphStore, failures: Sequence[Failure], most: int = BOXES, about: Mapping[str, str] | None = None
) -> dict[str, Spine]:
    """The spines of several failures, by the failure's id.

    Losses come from the verdict in ``about``, else from the verdict that counts: a person's before a model's before the
    free pass's. Without a verdict, a spine shows the evidence, the question, the answer, and what the answer was made
    from.

    Args:
        store: holds the failures.
        failures: to draw.
        most: the maximal number of boxes of each spine, 5 to 60.
        about: ids of verdicts to follow, by failure.

    Raises:
        InputError: ``most`` is out of range.
    """
    check_boxes(most)
    found: dict[str, Spine] = {}
    for start in range(0, len(failures), _AT_ONCE):
        for told in await _told(store, failures[start : start + _AT_ONCE], about or {}):
            found[told.failure.id] = await asyncio.to_thread(build, told, most)
    return found


async def _told(store: GraphStore, failures: Sequence[Failure], about: Mapping[str, str]) -> list[SpineSources]:
    """Read everything that the spines of some failures need."""
    said = await _said(store, failures, about)
    verdicts = {id_: from_attribution(one) for id_, one in said.items()}
    pasts = await _pasts(store, failures, [roots(one, verdicts.get(one.id)) for one in failures])
    blamed = [loss.operation_id for one in verdicts.values() for loss in one.losses]
    blamed += [one.operation_id for one in verdicts.values()]
    operations = await store.operations(list(dict.fromkeys(id_ for id_ in blamed if id_ is not None)))
    return [
        SpineSources(one, said.get(one.id), verdicts.get(one.id), past, operations)
        for one, past in zip(failures, pasts, strict=True)
    ]


async def _pasts(store: GraphStore, failures: Sequence[Failure], wanted: Sequence[Sequence[str]]) -> Sequence[Closure]:
    """The backward closure of the wanted variables of each failure.

    Paths of pieces are not checked when a verdict is stored, so that a verdict may name variables that are gone or
    belong to another trace. This is rare, so that missing variables are only looked for after an error.
    """
    with suppress(NotFoundError):
        found = await store.closures(wanted)
        of_trace = zip(failures, found, strict=True)
        if all(variable.trace_id == one.trace_id for one, past in of_trace for variable in past.variables):
            return found
    there = await by_id(store, Variable, (id_ for ids in wanted for id_ in ids))
    return await store.closures(
        [
            [id_ for id_ in ids if id_ in there and there[id_].trace_id == one.trace_id]
            for one, ids in zip(failures, wanted, strict=True)
        ]
    )


async def _said(store: GraphStore, failures: Sequence[Failure], about: Mapping[str, str]) -> dict[str, Attribution]:
    """The verdict on each failure: from ``about``, else the verdict that counts.

    A verdict without a path, such as a person's, is replaced by an equal one with a path.
    """
    found = await store.attributions([one.id for one in failures])
    said = word_on(found, failures)
    for one in found:
        if one.failure_id in about:
            continue
        counts = said[one.failure_id]
        same = (counts.error_type, counts.operation_id) == (one.error_type, one.operation_id)
        if same and not _has_path(counts) and _has_path(one):
            said[one.failure_id] = one
    return said | {one.failure_id: one for one in found if about.get(one.failure_id) == one.id}


def _has_path(verdict: Attribution) -> bool:
    return verdict.evidence != _NOTHING or verdict.losses != _NOTHING
