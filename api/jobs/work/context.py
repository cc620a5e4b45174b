"""The context of a job's work, and how work is stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from store.contract.annotations import Annotations
from store.contract.protocol import GraphStore

if TYPE_CHECKING:
    from api.jobs.uploads import Uploads

Document = dict[str, Any]


class Cancelled(Exception):  # noqa: N818 — the answer to a request, not an error
    """Somebody asked to stop the job."""


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a job's work.

    Attributes:
        store: the job's project.
        queues: the annotation queues of the project.
        tell: takes the stage, the done items and all items (0 if unknown). It raises ``Cancelled`` if the job should
            stop.
        max_inflated_bytes: the most that an uploaded file may unpack to.
        max_inflated_ratio: the most times its own size that a file may unpack to.
    """

    store: GraphStore
    queues: Annotations
    uploads: Uploads
    tell: Callable[[str, int, int], None]
    max_inflated_bytes: int | None
    max_inflated_ratio: int | None = None
