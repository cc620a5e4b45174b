"""The commands that show help and the version."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.errors import UsageError
from api.cli.other_names import OTHER_NAMES
from api.cli.unknown_words import advice

commands = typer.Typer()


@commands.command("help")
def help_(
    context: typer.Context,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND]...", help="The command.", show_default=False)
    ] = None,
) -> None:
    """Show the help of a command, or list all commands; `memtrace help options` lists other names of options."""
    here = context.find_root()
    if command == ["options"]:
        for option, names in OTHER_NAMES.items():
            typer.echo(f"{option:<14}{', '.join(names)}")
        return
    for name in command or []:
        group = here.command
        found = group.get_command(here, name) if hasattr(group, "get_command") else None
        if found is None:
            from api.cli.main import told_of

            raise UsageError(advice(name, told_of(group) if hasattr(group, "commands") else {}))
        here = found.make_context(name, [], parent=here, resilient_parsing=True)
    text = here.get_help()
    if text:
        typer.echo(text)


@commands.command("version")
def version() -> None:
    """Show the version."""
    typer.echo(version_line())


def version_line() -> str:
    """The name and the version of the program."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return f"memtrace {installed('memtrace-platform')}"
    except PackageNotFoundError:
        return "memtrace (not installed, run from its source)"
