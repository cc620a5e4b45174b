"""The work of jobs: a module for each kind.

Work does not depend on queues and leases, and may be repeated at any time.
"""

from __future__ import annotations

import asyncio

from pydantic import BaseModel, ValidationError

from api.jobs.arguments import AttributeArguments, ImportArguments, ReportArguments
from api.jobs.work.context import Context, Document
from schema.control import JobKind
from schema.errors import InputError
from store.contract.protocol import GraphStore


async def check(store: GraphStore, arguments: BaseModel) -> None:
    """Refuse a job that can't be done, before it is accepted.

    Raises:
        InputError: the arguments or this process's settings do not allow it.
        NotFoundError: the arguments name something that is not in the project.
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
    """Import the module of the work, in a thread: the first import would block the event loop for too long."""
    from api.jobs.work import attributes, imports, reports  # noqa: F401


async def run(kind: JobKind, arguments: str, context: Context) -> Document:
    """Do a job, and return its result.

    Raises:
        MemTraceError: the job can't be done, with the reason for the person who asked.
        Cancelled: the job was stopped.
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
