"""`memtrace run`: records a program without changing it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from api.cli.context import Target
from api.cli.errors import UsageError
from api.cli.options import ProjectOption, StoreOption, ValuesOption

commands = typer.Typer()

_OFF = {"0", "false", "no", "off"}
_NAMING = {"--experiment", "--trace", "--session"}
_SETTINGS = {"allow_interspersed_args": False, "ignore_unknown_options": True}


@commands.command("run", context_settings=_SETTINGS)
def run(
    context: typer.Context,
    command: Annotated[list[str], typer.Argument(metavar="PROGRAM...", help="The program, with its arguments.")],
    instrument: Annotated[
        str | None,
        typer.Option(
            "--instrument",
            metavar="NAMES",
            help="Packages to record, such as mem0,openai. (env: MEMTRACE_INSTRUMENT; default: all)",
            show_default=False,
        ),
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(
            "--endpoint",
            metavar="URL",
            help="Send the recording to this server, not to the store. (env: MEMTRACE_ENDPOINT)",
            show_default=False,
        ),
    ] = None,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            "--api-key-file",
            metavar="FILE",
            help="A file that holds the key. (env: MEMTRACE_API_KEY holds the key itself)",
            show_default=False,
        ),
    ] = None,
    one_trace: Annotated[
        bool,
        typer.Option(
            "--one-trace",
            help="Record all calls in one trace, for a program that serves one user; a memory in a file keeps its own. "
            "(env: MEMTRACE_ONE_TRACE=1)",
        ),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option("--name", "-n", "--run-name", metavar="NAME", help="The name of the trace.", show_default=False),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(
            "--tag",
            metavar="TAG",
            help="A tag of the trace, such as model=llama3; may be repeated: memtrace traces --search model=llama3",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    values: ValuesOption = None,
    project: ProjectOption = None,
) -> None:
    """Run a program and record the packages that it uses: memtrace run -- python app.py.

    The program is not changed: input, output, signals and exit code are its own. When it ends, the recording goes into
    the store, and a few lines on standard error say what was recorded and what to do next. The recorder
    (memtrace-recorder) must be installed in the environment of the program.
    """
    from memtrace.instruments.homes import ONE_TRACE
    from memtrace.instruments.run import environment, start

    if command[0].startswith("-"):
        told = f"`memtrace run` has no option {command[0]}; a program comes last: memtrace run -- python app.py"
        if command[0].partition("=")[0] in _NAMING:
            told += ". A run has a name, and tags: --name NAME, --tag TAG; what belongs together is a --project NAME"
        raise UsageError(f"{told}. It has --instrument, --endpoint, --api-key-file, --one-trace, --name, --tag")
    place: Target = (context.find_root().obj or Target()).merge(store, values, project, False)
    names = [name.strip() for name in (instrument or "").split(",") if name.strip()]
    try:
        more = {
            "MEMTRACE_ENDPOINT": endpoint,
            "MEMTRACE_API_KEY": api_key_file.read_text(encoding="utf-8").strip() if api_key_file else None,
            "MEMTRACE_PROJECT": project or place.project,
            ONE_TRACE: "1" if one_trace else None,
        }
        settings = environment(names, more)
        is_off = settings.get("MEMTRACE_ENABLED", "1").strip().lower() in _OFF
        if settings.get("MEMTRACE_ENDPOINT") and (name or tag):
            raise UsageError("--name and --tag are for a recording on this machine, which --endpoint sends away")
        if settings.get("MEMTRACE_ENDPOINT") or is_off:
            raise typer.Exit(start(command, settings))
        code, files = _recorded(command, settings)
    except (ValueError, OSError) as mistake:
        raise UsageError(str(mistake)) from mistake
    import asyncio

    from api.cli.run_ended import put_in_store
    from api.cli.run_naming import name_traces

    name_traces(files, name, tag or ())
    asyncio.run(put_in_store(place, files, command))
    raise typer.Exit(code)


def _recorded(command: list[str], settings: dict[str, str]) -> tuple[int, list[Path]]:
    """Run the program as a child process; its exit code, and the files of its recording."""
    from memtrace.exporters.local import RUN, recordings_of
    from memtrace.instruments.run import checked

    from api.cli.child import run_child

    name = os.urandom(8).hex()
    code = run_child(checked(command, settings), command, settings | {RUN: name})
    return code, recordings_of(name)
