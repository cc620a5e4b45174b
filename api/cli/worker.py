"""`memtrace worker`: writes events and runs jobs beside the servers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note

if TYPE_CHECKING:
    from api.settings import Settings
    from ingest.queue.protocol import EventQueue
    from ingest.queue.worker import EventWorker
    from store.contract.protocol import Database

commands = typer.Typer()

_LOOK_SECONDS = 2.0


@command(commands)
async def worker(
    place: Target,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            min=1,
            max=64,
            help="How many jobs to run at the same time, each in its own process. (env: "
            "MEMTRACE_JOB_CONCURRENCY; default: 1)",
            show_default=False,
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port", min=0, max=65535, help="Serve /metrics of this worker on 127.0.0.1.", show_default=False
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", help="A file of settings, in TOML. (env: MEMTRACE_CONFIG)", show_default=False
        ),
    ] = None,
) -> None:
    """Write events and run jobs until told to stop; work under way is then finished, or left to other workers.

    It runs the jobs of all projects, or of the one that --project names, and writes the events of all. It needs the
    same store, queue of events and place of uploads as the servers. Logs go to standard output.
    """
    from api.logs import set_up_logs
    from api.settings.loading import load_settings, open_queue, open_store
    from schema.errors import InputError
    from store.runtime.garbage_collector import collect_rarely

    try:
        # Without --project the worker serves all projects: the default project of other commands would leave jobs
        # undone.
        projects = (place.project,) if place.project else None
        settings = load_settings(config, {"store": place.store, "values": place.values, "job_projects": projects})
        async with await open_store(settings) as database, await open_queue(settings) as events:
            set_up_logs(settings.log_level, settings.log_format)
            collect_rarely()
            await _run(settings, database, events, concurrency or max(1, settings.job_concurrency), metrics_port)
    except InputError as error:
        raise UsageError(str(error)) from error


async def _run(
    settings: Settings, database: Database, events: EventQueue, concurrency: int, metrics_port: int | None
) -> None:
    import asyncio
    import signal

    from api.jobs.queue import JobQueue, notices_of
    from api.jobs.runner import JobRunner
    from api.jobs.uploads import Uploads, uploads_uri
    from ingest.queue.worker import EventWorker
    from store.retention import keeping

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    jobs = JobQueue(database)
    notices = notices_of(events, settings)
    if notices is not None:
        await notices.listen(jobs.arrived)
    runner = JobRunner(settings, database, Uploads(uploads_uri(settings)), jobs, concurrency)
    writer = EventWorker(events, database, settings.event_tries, settings.event_concurrency)
    async with AsyncExitStack() as stack:
        if metrics_port is not None:
            await stack.enter_async_context(_metrics(writer, events, metrics_port))
        await writer.start()
        stack.push_async_callback(writer.stop, settings.shutdown_seconds)
        await runner.start()
        stack.push_async_callback(runner.stop)
        await stack.enter_async_context(keeping(database, settings.job_projects))
        note("MemTrace writes events and runs jobs.")
        await stopping.wait()


@asynccontextmanager
async def _metrics(writer: EventWorker, events: EventQueue, port: int) -> AsyncIterator[None]:
    """Serve the metrics for Prometheus until the end of the block."""
    import asyncio

    from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server

    from api.http.event_metrics import EventMetrics
    from schema.errors import InputError

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    metrics = EventMetrics(registry)
    metrics.work_of(writer.tally)

    async def look() -> None:
        while True:
            await metrics.look(events)
            await asyncio.sleep(_LOOK_SECONDS)

    try:
        server, thread = start_http_server(port, "127.0.0.1", registry)
    except OSError as error:
        raise InputError("--metrics-port", "", f"{port} can't be listened on: {error.strerror}") from error
    looking = asyncio.create_task(look())
    note(f"Its metrics are at http://127.0.0.1:{server.server_port}/metrics")
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        thread.join()
