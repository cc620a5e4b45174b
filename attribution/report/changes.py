"""What to change first in a project, without making a whole report: reads only what levers need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.report.failure_report import OperationRef, PromptRef
from attribution.report.gather import chosen, operation_ref, prompts_of
from attribution.report.levers import levers
from attribution.report.missed_ranks import Missed, holder, missed_ranks
from attribution.report.model import Lever
from attribution.verdicts.verdict import from_attribution
from schema.kinds import ErrorType
from schema.models import Attribution, Failure
from store.contract.answers import OperationDetail
from store.contract.protocol import GraphStore

_DETAILS = 100


@dataclass(frozen=True, slots=True)
class _Explained:
    number: int
    failure_id: str
    error_type: ErrorType | None
    operation: OperationRef | None
    prompts: Sequence[PromptRef]


async def what_to_change(store: GraphStore, failures: Sequence[Failure], source: str | None = None) -> list[Lever]:
    """The levers that a report on some failures would have, the lever with most failures first.

    Args:
        store: holds the failures.
        failures: ordered by trace and id, as the store lists them.
        source: a method or an author whose newest verdict on each failure counts; None for the newest verdict by a
            method.
    """
    return await levers_of(store, await chosen(store, failures, source))


async def levers_of(store: GraphStore, verdicts: Sequence[Attribution]) -> list[Lever]:
    """The levers that some verdicts name, at most one verdict for each failure; the lever with most failures first."""
    naming = [one for one in verdicts if one.error_type is not None]
    blamed = list(dict.fromkeys(one.operation_id for one in naming if one.operation_id is not None))
    details: dict[str, OperationDetail] = {}
    for start in range(0, len(blamed), _DETAILS):
        details |= await store.operations(blamed[start : start + _DETAILS])
    explained = [_explained(number, one, details.get(one.operation_id or "")) for number, one in enumerate(naming, 1)]
    ranks = await missed_ranks(store, filter(None, map(_missed, naming)))
    return levers(explained, len(verdicts), ranks)


def _explained(number: int, one: Attribution, detail: OperationDetail | None) -> _Explained:
    if detail is None:
        return _Explained(number, one.failure_id, one.error_type, None, ())
    return _Explained(number, one.failure_id, one.error_type, operation_ref(detail.operation), prompts_of(detail))


def _missed(one: Attribution) -> Missed | None:
    """What a search missed; None if the verdict blames no search."""
    if one.error_type is not ErrorType.RETRIEVAL or one.operation_id is None:
        return None
    verdict = from_attribution(one)
    paths = [loss.path for loss in verdict.losses if loss.operation_id == one.operation_id] or [verdict.path]
    held = frozenset(filter(None, map(holder, paths)))
    return Missed(one.failure_id, one.trace_id, one.operation_id, held)
