"""`memtrace worker`: runs jobs beside the servers, until it is told to stop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Place, command
from api.cli.errors import UsageError, note

if TYPE_CHECKING:
    from api.settings import Settings
    from store.protocol import Database

commands = typer.Typer()

_PANEL = "Serve"


@command(commands, panel=_PANEL)
async def worker(
    place: Place,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            min=1,
            max=64,
            help="Jobs at a time, each in a process of its own. (env: MEMTRACE_JOB_CONCURRENCY; default: 1)",
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Settings in TOML. (env: MEMTRACE_CONFIG)", show_default=False),
    ] = None,
) -> None:
    """Run jobs until told to stop; what is under way is then given back, for others to go on with.

    It takes jobs of all projects, or of the one that --project names. It shares the store and the place of uploads with
    the servers. Logs go to standard output.
    """
    from api.http.logs import set_up_logs
    from api.loading import load_settings, open_store
    from schema.errors import InputError

    try:
        # Without a project it works for all: what other commands take for the default would leave jobs undone.
        projects = (place.project,) if place.project else None
        settings = load_settings(config, {"store": place.store, "values": place.values, "job_projects": projects})
        database = await open_store(settings)
    except InputError as error:
        raise UsageError(str(error)) from error
    async with database:
        set_up_logs(settings.log_level, settings.log_format)
        await _run(settings, database, concurrency or max(1, settings.job_concurrency))


async def _run(settings: Settings, database: Database, concurrency: int) -> None:
    import asyncio
    import signal

    from api.jobs.queue import JobQueue
    from api.jobs.runner import JobRunner
    from api.jobs.uploads import Uploads, uploads_uri

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    runner = JobRunner(settings, database, Uploads(uploads_uri(settings)), JobQueue(database), concurrency)
    await runner.start()
    note("MemTrace runs jobs.")
    try:
        await stopping.wait()
    finally:
        await runner.stop()
