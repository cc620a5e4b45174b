"""Takes back a user's report of a wrong answer."""

from __future__ import annotations

from ingest.events.complaints import EntryOf, failures_of
from schema.errors import InputError, NotFoundError
from schema.kinds import Origin
from schema.models import Failure, Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.resolving import ambiguous, by_name, is_prefix


async def find_reported(store: GraphStore, reference: str, trace_id: str | None = None) -> Failure:
    """The user-reported failure that ``reference`` names, by the failure's own id or by its answer.

    Raises:
        NotFoundError: there is no such failure or answer, or no failure has the answer.
        AmbiguousError: several failures match.
        InputError: no user reported the failure.
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
    """Delete a user-reported failure with its verdicts; returns counts of deleted elements by label.

    The answer then counts as not judged, unless another failure has the same answer.

    Args:
        store: contains the failure.
        failure: the stored failure.
        entry_of: makes the entry of the audit log.

    Raises:
        InputError: no user reported the failure.
        NotFoundError: the failure was deleted meanwhile.
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
    """The failure, if a user reported it; verdicts of judges and annotations belong to the recording."""
    if failure.origin is not Origin.USER:
        said = "an LLM judge" if failure.origin is Origin.JUDGE else "an annotation in the data"
        problem = f"was recorded by {said}, and stays: only what a user reported can be withdrawn"
        raise InputError("failure", failure.id, problem)
    return failure
