"""Health of the process and of its parts, without information about projects."""

from __future__ import annotations

import asyncio

import structlog
from fastapi import APIRouter, Request, Response, status
from pydantic import BaseModel
from starlette.responses import RedirectResponse

from api.http.dependencies import platform_of
from api.http.stores import mapped_stores
from schema.errors import DamagedError, DiskFullError, StoreError
from store.project_map import parts_of

READY_SECONDS = 2.0

router = APIRouter(tags=["health"])

_log = structlog.get_logger("memtrace.health")


class Liveness(BaseModel):
    """The process answers."""

    status: str = "ok"


class Readiness(BaseModel):
    """Whether the server can do its work, and which of its parts can: ``ok``, ``unavailable`` or ``outdated``.

    Attributes:
        store: the store; it may also be ``full``, if its disk has no space left, or ``damaged``.
        migrations: whether the layout of the store is up to date.
        queue: the queue of jobs, which is in the store.
        events: the queue of events. The queue does not count for ``status``: without it, everything but events can be
            served.
        stores: further stores, by name, which hold the traces of some projects. They do not count for ``status``: if a
            further store is away, projects in other stores can still be served.
    """

    status: str
    store: str
    migrations: str
    queue: str
    events: str
    stores: dict[str, str]


@router.get("/healthz")
async def healthz() -> Liveness:
    """Whether the process is alive. The store is not checked: a restart of the process would not help it."""
    return Liveness()


@router.get("/health", include_in_schema=False)
@router.get("/healthcheck", include_in_schema=False)
@router.get("/livez", include_in_schema=False)
async def health() -> RedirectResponse:
    """Leads to ``/healthz`` from the addresses of such checks in other servers."""
    return RedirectResponse("/healthz")


@router.get("/ready", include_in_schema=False)
async def ready() -> RedirectResponse:
    """Leads to ``/readyz``."""
    return RedirectResponse("/readyz")


@router.get(
    "/readyz", responses={503: {"model": Readiness, "description": "The server can't do its work at the moment."}}
)
async def readyz(request: Request, response: Response) -> Readiness:
    """Whether this server can take requests: the store answers, its layout is up to date, its queue can be read."""
    found = await _look(request)
    if found.status != "ready":
        response.status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    return found


async def _look(request: Request) -> Readiness:
    database, _ = parts_of(platform_of(request).database)
    events = asyncio.create_task(_look_at_events(request))
    stores = asyncio.create_task(mapped_stores(platform_of(request).database))
    store, migrations, queue = "ok", "unavailable", "unavailable"
    try:
        async with asyncio.timeout(READY_SECONDS):
            migrations = "ok" if await database.has_current_layout() else "outdated"
            await database.registry().queue()
            queue = "ok"
            await database.check()
            if (writer := platform_of(request).writer) is not None and writer.damage is not None:
                raise DamagedError(writer.damage)
    except DiskFullError as error:
        store = "full"
        _log.warning("not ready", problem=type(error).__name__, reason=str(error))
    except DamagedError as error:
        store = "damaged"
        _log.warning("not ready", problem=type(error).__name__, reason=str(error))
    except (StoreError, TimeoutError) as error:
        store = "unavailable"
        _log.warning("not ready", problem=type(error).__name__, reason=str(error))
    ready = (store, migrations, queue) == ("ok", "ok", "ok")
    return Readiness(
        status="ready" if ready else "not ready",
        store=store,
        migrations=migrations,
        queue=queue,
        events=await events,
        stores=await stores,
    )


async def _look_at_events(request: Request) -> str:
    try:
        async with asyncio.timeout(READY_SECONDS):
            await platform_of(request).events.state()
            await platform_of(request).events.check()
    except (StoreError, TimeoutError) as error:
        _log.warning("the queue of events is away", problem=type(error).__name__, reason=str(error))
        return "unavailable"
    return "ok"
