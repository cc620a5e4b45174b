"""What people said of a failure over time, and how a person takes back what they said last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingest.events.complaints import EntryOf
from schema.annotation import VerdictChange
from schema.errors import InputError
from schema.models import Attribution
from store.contract.protocol import GraphStore
from store.contract.verdict_changes import adjudication_id, first_change, is_human, read_said


async def history(store: GraphStore, failure_ids: Sequence[str]) -> dict[str, list[VerdictChange]]:
    """All changes of people's verdicts on some failures, by the failure's id, the oldest first.

    A verdict that never changed has one: that it was given.
    """
    found: dict[str, list[VerdictChange]] = {id_: [] for id_ in failure_ids}
    known = set()
    for change in await store.verdict_changes(failure_ids):
        known.add(change.attribution_id)
        found[change.failure_id].append(change)
    for verdict in await store.attributions(failure_ids):
        if is_human(verdict) and verdict.id not in known:
            found[verdict.failure_id].append(first_change(verdict))
    return {id_: sorted(some, key=lambda one: (one.changed_at, one.id)) for id_, some in found.items()}


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back.

    Attributes:
        attribution_id: the verdict.
        verdict: as it was before; None if it was the first, and so is withdrawn.
    """

    attribution_id: str
    verdict: Attribution | None


async def undo_verdict(
    store: GraphStore, failure_id: str, author: str, entry_of: EntryOf | None = None, by: str | None = None
) -> Undone:
    """Take back the last change of a person's verdict on a failure: the one before it stands again.

    If it was the first, the verdict is withdrawn; if it was withdrawn, it stands again.

    Args:
        store: holds the failure.
        failure_id: what the verdict is on.
        author: whose verdict it is.
        entry_of: tells of it in the audit log.
        by: who takes it back; None is the author.

    Raises:
        InputError: nothing is left that the author has said.
    """
    changes = (await history(store, [failure_id]))[failure_id]
    standing = [one for one in changes if one.undone_at is None]
    # The final word on a disputed case is not what they said of it as an annotator.
    own = verdicts_of(changes, author) - {adjudication_id(failure_id)}
    last = next((one for one in reversed(standing) if one.attribution_id in own), None)
    if last is None:
        raise InputError("verdict", failure_id, f"there is nothing of {author!r} to undo")
    entry = entry_of(last.attribution_id) if entry_of else None
    return Undone(last.attribution_id, await store.undo_verdict(last.attribution_id, by or author, entry))


def verdicts_of(changes: Iterable[VerdictChange], author: str) -> set[str]:
    """The ids of the verdicts that a person gave, by what their changes say."""
    return {one.attribution_id for one in changes if one.said is not None and read_said(one.said).author == author}
