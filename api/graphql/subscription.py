"""Subscriptions. The client's access is checked repeatedly: revoking a key ends the subscriptions of the key."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, TypeVar

import strawberry
from graphql import GraphQLError

from api.auth.access import Access
from api.graphql.context import Info
from api.graphql.inputs import ProjectName
from api.graphql.public_errors import public_error
from api.graphql.refs import JobRef
from api.graphql.resolving import id_meant
from api.graphql.trace import Counts, counts_of
from schema.errors import NotFoundError
from store.contract.answers import Label

T = TypeVar("T")

RECHECK_SECONDS = 1.0
"""Seconds between two checks of whether a client still has access, whether something changes or not.

The cached state of a key may be 5 seconds old (``api.auth.known``), so a subscription ends at most 6 seconds after its
key was revoked.
"""


@strawberry.type(description="What you can subscribe to.")
class Subscription:
    @strawberry.subscription(description="A job: its state now, and again after each change, until it has ended.")
    async def job(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[strawberry.ID, strawberry.argument(description="The id of the job.")],
    ) -> AsyncGenerator[JobRef, None]:

        async def changes() -> AsyncGenerator[JobRef, None]:
            door = info.context.door(project)
            async with aclosing(info.context.platform.queue.watch(door, id)) as jobs:
                async for job in jobs:
                    yield job

        async with aclosing(_followed(info, project, changes())) as stream:
            async for job in stream:
                yield job

    @strawberry.subscription(
        description="How many elements a trace has: now, and again after each change, until the trace is deleted."
    )
    async def trace_growth(
        self,
        info: Info,
        project: ProjectName,
        id: Annotated[
            strawberry.ID,
            strawberry.argument(description="The trace: an id, a unique prefix of one, or an external id."),
        ],
    ) -> AsyncGenerator[Counts, None]:

        async def changes() -> AsyncGenerator[Counts, None]:
            door = info.context.door(project)
            trace = await id_meant(door.store, Label.TRACE, id)
            growth = info.context.platform.growth.follow(door.project_id, trace)
            is_first = True
            async with aclosing(growth) as states:
                try:
                    async for counts in states:
                        is_first = False
                        own = await door.store.counts([trace])
                        yield counts_of(own.get(trace, counts))
                except NotFoundError:
                    if is_first:
                        raise

        async with aclosing(_followed(info, project, changes())) as stream:
            async for counts in stream:
                yield counts


async def _followed(info: Info, project: str, changes: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """The changes, as long as the principal may see the project.

    Raises:
        GraphQLError: the principal lost access, or the thing does not exist; in the form for clients.
    """
    waiting: asyncio.Task[T] | None = None
    checked = time.monotonic()
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(anext(changes))
            done, _ = await asyncio.wait({waiting}, timeout=max(0.0, checked + RECHECK_SECONDS - time.monotonic()))
            # Checked before the change is sent: a thing that changes all the time leaves no pause for the check.
            if time.monotonic() - checked >= RECHECK_SECONDS:
                await _recheck(info, project)
                checked = time.monotonic()
            if done:
                finished, waiting = waiting, None
                yield finished.result()
    except StopAsyncIteration:
        return
    except GraphQLError:
        raise
    except Exception as error:
        raise public_error(error) from None
    finally:
        if waiting is not None:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        await changes.aclose()


async def _recheck(info: Info, project: str) -> None:
    context = info.context
    principal = await context.platform.verifier.recheck(context.token)
    Access(context.platform.database, principal).project(project)
