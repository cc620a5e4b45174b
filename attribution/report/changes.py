"""What to change first in a project, without making a whole report: reads only what levers need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.report.failure_report import OperationRef, PromptRef
from attribution.report.gather import chosen, operation_ref, prompts_of
from attribution.report.levers import levers
from attribution.report.model import Lever
from schema.kinds import ErrorType
from schema.models import Failure
from store.contract.answers import OperationDetail
from store.contract.protocol import GraphStore

_DETAILS = 100


@dataclass(frozen=True, slots=True)
class _Explained:
    number: int
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
    verdicts = await chosen(store, failures, source)
    naming = [one for one in verdicts if one.error_type is not None]
    blamed = list(dict.fromkeys(one.operation_id for one in naming if one.operation_id is not None))
    details: dict[str, OperationDetail] = {}
    for start in range(0, len(blamed), _DETAILS):
        details |= await store.operations(blamed[start : start + _DETAILS])
    explained = [
        _explained(number, one.error_type, details.get(one.operation_id or "")) for number, one in enumerate(naming, 1)
    ]
    return levers(explained, len(verdicts))


def _explained(number: int, error_type: ErrorType | None, detail: OperationDetail | None) -> _Explained:
    if detail is None:
        return _Explained(number, error_type, None, ())
    return _Explained(number, error_type, operation_ref(detail.operation), prompts_of(detail))
