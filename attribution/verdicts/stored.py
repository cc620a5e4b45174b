"""Reads failures and verdicts from a store, and decides which verdict counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from attribution.verdicts.gold import on_earlier_gold
from attribution.verdicts.verdict import has_failed
from schema.kinds import HUMAN_METHOD
from schema.models import Attribution, Element, Failure, Operation, Session, Trace, Variable
from store.contract.answers import ALL_FAILURES, FailureFilter, FailureOrder, Label
from store.contract.protocol import GraphStore
from store.contract.verdict_changes import is_adjudicated
from store.shared.paging import every
from store.shared.references import losses

E = TypeVar("E", Trace, Session, Operation, Variable, Failure, Attribution)

_PAGE = 1000


async def by_id(store: GraphStore, model: type[E], ids: Iterable[str | None]) -> dict[str, E]:
    """The elements of a model with these ids, by id; unknown ids are left out."""
    wanted = list(dict.fromkeys(id_ for id_ in ids if id_ is not None))
    found: list[Element] = await store.get(Label(model.__name__), wanted) if wanted else []
    return {element.id: element for element in found if isinstance(element, model)}


async def operations_at_fault(store: GraphStore, verdicts: Iterable[Attribution]) -> dict[str, Operation]:
    """The operations that verdicts blame and the operations that lost a piece, by id."""
    ids: list[str | None] = []
    for verdict in verdicts:
        ids += [verdict.operation_id, *(loss["operationId"] for loss in losses(verdict))]
    return await by_id(store, Operation, ids)


async def every_failure(
    store: GraphStore, trace_id: str | None, order: FailureOrder | None = None, wanted: FailureFilter = ALL_FAILURES
) -> list[Failure]:
    """All wanted failures of one trace or of the project, by default ordered by trace and id."""
    pages = every(lambda after: store.failures(trace_id, _PAGE, after, wanted, order))
    return [failure async for failure in pages]


def word_on(verdicts: Iterable[Attribution], failures: Iterable[Failure]) -> dict[str, Attribution]:
    """The verdict that counts for each failure, by the failure's id.

    The order of precedence: the final word on a disputed failure; a person's verdict; a model's; the free pass's; a
    model's abstention, which may be its server's fault; a failed attempt. A verdict on earlier gold answers comes after
    all others. Among equals the newest counts.

    Args:
        verdicts: oldest first, as the store gives them.
        failures: the failures of the verdicts.
    """
    of = {failure.id: failure for failure in failures}
    said: dict[str, Attribution] = {}
    ranks: dict[str, tuple[bool, int]] = {}
    for verdict in verdicts:
        id_ = verdict.failure_id
        rank = (not on_earlier_gold(verdict, of[id_]), _rank(verdict))
        if id_ not in said or rank >= ranks[id_]:
            said[id_], ranks[id_] = verdict, rank
    return said


def newest(verdicts: Iterable[Attribution], failure: Failure) -> list[Attribution]:
    """The verdicts on a failure without those that a newer one replaced, oldest first.

    A verdict replaces an older one of the same person, or of the same method and model: after a change of the rules, or
    of the gold answer. A failed attempt replaces no verdict, and a verdict on earlier gold answers none on the present
    ones. The verdict that counts is never left out.

    Filters of failures (``wanted.newest`` in the queries of both stores) decide by time alone: there, a verdict on gold
    answers that were changed and changed back may be left out.

    Args:
        verdicts: on this failure, oldest first, as the store gives them.
        failure: the failure.
    """
    every = list(verdicts)
    late = sorted(every, key=lambda one: not on_earlier_gold(one, failure))
    last = {(one.method, one.model, one.author, is_adjudicated(one), has_failed(one)): one for one in late}
    shown = {one.id for one in (*last.values(), *word_on(every, [failure]).values())}
    return [one for one in every if one.id in shown]


def _rank(verdict: Attribution) -> int:
    if is_adjudicated(verdict):
        return 4
    if verdict.method == HUMAN_METHOD:
        return 3
    if has_failed(verdict):
        return -1
    if verdict.model is None:
        return 1
    return 0 if verdict.error_type is None else 2
