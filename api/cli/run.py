"""`memtrace run`: records a program without changing it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.context import Target
from api.cli.errors import UsageError
from api.cli.options import ProjectOption

commands = typer.Typer()


@commands.command(
    "run", rich_help_panel="Record", context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True}
)
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
            help="The platform's address. (env: MEMTRACE_ENDPOINT; default: a file on this machine)",
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
    project: ProjectOption = None,
) -> None:
    """Run a program and record the packages that it uses: memtrace run -- python app.py.

    The program is not changed, and takes the place of this command: input, output, signals and exit code are its own.
    The recorder (memtrace-recorder) must be installed in the environment of the program.
    """
    from memtrace.instruments.run import environment, start

    place: Target = context.find_root().obj or Target()
    names = [name.strip() for name in (instrument or "").split(",") if name.strip()]
    try:
        more = {
            "MEMTRACE_ENDPOINT": endpoint,
            "MEMTRACE_API_KEY": api_key_file.read_text(encoding="utf-8").strip() if api_key_file else None,
            "MEMTRACE_PROJECT": project or place.project,
        }
        code = start(command, environment(names, more))
    except (ValueError, OSError) as mistake:
        raise UsageError(str(mistake)) from mistake
    raise typer.Exit(code)
