"""Adds illustrations to cases: their stories, texts before and after the fault, rankings, and what was not chosen."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from attribution.report import words
from attribution.report.case_stories import stories_of
from attribution.report.failure_report import CitedStep, FailureReport, RankedUnit, Ranking, Revision
from attribution.report.picture import broken_step
from attribution.text.lines import TooDifferentError, unified
from attribution.verdicts.naming import variable_label
from attribution.verdicts.stored import by_id
from attribution.why_not.find import why_not
from ingest.events.elements import CONSIDERED, RETURNED
from schema.kinds import STORED, OperationKind
from schema.models import Failure, Usage, Variable
from store.contract.protocol import GraphStore

MOST_BYTES = 1 << 20
"""The maximal size of a text to compare, in bytes."""
MOST_LINES = 30
MOST_RANKED = 10
_LINE = 300
_TEXT = 200
_AT_ONCE = 16
"""The number of pairs of texts in memory at a time."""
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=\S)")


async def illustrate(store: GraphStore, cases: Sequence[FailureReport]) -> list[FailureReport]:
    """Add ``why_not`` and ``story`` to the cases, and ``revision`` and ``ranking`` if the trace has them."""
    revisions = await _revisions(store, cases)
    rankings = await _rankings(store, cases)
    failures = await by_id(store, Failure, (case.failure_id for case in cases))
    reasons = await why_not(store, list(failures.values()))
    stories = await stories_of(store, cases, reasons, rankings)
    return [
        replace(
            case,
            revision=revisions.get(case.failure_id),
            ranking=rankings.get(case.failure_id),
            why_not=reasons.get(case.failure_id, []),
            story=stories.get(case.failure_id),
        )
        for case in cases
    ]


async def _revisions(store: GraphStore, cases: Sequence[FailureReport]) -> dict[str, Revision]:
    broken = {case.failure_id: step for case in cases if (step := _broken(case)) is not None}
    after = await by_id(store, Variable, (step.variable_id for step in broken.values()))
    before = await by_id(store, Variable, (variable.revision_of for variable in after.values()))
    pairs = [
        (failure_id, before[new.revision_of], new)
        for failure_id, step in broken.items()
        if (new := after.get(step.variable_id)) is not None
        and new.kind in STORED
        and new.operation_id == step.operation_id
        and new.revision_of in before
    ]
    found: dict[str, Revision] = {}
    for start in range(0, len(pairs), _AT_ONCE):
        part = pairs[start : start + _AT_ONCE]
        small = [(id_, old, new) for id_, old, new in part if max(old.size, new.size) <= MOST_BYTES]
        texts = await store.values([variable for _, *both in small for variable in both])
        for failure_id, old, new in small:
            revision = await asyncio.to_thread(_revision, old, new, texts)
            if revision is not None:
                found[failure_id] = revision
    return found


def _broken(case: FailureReport) -> CitedStep | None:
    place = broken_step(case)
    return None if place is None else case.path[place]


def _revision(old: Variable, new: Variable, texts: dict[str, bytes]) -> Revision | None:
    """The differences of two versions; None if there are too many."""
    try:
        lines, added, removed = unified(_lines(texts[old.value_hash]), _lines(texts[new.value_hash]), "", "")
    except TooDifferentError:
        return None
    shown = lines[2:]  # without the lines with the names of the versions
    return Revision(
        before=variable_label(old),
        before_id=old.id,
        before_external_id=old.external_id,
        after=variable_label(new),
        after_id=new.id,
        after_external_id=new.external_id,
        lines=[words.cut(line, _LINE) for line in shown[:MOST_LINES]],
        added=added,
        removed=removed,
        is_cut=len(shown) > MOST_LINES,
    )


def _lines(value: bytes) -> str:
    """A value with one line for each sentence, because a memory often stores one long line."""
    return _BETWEEN_SENTENCES.sub("\n", value.decode("utf-8", "replace"))


async def _rankings(store: GraphStore, cases: Iterable[FailureReport]) -> dict[str, Ranking]:
    searches: dict[str, dict[str, list[Usage]]] = defaultdict(dict)
    missed = [case for case in cases if case.operation is not None and case.operation.kind is OperationKind.RETRIEVAL]
    for case in missed:
        if case.operation is not None:
            searches[case.trace_id][case.operation.id] = []
    for trace_id, wanted in searches.items():
        for usage in await store.usages(trace_id):
            if usage.operation_id in wanted and usage.role in {CONSIDERED, RETURNED}:
                wanted[usage.operation_id].append(usage)
    rated = {id_: usages for wanted in searches.values() for id_, usages in wanted.items() if usages}
    shown = {
        case.failure_id: _shown(case, rated[case.operation.id])
        for case in missed
        if case.operation is not None and case.operation.id in rated
    }
    units = await by_id(store, Variable, (usage.variable_id for ranked in shown.values() for _, usage in ranked))
    return {
        case.failure_id: _ranking(case, rated[case.operation.id], shown[case.failure_id], units)
        for case in missed
        if case.operation is not None and case.failure_id in shown
    }


def _holder(case: FailureReport) -> str | None:
    """The last variable with the needed fact."""
    place = broken_step(case)
    return case.path[place - 1].variable_id if place else None


def _shown(case: FailureReport, usages: list[Usage]) -> list[tuple[int, Usage]]:
    """The first units and the missed unit, each with its rank."""
    usages.sort(key=lambda usage: usage.position)
    holder = _holder(case)
    ranked = enumerate(usages, 1)
    return [(rank, usage) for rank, usage in ranked if rank <= MOST_RANKED or usage.variable_id == holder]


def _ranking(
    case: FailureReport, usages: Sequence[Usage], shown: Sequence[tuple[int, Usage]], units: dict[str, Variable]
) -> Ranking:
    holder = _holder(case)
    return Ranking(
        units=[
            RankedUnit(
                rank=rank,
                label=variable_label(units[usage.variable_id]),
                variable_id=usage.variable_id,
                external_id=units[usage.variable_id].external_id,
                text=words.cut(units[usage.variable_id].preview, _TEXT),
                score=usage.score,
                is_returned=usage.role == RETURNED,
                is_missed=usage.variable_id == holder,
            )
            for rank, usage in shown
        ],
        considered=len(usages),
        returned=sum(usage.role == RETURNED for usage in usages),
        missed=next((rank for rank, usage in shown if usage.variable_id == holder), None),
    )
