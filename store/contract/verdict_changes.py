"""The history of people's verdicts.

The store keeps no history for a verdict that never changed. The first change stores the old verdict as change 1 and the
new verdict as change 2, in the transaction of the change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, Protocol

import msgspec

from schema.annotation import MAX_CHANGES, AnnotationQueue, VerdictChange
from schema.control import AuditEntry
from schema.errors import InputError, NotFoundError
from schema.ids import make_id
from schema.kinds import HUMAN_METHOD
from schema.models import Attribution, camel_case
from store.contract.answers import Label

ADJUDICATED = "adjudicated"
"""The attribute of a final word: a verdict that ends a disagreement between annotators."""

_NAMES = {item.name: camel_case(item.name) for item in fields(Attribution)}


class VerdictHistory(Protocol):
    """The methods of a ``GraphStore`` about the history of verdicts."""

    async def verdict_changes(self, failure_ids: Sequence[str]) -> list[VerdictChange]:
        """The stored changes of people's verdicts on some failures, by verdict and number."""
        ...

    async def delete_attributions(
        self, ids: Sequence[str], entry: AuditEntry | None = None, by: str | None = None
    ) -> int:
        """Delete verdicts, and return how many existed. ``entry`` is written to the audit log if any existed.

        A person's verdict stays in the history, as withdrawn ``by`` a person; None means the author.
        """
        ...

    async def withheld(self, failure_ids: Sequence[str]) -> frozenset[str]:
        """The failures whose verdicts are hidden from the caller; see ``store.blind``."""
        return frozenset()

    async def withheld_by(self, failure_ids: Sequence[str]) -> dict[str, list[AnnotationQueue]]:
        """The open queues that hide verdicts from the caller, by the id of the failure; see ``store.blind``."""
        return {}

    async def undo_verdict(self, attribution_id: str, by: str, entry: AuditEntry | None = None) -> Attribution | None:
        """Undo the last change of a person's verdict, in one transaction.

        Args:
            attribution_id: the verdict, also if withdrawn.
            by: the person who undoes the change.
            entry: for the audit log; see ``store.shared.auditing``.

        Returns:
            The verdict before the change; None if the change gave the verdict.

        Raises:
            NotFoundError: the id is not of a person's verdict, or all changes are undone.
        """
        ...


@dataclass(frozen=True, slots=True)
class Undone:
    """The effect of an undo.

    Attributes:
        changes: to be stored in place of the changes with the same ids.
        verdict: the verdict after the undo; None if the verdict is gone.
    """

    changes: list[VerdictChange]
    verdict: Attribution | None


def is_human(verdict: Attribution) -> bool:
    """Whether a person gave the verdict; only such verdicts have a history."""
    return verdict.method == HUMAN_METHOD


def is_adjudicated(verdict: Attribution) -> bool:
    """Whether a verdict is the final word on its failure; see ``ADJUDICATED``."""
    return is_human(verdict) and verdict.id == adjudication_id(verdict.failure_id)


def adjudication_id(failure_id: str) -> str:
    """The id of the final word on a failure; the id does not depend on the author."""
    return make_id("Attribution", failure_id, HUMAN_METHOD, ADJUDICATED, "")


def changes_of(
    new: Attribution | None, stored: Attribution | None, last: int, by: str | None = None
) -> list[VerdictChange]:
    """The entries that the history gets when a verdict is given, changed or withdrawn; none if nothing differs.

    Args:
        new: the new verdict; None withdraws the verdict.
        stored: the stored verdict; None if none is stored.
        last: the number of the last stored change; 0 without a history.
        by: the person who withdraws the verdict; None means the author.

    Raises:
        InputError: the verdict was changed ``MAX_CHANGES`` times.
    """
    if new is not None and stored is not None:
        # The proof is the result of a replay, not part of the person's statement.
        said = replace(new, created_at=stored.created_at, proof=stored.proof)
        if said == stored:
            return []
    if stored is None and last == 0:
        return []
    found = []
    if stored is not None and last == 0:
        found.append(first_change(stored))
        last = 1
    of = new or stored
    assert of is not None
    if last >= MAX_CHANGES:
        raise InputError("verdict", of.id, f"was changed {MAX_CHANGES:,} times: it takes no more")
    at = (new.created_at if new else None) or datetime.now(UTC)
    found.append(_change(of, last + 1, at, by or of.author or "", new))
    return found


def first_change(stored: Attribution) -> VerdictChange:
    """Change 1, which gave the verdict."""
    return _change(stored, 1, stored.created_at or datetime.now(UTC), stored.author or "", stored)


def undone(attribution_id: str, stored: Attribution | None, changes: Sequence[VerdictChange], by: str) -> Undone:
    """The effect of undoing the last change of a verdict.

    Args:
        attribution_id: the verdict.
        stored: the stored verdict; None if none is stored.
        changes: all stored changes, by number.
        by: the person who undoes the change.

    Raises:
        NotFoundError: no change is left to undo.
    """
    known = list(changes) or ([first_change(stored)] if stored is not None and is_human(stored) else [])
    standing = [one for one in known if one.undone_at is None]
    if not standing:
        raise NotFoundError(attribution_id, Label.ATTRIBUTION.value)
    taken = replace(standing[-1], undone_at=datetime.now(UTC), undone_by=by)
    before = standing[-2].said if len(standing) > 1 else None
    return Undone([taken], None if before is None else read_said(before))


def read_said(text: str) -> Attribution:
    """The verdict in the JSON text of a change (``VerdictChange.said``)."""
    found = msgspec.json.decode(text)
    return msgspec.convert({name: found[public] for name, public in _NAMES.items() if public in found}, Attribution)


def _change(of: Attribution, number: int, at: datetime, by: str, said: Attribution | None) -> VerdictChange:
    return VerdictChange(
        id=make_id("VerdictChange", of.id, str(number)),
        project_id=of.project_id,
        trace_id=of.trace_id,
        failure_id=of.failure_id,
        attribution_id=of.id,
        number=number,
        changed_at=at,
        changed_by=by,
        said=None if said is None else _written(said),
    )


def _written(verdict: Attribution) -> str:
    named: dict[str, Any] = {public: getattr(verdict, name) for name, public in _NAMES.items()}
    return msgspec.json.encode(named).decode()
