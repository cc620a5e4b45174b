"""`memtrace dev`: the whole platform of a team on this machine."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from api.cli.context import Target
from api.cli.errors import ExitCode, UsageError, complain
from schema.errors import MemTraceError

if TYPE_CHECKING:
    from api.cli.output import Output
    from api.cli.processes import Part

commands = typer.Typer()

_LOOK_SECONDS = 0.1
_COLOURS = {"neo4j": "blue", "nats": "magenta", "migrate": "cyan", "worker": "yellow", "api": "green", "dev": "bold"}
_OWN = ("NEO4J", "NATS", "STORE", "VALUES", "UPLOADS", "HOST")
"""Prefixes of settings of another installation, without ``MEMTRACE_``."""


@commands.command()
def dev(
    context: typer.Context,
    neo4j: Annotated[
        bool, typer.Option("--neo4j", help="Keep the graph in a local Neo4j instead of a SQLite file.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="The port of the API; 0 takes a free one. (env: MEMTRACE_PORT)"),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder", help="Where to keep all data. [default: in the user's data folder]", show_default=False
        ),
    ] = None,
) -> None:
    """Start NATS, the API and a worker together, show their logs, and stop them in order on Ctrl-C.

    Needs the extra nats-local, and with --neo4j the extra neo4j-local. Everything listens on this machine only.
    """
    place: Target = context.obj
    if place.store or place.values:
        raise UsageError("dev has a store of its own, in its folder: leave --store and --values out")
    if folder is None:
        import platformdirs

        folder = platformdirs.user_data_path("memtrace", appauthor=False) / "dev"
    folder = folder.expanduser().absolute()
    _be_interruptible()
    with _sole(folder):
        if not _run(folder, neo4j, port):
            raise typer.Exit(ExitCode.FAILED)


def _run(folder: Path, neo4j: bool, port: int | None) -> bool:
    """Keep all parts running; True when told to stop, False when a part ended by itself."""
    parts: list[Part] = []
    try:
        with ExitStack() as running:

            def add(part: Part) -> None:
                running.callback(_stop, part)
                parts.append(part)

            variables = _start_neo4j(folder, add) if neo4j else {"STORE": f"sqlite:///{folder / 'memtrace.db'}"}
            variables |= _start_nats(folder, add) | {"STORES": "{}"}
            _write_variables(folder, variables)
            _start_memtrace(folder, variables, port, add)
            _watch(parts, folder)
    except KeyboardInterrupt:
        _show("dev", "stopped")
        return True
    except _PartEndedError:
        return False


class _PartEndedError(Exception):
    """A part ended by itself."""


def _watch(parts: list[Part], folder: Path) -> NoReturn:
    while True:
        for part in parts:
            for line in part.log.lines():
                _show(part.name, line)
                if part.name == "api" and "MemTrace listens on " in line:
                    _announce(line.rpartition(" ")[2], folder)
        for part in parts:
            how = part.ended()
            if how is not None:
                _show_log(part)
                complain(f"{part.name} ended by itself ({how}); the others are stopped")
                raise _PartEndedError
        time.sleep(_LOOK_SECONDS)


def _start_neo4j(folder: Path, add: Callable[[Part], None]) -> dict[str, str]:
    import psutil

    from api.cli.processes import Log, Part

    try:
        from api.local_servers.neo4j import LocalNeo4j, LocalNeo4jError
    except ImportError as error:
        complain(str(error))
        raise typer.Exit(ExitCode.FAILED) from None
    said = ""

    def progress(what: str, _done: int, _total: int) -> None:
        nonlocal said
        if what != said:
            said = what
            _show("neo4j", what)

    try:
        local = LocalNeo4j(folder / "neo4j", progress=progress)
        server = local.start(guarded=True)
    except LocalNeo4jError as error:
        complain(str(error))
        raise typer.Exit(ExitCode.FAILED) from None
    log = Log(server.home / "logs" / "neo4j.log", from_end=True)
    add(Part("neo4j", psutil.Process(server.pid), log, local.stop))
    _show("neo4j", f"ready at {server.uri}")
    return {
        "STORE": server.uri,
        "NEO4J_USER": server.user,
        "NEO4J_PASSWORD_FILE": str(server.password_file),
        "VALUES": (folder / "values").as_uri(),
    }


def _start_nats(folder: Path, add: Callable[[Part], None]) -> dict[str, str]:
    import psutil

    from api.cli.processes import Log, Part
    from api.local_servers.nats import LocalNats

    local = LocalNats(folder / "nats")
    server = local.start(guarded=True)
    add(Part("nats", psutil.Process(server.pid), Log(server.log, from_end=True), local.stop))
    _show("nats", f"ready at {server.uri}")
    return {"NATS": server.uri, "NATS_USER": server.user, "NATS_PASSWORD_FILE": str(server.password_file)}


def _start_memtrace(folder: Path, variables: Mapping[str, str], port: int | None, add: Callable[[Part], None]) -> None:
    from api.cli.processes import command, start_command

    environment = {name: value for name, value in os.environ.items() if not _is_of_another(name)}
    environment |= {"MEMTRACE_LOG_FORMAT": "text", "PYTHONUNBUFFERED": "1"} | environment
    environment |= {f"MEMTRACE_{name}": value for name, value in variables.items()}
    migrated = subprocess.run(
        command(["migrate"]), env=environment, capture_output=True, text=True, errors="replace", check=False
    )
    for line in (migrated.stdout + migrated.stderr).splitlines():
        _show("migrate", line)
    if migrated.returncode != 0:
        complain(f"migrate ended with exit code {migrated.returncode}; the others are stopped")
        raise _PartEndedError
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    add(start_command("worker", ["worker"], environment, logs / "worker.log"))
    serve = ["serve", *([] if port is None else ["--port", str(port)])]
    # The worker runs the jobs.
    add(start_command("api", serve, environment | {"MEMTRACE_JOB_CONCURRENCY": "0"}, logs / "api.log"))


def _is_of_another(name: str) -> bool:
    return name.startswith(tuple(f"MEMTRACE_{own}" for own in _OWN))


def _variables_file(folder: Path) -> Path:
    return folder / "environment"


def _write_variables(folder: Path, variables: Mapping[str, str]) -> None:
    """A file of settings for the user's shell; it names the files with the secrets."""
    lines = [f"export MEMTRACE_{name}={shlex.quote(value)}\n" for name, value in variables.items()]
    _variables_file(folder).write_text("".join(lines), "utf-8")


