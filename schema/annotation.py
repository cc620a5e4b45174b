"""What is kept of people's work on failures beside their verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

MAX_CHANGES = 1000
"""So often one person's verdict on a failure may be changed."""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """What a person said of a failure at a moment; the newest that is not undone is what they say.

    Attributes:
        attribution_id: the verdict, whose id stays the same while what it says changes.
        number: of the change, from 1; it was undone if later ones stand no more than it does.
        changed_by: the person; an admin may withdraw another person's verdict.
        said: JSON text, the whole verdict, its names in camel case; None if it was withdrawn.
        undone_at, undone_by: when this change was taken back, and by whom; None while it stands.
    """

    id: str
    project_id: str
    trace_id: str
    failure_id: str
    attribution_id: str
    number: int
    changed_at: datetime
    changed_by: str
    said: str | None
    undone_at: datetime | None = None
    undone_by: str | None = None
