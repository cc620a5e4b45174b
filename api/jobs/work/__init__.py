"""What jobs do: one module a kind. They know nothing of queues and leases, and may be run again at any time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from api.jobs.arguments import AttributeArguments, ImportArguments, ReportArguments
from schema.control import JobKind
from schema.errors import InputError
from store.annotations import Annotations
from store.protocol import GraphStore

if TYPE_CHECKING:
    from api.jobs.uploads import Uploads

Document = dict[str, Any]


class Cancelled(Exception):  # noqa: N818 — it is an answer to a wish, not an error
    """Somebody asked to stop the job."""


@dataclass(frozen=True, slots=True)
class Context:
    """What work is given.

    Attributes:
        store: the job's project.
        queues: of the project.
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


async def check(store: GraphStore, arguments: BaseModel) -> None:
    """Refuse what can't be done before it is taken.

    Raises:
        InputError: the arguments or this process's settings do not allow it.
        NotFoundError: the arguments name what is not in the project.
    """
    await asyncio.to_thread(_load)
    from api.jobs.work import attributes, imports, reports

    if isinstance(arguments, ImportArguments):
        imports.check(arguments)
    elif isinstance(arguments, AttributeArguments):
        await attributes.check(store, arguments)
    elif isinstance(arguments, ReportArguments):
        await reports.check(store, arguments)
    else:
        raise TypeError(type(arguments).__name__)


def _load() -> None:
    """Import what work needs. In a thread, for the first time takes longer than the loop may be held."""
    from api.jobs.work import attributes, imports, reports  # noqa: F401


async def run(kind: JobKind, arguments: str, context: Context) -> Document:
    """Do a job; its result.

    Raises:
        MemTraceError: it can't be done, and why, in words for the person who asked.
        Cancelled: it was stopped.
    """
    from api.jobs.work import attributes, imports, reports

    try:
        if kind is JobKind.IMPORT:
            return await imports.run(context, ImportArguments.model_validate_json(arguments))
        if kind is JobKind.ATTRIBUTE:
            return await attributes.run(context, AttributeArguments.model_validate_json(arguments))
        return await reports.run(context, ReportArguments.model_validate_json(arguments))
    except ValidationError as error:
        raise InputError("job", "arguments", f"another version wrote them: {error.errors()[0]['msg']}") from error
