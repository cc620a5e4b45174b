"""The history of people's verdicts: how it is asked for, and what becomes of a verdict when it changes.

A verdict that never changed has no history stored: that is what it says now. When it changes, the store keeps both what
it said and what it says, in the transaction of the change, whoever makes it.
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
"""The attribute of a verdict that is the final word on a case on which its annotators disagreed."""

_NAMES = {item.name: camel_case(item.name) for item in fields(Attribution)}


class VerdictHistory(Protocol):
    """What a project's store answers about the history of verdicts."""

    async def verdict_changes(self, failure_ids: Sequence[str]) -> list[VerdictChange]:
        """The changes of people's verdicts on some failures, by verdict and number.

        A verdict that never changed has none.
        """
        ...

    async def delete_attributions(
        self, ids: Sequence[str], entry: AuditEntry | None = None, by: str | None = None
    ) -> int:
        """Delete verdicts; how many there were. ``entry`` is written to the audit log if there were any.

        What people said stays in the history, withdrawn ``by`` a person; None is its author.
        """
        ...

    async def withheld(self, failure_ids: Sequence[str]) -> frozenset[str]:
        """Those of some failures of which nothing may be told that a verdict could say, see ``store.blind``."""
        return frozenset()

    async def withheld_by(self, failure_ids: Sequence[str]) -> dict[str, list[AnnotationQueue]]:
        """The open queues for which each of some failures is withheld, by its id, see ``store.blind``."""
        return {}

    async def undo_verdict(self, attribution_id: str, by: str, entry: AuditEntry | None = None) -> Attribution | None:
        """Take back the last change of a person's verdict, in one transaction.

        Args:
            attribution_id: the verdict, which may have been withdrawn.
            by: the person who takes it back.
            entry: for the audit log; see ``store.shared.auditing``.

        Returns:
            The verdict as it was before; None if there was none before.

        Raises:
            NotFoundError: there is no such verdict of a person, or all of it was undone before.
        """
        ...


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo does.

    Attributes:
        changes: to be stored, in place of those with the same ids.
        verdict: what stands now; None for none.
    """

    changes: list[VerdictChange]
    verdict: Attribution | None


def is_human(verdict: Attribution) -> bool:
    """Whether a person gave it: only those have a history."""
    return verdict.method == HUMAN_METHOD


def is_adjudicated(verdict: Attribution) -> bool:
    """Whether it is the final word on a case on which its annotators disagreed; see ``ADJUDICATED``."""
    return is_human(verdict) and verdict.id == adjudication_id(verdict.failure_id)


def adjudication_id(failure_id: str) -> str:
    """The id of the final word on a failure: there is one, whoever says it."""
    return make_id("Attribution", failure_id, HUMAN_METHOD, ADJUDICATED, "")


def changes_of(
    new: Attribution | None, stored: Attribution | None, last: int, by: str | None = None
) -> list[VerdictChange]:
    """What the history of a verdict gets when it is stored or withdrawn; nothing if it says what it said.

    Args:
        new: what it says from now on; None if it is withdrawn.
        stored: what it says until now; None for nothing.
        last: the number of its last change; 0 if none is stored.
        by: who withdraws it; None is its author.

    Raises:
        InputError: it was changed too often.
    """
    if new is not None and stored is not None:
        # What a replay showed of it is not what the person says.
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
    """The first change of a verdict that never changed: that it was given."""
    return _change(stored, 1, stored.created_at or datetime.now(UTC), stored.author or "", stored)


def undone(attribution_id: str, stored: Attribution | None, changes: Sequence[VerdictChange], by: str) -> Undone:
    """What taking back the last change does.

    Args:
        attribution_id: the verdict.
        stored: what it says now; None for nothing.
        changes: all that are stored, by number.
        by: who takes it back.

    Raises:
        NotFoundError: nothing stands that could be taken back.
    """
    known = list(changes) or ([first_change(stored)] if stored is not None and is_human(stored) else [])
    standing = [one for one in known if one.undone_at is None]
    if not standing:
        raise NotFoundError(attribution_id, Label.ATTRIBUTION.value)
    taken = replace(standing[-1], undone_at=datetime.now(UTC), undone_by=by)
    before = standing[-2].said if len(standing) > 1 else None
    return Undone([taken], None if before is None else read_said(before))


def read_said(text: str) -> Attribution:
    """The verdict that a change holds."""
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
