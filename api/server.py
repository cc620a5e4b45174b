"""The server: all interfaces of one process, and the tasks beside them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from api.auth.verify import Verifier
from api.http import health
from api.http.allowance import RebuiltBytes
from api.http.limits import EVENTS_PATH, TRACES_PATH, UPLOAD_PATH, Bodies, Deadline
from api.http.metrics import CountRequests, Metrics
from api.http.middleware import REQUEST_ID_HEADER, AccessLog, RequestIds, SecurityHeaders, Unexpected
from api.http.openapi import describe, openapi_page
from api.http.platform import Platform
from api.http.problems import install_problems
from api.http.tracing import Tracing, tracing_of
from api.http.windows import Copies
from api.jobs.following import Following
from api.processes.memory import keeping_little
from api.processes.shielded_acts import Acts
from api.settings import Settings
from api.settings.loading import client_secret, open_queue, open_store

if TYPE_CHECKING:
    from api.auth.code_flow import CodeFlow
    from api.auth.oidc import TokenVerifier
    from api.event_writer.process import EventWriter
    from api.web.pages.opening import Opening
    from ingest.queue.protocol import EventQueue
    from store.contract.protocol import Database


_GRACE_SECONDS = 1.0
"""Seconds between the deadline of an interface and the general deadline, so that the interface can answer in its own
form.
"""


_GROWTH_SECONDS = 0.5

_STORE_WAIT_SECONDS = 4.0
"""Seconds after which a read fails while the store can't be reached. The children of the server wait longer."""

_LOADS_AFTER_SECONDS = 0.1


def create_app(settings: Settings, database: Database | None = None, opening: Opening | None = None) -> FastAPI:
    """The application, for an ASGI server.

    Args:
        settings: the server's settings.
        database: an open database, which the caller closes. None opens the settings' database when the server starts,
            and closes it when the server stops.
        opening: signs one browser in; see ``memtrace ui``.
    """
    from api.graphql.router import graphql_router, guarded_schema
    from api.graphql.trusted import load_trusted
    from api.http.routes import routers
    from api.web.explorer import explorer_routes
    from api.web.pages.documents import DOCUMENTS
    from api.web.pages.routes import page_routes

    tracing = tracing_of(settings)
    metrics = Metrics()

    app = FastAPI(
        title="MemTrace",
        description="Causal graphs of LLM memory systems. Errors are RFC 9457 problem documents.",
        version="1",
        lifespan=partial(_running, settings=settings, database=database, metrics=metrics, tracing=tracing),
        openapi_url=None,
        docs_url=None,
        # A redirect to an address with or without a final slash would lead to the host in the request's ``Host``.
        redirect_slashes=False,
        redoc_url=None,
        # FastAPI's own telemetry would record addresses, query strings and texts of errors; api.http.tracing does not.
        telemetry={"tracing": False, "metrics": False, "logs": False},
        middleware=_middleware(settings, metrics, tracing),
    )
    install_problems(app)
    app.include_router(health.router)
    app.add_api_route("/metrics", metrics.page, include_in_schema=False)
    if settings.graphiql:
        app.router.routes.extend(explorer_routes())
    trusted = load_trusted(settings.trusted_documents, settings.trusted_documents_only, DOCUMENTS.texts)
    schema = guarded_schema(settings, trusted)
    app.include_router(graphql_router(settings, schema, trusted), include_in_schema=False)
    app.router.routes.extend(page_routes(schema, opening))
    for router in routers:
        app.include_router(router)
    app.openapi = partial(describe, app)  # type: ignore[method-assign]  # as FastAPI's manual has it
    app.add_route("/openapi.json", openapi_page(app), include_in_schema=False)
    return app


@asynccontextmanager
async def _running(
    app: FastAPI, settings: Settings, database: Database | None, metrics: Metrics, tracing: Tracing | None
) -> AsyncIterator[None]:
    """The tasks beside the interfaces, from before the first request until after the last."""
    from api.event_writer.process import EventWriter
    from api.jobs.runner import JobRunner
    from ingest.queue.journal.queue import Journal
    from store.retention import keeping

    async with AsyncExitStack() as stack:
        if tracing is not None:
            stack.callback(tracing.stop)
        opened = database if database is not None else await stack.enter_async_context(await open_store(settings))
        opened.bound_waits(_STORE_WAIT_SECONDS)
        events = await stack.enter_async_context(await open_queue(settings))
        # Only this server knows its journal and can write the journal's events. Workers write the events of NATS.
        writer = EventWriter(settings, events) if isinstance(events, Journal) else None
        platform = _platform(settings, opened, events, metrics, writer)
        app.state.platform = platform
        platform.verifier.start()
        stack.push_async_callback(platform.verifier.stop)
        stack.push_async_callback(platform.queue.close)
        stack.push_async_callback(platform.growth.close)
        stack.push_async_callback(platform.reading.close)
        stack.push_async_callback(platform.explaining.close)
        stack.push_async_callback(platform.acts.close, settings.shutdown_seconds)
        if settings.job_concurrency > 0:
            runner = JobRunner(settings, opened, platform.uploads, platform.queue, settings.job_concurrency)
            await runner.start()
            stack.push_async_callback(runner.stop)
        if writer is not None:
            metrics.events.work_of(writer.tally)
            await writer.start()
            stack.push_async_callback(writer.stop, settings.shutdown_seconds)
            await stack.enter_async_context(keeping(opened, settings.job_projects))
        await stack.enter_async_context(metrics.lag.watching())
        await stack.enter_async_context(keeping_little())
        loading = asyncio.create_task(_load_rest())
        stack.callback(loading.cancel)
        yield