def _announce(url: str, folder: Path) -> None:
    for line in (
        f"MemTrace is ready at {url}",
        "To make a key, in another terminal:",
        f"    . {shlex.quote(str(_variables_file(folder)))}",
        "    memtrace keys create --role writer",
        f"To record an application, give it MEMTRACE_ENDPOINT={url} and that key in MEMTRACE_API_KEY.",
        "Ctrl-C stops everything; stored data are kept.",
    ):
        _show("dev", line)


def _stop(part: Part) -> None:
    try:
        part.stop()
    finally:
        _show_log(part)
        _show("dev", f"{part.name} is stopped")


def _show_log(part: Part) -> None:
    for line in part.log.lines():
        _show(part.name, line)


def _show(name: str, line: str) -> None:
    from rich.text import Text

    from api.cli.render.text import many_lines

    prefix = Text(f"{name:<7} | ", style=_COLOURS[name])
    _output().print(prefix + Text(many_lines(line)), soft_wrap=True)


@cache
def _output() -> Output:
    from api.cli.output import Output

    return Output()


@contextmanager
def _sole(folder: Path) -> Iterator[None]:
    """Make the folder, readable only for its owner, and lock it for this process."""
    # The error of this import names the missing extra, which also installs the package below.
    import_module("api.local_servers.nats")
    import filelock

    from store.runtime.private_files import make_folders

    try:
        make_folders(folder)
    except OSError as error:
        raise MemTraceError(f"the folder {folder} can't be used: {error.strerror}") from error
    lock = filelock.FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise MemTraceError(
            f"memtrace dev runs already with the folder {folder}; name another one with --folder"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _be_interruptible() -> None:
    """Treat every stop signal as an interrupt, to stop all parts in order."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)
