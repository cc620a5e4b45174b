"""What can be followed. Who follows is looked at again and again: a key that is revoked ends its subscriptions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, TypeVar

import strawberry

from api.auth.access import Access
from api.graphql.context import Info
from api.graphql.refs import JobRef
from api.graphql.trace import Counts, counts_of
from schema.errors import NotFoundError

T = TypeVar("T")

_POLL_SECONDS = 0.5
_RECHECK_SECONDS = 5.0

ProjectName = Annotated[str, strawberry.argument(description="The project.")]


@strawberry.type(description="What can be followed.")
class Subscription:
    """The roots of subscriptions."""

    @strawberry.subscription(description="A job: as it stands now, and each change, until it has ended.")
    async def job(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The id of the job.")],
    ) -> AsyncGenerator[JobRef, None]:
        """Follow a job."""
        door = info.context.door(project)
        if not await door.records.jobs([id]):
            raise NotFoundError(id, "job")
        async with aclosing(_while_known(info, project, info.context.platform.queue.watch(door, id))) as changes:
            async for job in changes:
                yield job

    @strawberry.subscription(description="The counts of a trace: now, and whenever they have changed.")
    async def trace_growth(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The id of the trace.")],
    ) -> AsyncGenerator[Counts, None]:
        """Follow a trace."""
        store = info.context.door(project).store
        if id not in await store.counts([id]):
            raise NotFoundError(id, "trace")

        async def growth() -> AsyncIterator[Counts]:
            last: dict[str, int] | None = None
            while True:
                counts = (await store.counts([id])).get(id)
                if counts is None:
                    return
                if counts != last:
                    last = counts
                    yield counts_of(counts)
                await asyncio.sleep(_POLL_SECONDS)

        async with aclosing(_while_known(info, project, growth())) as changes:
            async for counts in changes:
                yield counts


async def _while_known(info: Info, project: str, changes: AsyncIterator[T]) -> AsyncGenerator[T, None]:
    """The changes, for as long as the principal may see the project.

    Raises:
        UnauthenticatedError: its key or token has run out, or was revoked.
        NotFoundError: the project is not among what it may reach any more.
    """
    waiting: asyncio.Task[T] | None = None
    try:
        while True:
            if waiting is None:
                waiting = asyncio.ensure_future(anext(changes))
            done, _ = await asyncio.wait({waiting}, timeout=_RECHECK_SECONDS)
            if not done:
                await _recheck(info, project)
                continue
            try:
                change = waiting.result()
            except StopAsyncIteration:
                return
            waiting = None
            yield change
    finally:
        if waiting is not None:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        close = getattr(changes, "aclose", None)
        if close is not None:
            await close()


async def _recheck(info: Info, project: str) -> None:
    context = info.context
    principal = await context.platform.verifier.verify(context.token)
    Access(context.platform.database, principal, None).project(project)