async def _load_rest() -> None:
    """Import the module for streamed answers in a thread, after the first answers: the import would block the loop."""
    await asyncio.sleep(_LOADS_AFTER_SECONDS)
    await asyncio.to_thread(import_module, "anyio._backends._asyncio")


def _platform(
    settings: Settings, database: Database, events: EventQueue, metrics: Metrics, writer: EventWriter | None
) -> Platform:
    from api.http.explaining import Explaining
    from api.http.reading import Reading
    from api.jobs.queue import JobQueue, notices_of
    from api.jobs.uploads import Uploads, uploads_uri

    tokens, sign_in = _issuer(settings)
    verifier = Verifier(database.registry(), settings.rate_limit, tokens)
    uploads = Uploads(uploads_uri(settings))

    async def counts(project_id: str, trace_ids: Sequence[str]) -> Mapping[str, dict[str, int]]:
        return await database.project(project_id).counts(trace_ids)

    acts = Acts()
    jobs = JobQueue(database, uploads, notices_of(events, settings), acts)
    growth = Following("trace", counts, _GROWTH_SECONDS)
    copies = Copies(settings.answers_bytes)
    rebuilt = RebuiltBytes(settings.max_rebuilt_bytes, settings.rebuilt_bytes_per_second)
    return Platform(
        settings=settings,
        database=database,
        verifier=verifier,
        queue=jobs,
        events=events,
        metrics=metrics.events,
        growth=growth,
        uploads=uploads,
        copies=copies,
        reading=Reading(max(settings.max_events_bytes, settings.max_traces_bytes)),
        rebuilt=rebuilt,
        explaining=Explaining(settings),
        acts=acts,
        writer=writer,
        sign_in=sign_in,
    )


def _issuer(settings: Settings) -> tuple[TokenVerifier | None, CodeFlow | None]:
    """The verifier of an OIDC issuer's tokens, and the sign-in of browsers at the issuer."""
    if settings.oidc_issuer is None or settings.oidc_audience is None:
        return None, None
    from api.auth.oidc import Issuer, TokenVerifier

    issuer, client_id = Issuer(settings.oidc_issuer), settings.oidc_client_id
    tokens = TokenVerifier(
        issuer,
        settings.oidc_audience,
        settings.oidc_groups_claim,
        settings.oidc_grants,
        settings.oidc_person_claim,
        client_id,
    )
    if client_id is None or settings.public_url is None:
        return tokens, None
    from api.auth.code_flow import CodeFlow

    secret = client_secret(settings)
    return tokens, CodeFlow(issuer, tokens, client_id, secret, settings.oidc_scopes, settings.public_url)


def _middleware(settings: Settings, metrics: Metrics, tracing: Tracing | None) -> list[Middleware]:
    """Outermost first."""
    found = [Middleware(RequestIds)]
    if tracing is not None:
        found.append(Middleware(tracing.middleware))
    found += [
        Middleware(AccessLog),
        Middleware(CountRequests, metrics=metrics),
        Middleware(SecurityHeaders),
        Middleware(Unexpected),
    ]
    if settings.cors_origins:
        found.append(
            Middleware(
                CORSMiddleware,
                allow_origins=settings.cors_origins,
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["Authorization", "Content-Type", REQUEST_ID_HEADER],
                expose_headers=[REQUEST_ID_HEADER, "Retry-After"],
            )
        )
    found += [
        Middleware(
            Bodies,
            body_bytes=settings.max_body_bytes,
            of_paths={
                UPLOAD_PATH: settings.max_upload_bytes,
                EVENTS_PATH: settings.max_events_bytes,
                TRACES_PATH: settings.max_traces_bytes,
            },
        ),
        Middleware(Deadline, seconds=settings.request_seconds + _GRACE_SECONDS),
    ]
    return found
