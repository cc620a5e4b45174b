"""The history of people's verdicts on a failure, and undoing a person's last change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingest.events.feedback import EntryOf
from schema.annotation import VerdictChange
from schema.errors import InputError
from schema.models import Attribution
from store.contract.protocol import GraphStore
from store.contract.verdict_changes import adjudication_id, first_change, is_human, read_said


async def history(store: GraphStore, failure_ids: Sequence[str]) -> dict[str, list[VerdictChange]]:
    """All changes of people's verdicts on some failures, by the failure's id, oldest first.

    An unchanged verdict has one entry, for its creation.
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
    """The result of undoing a change.

    Attributes:
        attribution_id: the verdict.
        verdict: as restored; None if the undone change was the first, so that the verdict is withdrawn.
    """

    attribution_id: str
    verdict: Attribution | None


async def undo_verdict(
    store: GraphStore, failure_id: str, author: str, entry_of: EntryOf | None = None, by: str | None = None
) -> Undone:
    """Undo the last change of a person's verdict on a failure, which restores the verdict before.

    Undoing the first verdict withdraws it; undoing a withdrawal restores the verdict.

    Args:
        store: holds the failure.
        failure_id: of the verdict.
        author: of the verdict.
        entry_of: makes the entry of the audit log.
        by: the person who undoes; None means the author.

    Raises:
        InputError: the author has no verdict left.
    """
    changes = (await history(store, [failure_id]))[failure_id]
    standing = [one for one in changes if one.undone_at is None]
    # The final word on a disputed case is separate from the author's verdict as an annotator.
    own = verdicts_of(changes, author) - {adjudication_id(failure_id)}
    last = next((one for one in reversed(standing) if one.attribution_id in own), None)
    if last is None:
        raise InputError("verdict", failure_id, f"there is nothing of {author!r} to undo")
    entry = entry_of(last.attribution_id) if entry_of else None
    return Undone(last.attribution_id, await store.undo_verdict(last.attribution_id, by or author, entry))


def verdicts_of(changes: Iterable[VerdictChange], author: str) -> set[str]:
    """The ids of a person's verdicts, according to their changes."""
    return {one.attribution_id for one in changes if one.said is not None and read_said(one.said).author == author}
