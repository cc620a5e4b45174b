"""Reports of wrong answers that are taken back."""

from __future__ import annotations

from ingest.events.complaints import EntryOf, failures_of
from schema.errors import InputError, NotFoundError
from schema.kinds import Origin
from schema.models import Failure, Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.resolving import ambiguous, by_name, is_prefix


async def find_reported(store: GraphStore, reference: str, trace_id: str | None = None) -> Failure:
    """The failure that a reference means: the failure's own, or that of an answer which one user-reported failure has.

    Raises:
        NotFoundError: there is no such failure or answer, or no failure has the answer.
        AmbiguousError: it may mean several.
        InputError: no user reported it.
    """
    failure = await _named(store, reference, Label.FAILURE, trace_id)
    if isinstance(failure, Failure) and not is_prefix(reference):
        return _checked(failure)
    answer = await _named(store, reference, Label.VARIABLE, trace_id)
    if failure is None and answer is None:
        answer = await by_name(store, reference, trace_id)
    if failure is not None and answer is not None:
        raise ambiguous(reference, [failure, answer])
    if isinstance(failure, Failure):
        return _checked(failure)
    if not isinstance(answer, Variable):
        raise NotFoundError(reference, "failure or answer")
    found = [one async for one in failures_of(store, answer)]
    reported = [one for one in found if one.origin is Origin.USER]
    if len(reported) > 1:
        raise ambiguous(reference, reported)
    if not found:
        raise NotFoundError(reference, "failure of the answer")
    return _checked((reported or found)[0])


async def withdraw_failure(store: GraphStore, failure: Failure, entry_of: EntryOf | None = None) -> dict[str, int]:
    """Delete a failure that a user reported, with all verdicts on it; counts by label.

    Nobody has judged its answer then, unless another failure has the same answer.

    Args:
        store: holds it.
        failure: as it is stored.
        entry_of: tells of it in the audit log.

    Raises:
        InputError: no user reported it.
        NotFoundError: it is gone.
    """
    _checked(failure)
    return await store.delete_failure(failure.id, entry_of(failure.id) if entry_of else None)


async def _named(store: GraphStore, reference: str, label: Label, trace_id: str | None) -> Failure | Variable | None:
    try:
        found = await store.resolve(reference, label, trace_id)
    except NotFoundError:
        return None
    assert isinstance(found, Failure | Variable)
    return found


def _checked(failure: Failure) -> Failure:
    """The failure, if a user reported it: what a judge or an annotation says is part of what was recorded."""
    if failure.origin is not Origin.USER:
        said = "an LLM judge" if failure.origin is Origin.JUDGE else "an annotation in the data"
        problem = f"was recorded by {said}, and stays: only what a user reported can be withdrawn"
        raise InputError("failure", failure.id, problem)
    return failure
