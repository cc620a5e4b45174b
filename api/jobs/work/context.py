"""What the work of a job gets, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from store.contract.annotations import Annotations
from store.contract.protocol import GraphStore

if TYPE_CHECKING:
    from api.jobs.uploads import Uploads

Document = dict[str, Any]


class Cancelled(Exception):  # noqa: N818 — it is an answer to a wish, not an error
    """Somebody asked to stop the job."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a job's work gets.

    Attributes:
        store: the job's project.
        queues: the annotation queues of the project.
        tell: takes the stage, what is done and what there is (0 while it is not known). It raises ``Cancelled`` where
            the job is to stop.
        max_inflated_bytes: the most that an uploaded file may unpack to.
        max_inflated_ratio: how many times its own size that may be.
    """

    store: GraphStore
    queues: Annotations
    uploads: Uploads
    tell: Callable[[str, int, int], None]
    max_inflated_bytes: int | None
    max_inflated_ratio: int | None = None
