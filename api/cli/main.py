"""The command `memtrace`."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from api.cli import (
    admin,
    annotate,
    attribute,
    audit,
    benchmark,
    blame,
    browse,
    causal,
    check,
    cypher,
    dev,
    dlq,
    evaluate,
    failures,
    ingest,
    keys,
    labels,
    listing,
    neo4j,
    optimize,
    replay,
    report,
    retention,
    run,
    serve,
    spine,
    spool,
    ui,
    why_not,
    worker,
)
from api.cli.context import Target
from api.cli.errors import ExitCode, complain, exit_code
from api.cli.options import DebugOption, ProjectOption, StoreOption, ValuesOption
from schema.errors import MemTraceError

_EPILOG = (
    "Exit codes: 0 success; 1 failure; 2 wrong usage, or an id that fits several things; 3 not found; 4 bad input; "
    "5 the store can't be reached or used. "
    "Set the user and password of Neo4j in MEMTRACE_NEO4J_USER and MEMTRACE_NEO4J_PASSWORD or "
    "MEMTRACE_NEO4J_PASSWORD_FILE."
)


class Commands(TyperGroup):
    """The commands; an expected error becomes one line on standard error and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except typer.BadParameter as error:
            # Typer reads these options with Pydantic, whose messages begin by saying that it is a ValueError.
            error.message = error.message.removeprefix("Value error, ")
            raise
        except MemTraceError as error:
            complain(str(error))
            raise typer.Exit(exit_code(error)) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except BrokenPipeError:
            _drop_output()
            raise typer.Exit(ExitCode.BROKEN_PIPE) from None
        return result


app = typer.Typer(
    name="memtrace",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (
    ingest,
    browse,
    listing,
    causal,
    failures,
    cypher,
    attribute,
    replay,
    why_not,
    spine,
    labels,
    blame,
    audit,
    benchmark,
    check,
    admin,
    ui,
    serve,
    worker,
    dev,
    run,
    evaluate,
):
    app.add_typer(group.commands)
app.add_typer(report.app, name="report", rich_help_panel="Ask why")
app.add_typer(labels.app, name="labels", rich_help_panel="Ask why")
app.add_typer(annotate.app, name="annotate", rich_help_panel="Ask why")
app.add_typer(optimize.app, name="optimize", rich_help_panel="Improve")
app.add_typer(keys.app, name="keys", rich_help_panel="Serve")
app.add_typer(dlq.app, name="dlq", rich_help_panel="Serve")
app.add_typer(neo4j.app, name="neo4j", rich_help_panel="Keep the store")
app.add_typer(retention.app, name="retention", rich_help_panel="Keep the store")
app.add_typer(spool.app, name="spool", rich_help_panel="Record")


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("memtrace-platform")
        except PackageNotFoundError:
            number = "(not installed, run from its source)"
        typer.echo(f"memtrace {number}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    store: StoreOption = None,
    values: ValuesOption = None,
    project: ProjectOption = None,
    debug: DebugOption = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Record how LLM memory systems work as causal graphs, and find out why an answer is wrong.

    The options under Where may also stand after the command.
    """
    context.obj = Target(store, values, project, debug)


def start() -> None:
    """Run the command line; an unexpected error becomes one line, and with --debug its traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except SystemExit as leaving:
        if leaving.code == ExitCode.INTERRUPTED:
            # Threads that are still busy would keep the process alive; what they write is in a transaction.
            os._exit(ExitCode.INTERRUPTED)
        raise
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        complain(f"unexpected {type(error).__name__}: {error} (--debug shows where)")
        sys.exit(ExitCode.FAILED)


def _drop_output() -> None:
    """Nobody reads any more: what is left in the buffer must not raise again when the program ends."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


if __name__ == "__main__":
    start()
