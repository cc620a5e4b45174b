"""`memtrace neo4j`: starts, stops and shows a local Neo4j server without Docker."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

if TYPE_CHECKING:
    from api.local_servers.neo4j import LocalNeo4j, RunningServer, ServerStatus

app = typer.Typer(
    help="Start, stop and show a local Neo4j Community server. Needs the extra neo4j-local, but no Docker.",
    no_args_is_help=True,
)

HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home", help="The folder of the server's data, logs and password. [default: in the user's data folder]"
    ),
]


@app.command()
def start(
    version: Annotated[
        str | None,
        typer.Option(help="The version of Neo4j. [default: the one that made the data in --home, else 5.26.31]"),
    ] = None,
    home: HomeOption = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="The Bolt port. [default: the last one used, or 7687, if free; else any free one]"
        ),
    ] = None,
    http_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="The port of Neo4j's own web pages. [default: no web pages]")
    ] = None,
    heap: Annotated[str, typer.Option(help="The size of Java's heap, such as 512m or 4g.")] = "1g",
    page_cache: Annotated[str, typer.Option(help="The size of Neo4j's page cache, such as 256m or 4g.")] = "256m",
) -> None:
    """Start the server, wait until it answers, and leave it running. The first start downloads Neo4j."""
    with _local_server() as local_neo4j, _progress() as say:
        local = local_neo4j(
            home,
            version=version,
            port=port,
            http_port=http_port,
            heap=heap,
            page_cache=page_cache,
            progress=say,
        )
        server = local.start()
    for line in _describe(server):
        typer.echo(line)


@app.command()
def stop(
    home: HomeOption = None,
    kill: Annotated[bool, typer.Option("--kill", help="Kill it at once instead of stopping it cleanly.")] = False,
) -> None:
    """Stop the server and wait until it is down (a clean stop takes about 10 seconds)."""
    with _local_server() as local_neo4j, _progress() as say:
        say("stopping Neo4j", 0, 0)
        ran = local_neo4j(home, progress=say).stop(kill=kill)
    typer.echo("Neo4j is stopped." if ran else "Neo4j was not running.")


@app.command()
def status(
    home: HomeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")] = False,
) -> None:
    """Show whether the server runs, where, and with how much memory."""
    with _local_server() as local_neo4j:
        found = local_neo4j(home).status()
    if as_json:
        typer.echo(json.dumps(_document(found)))
        return
    if found.running:
        typer.echo(f"Neo4j {found.version} runs at {found.uri} (process {found.pid}).")
        if found.memory is not None:
            typer.echo(f"memory    {found.memory / 2**20:.0f} MiB")
        if found.http_port is not None:
            typer.echo(f"web       http://127.0.0.1:{found.http_port}")
    else:
        typer.echo(
            "Neo4j is not running; it ended without being stopped." if found.crashed else "Neo4j is not running."
        )
    typer.echo(f"home      {found.home}")


def _describe(server: RunningServer) -> Iterator[str]:
    yield f"Neo4j {server.version} {'is started' if server.started else 'runs already'}."
    yield f"URI       {server.uri}"
    yield f"user      {server.user}"
    yield f"password  in {server.password_file}"
    if server.http_port is not None:
        yield f"web       http://127.0.0.1:{server.http_port}"
    yield ""
    yield f"export MEMTRACE_STORE={shlex.quote(server.uri)}"
    yield f"export MEMTRACE_NEO4J_PASSWORD_FILE={shlex.quote(str(server.password_file))}"


def _document(found: ServerStatus) -> dict[str, object]:
    return {
        "running": found.running,
        "crashed": found.crashed,
        "version": found.version,
        "uri": found.uri,
        "httpPort": found.http_port,
        "pid": found.pid,
        "memoryBytes": found.memory,
        "startedAt": found.started_at.isoformat().replace("+00:00", "Z") if found.started_at else None,
        "home": str(found.home),
        "passwordFile": str(found.password_file),
    }


@contextmanager
def _local_server() -> Iterator[type[LocalNeo4j]]:
    """Yields the class; its errors become a message and exit code 1."""
    try:
        from api.local_servers.neo4j import LocalNeo4j, LocalNeo4jError  # the extra is optional
    except ImportError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None
    try:
        yield LocalNeo4j
    except LocalNeo4jError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None


class _Bar:
    """Shows progress on standard error: a bar in a terminal, else a line for each new step."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None, visible=False)
        self._shown = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        if not self._progress.disable:
            self._progress.update(self._task, description=what, completed=done, total=total or None, visible=True)
        elif what != self._shown:
            self._shown = what
            typer.echo(what, err=True)


@contextmanager
def _progress() -> Iterator[_Bar]:
    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield _Bar(progress)
