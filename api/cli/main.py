"""The command `memtrace`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any

import typer

from api.cli.aliases import COMMAND_OF
from api.cli.context import Target
from api.cli.errors import ExitCode, UsageError, by_words, complain, exit_code, note, with_each
from api.cli.help import PANELS, arrange
from api.cli.option_names import PLACES, Group
from api.cli.options import DebugOption, ProjectOption, StoreOption, ValuesOption
from api.cli.own_rights import keep_own_rights
from api.cli.phrases import understood
from api.cli.streams import drop_output, open_streams, problem_of_output
from api.cli.unknown_words import Told, advice
from schema.errors import AmbiguousError, MemTraceError

_EPILOG = (
    "Exit codes: 0 success; 1 failure; 2 wrong usage, or an id that fits several things; 3 not found; 4 bad input; "
    "5 the store can't be reached or used. "
    "Set the user and password of Neo4j in MEMTRACE_NEO4J_USER and MEMTRACE_NEO4J_PASSWORD or "
    "MEMTRACE_NEO4J_PASSWORD_FILE."
)

_COMMANDS = {
    "run": ("run",),
    "check": ("check",),
    "follow": ("follow",),
    "backup": ("backup",),
    "ingest": ("import", "export"),
    "evaluate": ("evaluate",),
    "listing": ("answers", "operations", "sessions"),
    "variables": ("variables", "units", "messages", "prompts"),
    "attribute": ("why", "attribute", "agreement"),
    "failures": ("failures",),
    "judging": ("fail", "unfail", "right"),
    "why_not": ("why-not",),
    "spine": ("spine",),
    "blame": ("blame",),
    "compare": ("compare",),
    "audit": ("audit",),
    "query": ("cypher", "sql", "query", "tables"),
    "show": ("show",),
    "browse": ("search", "traces", "trace", "operation", "variable", "value", "versions", "diff"),
    "causal": ("closure", "path"),
    "labels": ("verdict",),
    "benchmark": ("benchmark",),
    "replay": ("replay",),
    "ui": ("ui",),
    "serve": ("serve",),
    "worker": ("worker",),
    "dev": ("dev",),
    "admin": ("stats", "doctor", "migrate", "delete"),
    "config": ("config",),
    "helping": ("help", "version"),
}
"""The commands of each module."""

_GROUPS = ("report", "labels", "annotate", "optimize", "keys", "dlq", "neo4j", "retention", "spool", "model")
"""Groups of commands, each in a module of its name."""


_ORDER = {name: place for place, name in enumerate(name for names in PANELS.values() for name in names)}


_WORDS = "memtrace.words"


class Commands(Group):
    """The commands. An expected error becomes one line on standard error and an exit code."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, in the order of the help."""
        return sorted(super().list_commands(ctx), key=lambda name: _ORDER.get(name, len(_ORDER)))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command with this name or alias; None if there is none."""
        return super().get_command(ctx, cmd_name) or super().get_command(ctx, COMMAND_OF.get(cmd_name, ""))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of a command line, in any clear order."""
        words = understood(args)
        ctx.meta[_WORDS] = words
        return super().parse_args(ctx, words)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments begin with; a word that is no command leads to one."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise UsageError(advice(args[0], told_of(self), args[1:]))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except typer.BadParameter as error:
            # Typer reads these options with Pydantic, whose messages begin with "Value error".
            error.message = error.message.removeprefix("Value error, ")
            raise
        except AmbiguousError as error:
            lines = with_each(error, ctx.meta.get(_WORDS, ()))
            complain(
                f"{error.reference!r} is ambiguous. Copy the line of the one that you mean:" if lines else str(error)
            )
            for line in lines:
                note(f"  {line}")
            raise typer.Exit(exit_code(error)) from None
        except MemTraceError as error:
            complain(str(error) + by_words(error, ctx.meta.get(_WORDS, ())))
            raise typer.Exit(exit_code(error)) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except BrokenPipeError:
            drop_output()
            raise typer.Exit(ExitCode.BROKEN_PIPE) from None
        return result


def told_of(group: Any) -> dict[str, Told]:
    """What the commands of a group do, and whether words may follow each."""
    return {
        name: Told(
            one.help or "",
            hasattr(one, "commands") or any(part.param_type_name == "argument" for part in one.params),
        )
        for name, one in group.commands.items()
    }


def command_line(words: Iterable[str] = ()) -> typer.Typer:
    """The command line.

    Args:
        words: the arguments. If they name a known command, only its module is loaded: loading all takes a tenth of
            a second.
    """
    app = typer.Typer(
        name="memtrace",
        cls=Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        epilog=_EPILOG,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_remember_place)
    called = _command_in(words)
    if called == "help":  # `memtrace help` needs every command
        called = None
    modules = [module for module, names in _COMMANDS.items() if called in names]
    groups = [group for group in _GROUPS if group == called]
    is_any = bool(modules or groups)
    for module in modules if is_any else _COMMANDS:
        app.add_typer(import_module(f"api.cli.{module}").commands)
    for group in groups if is_any else _GROUPS:
        app.add_typer(import_module(f"api.cli.{group}").app, name=group)
    arrange(app)
    return app


def _command_in(words: Iterable[str]) -> str | None:
    """The command: the first word that is neither an option nor its value; None if there is none."""
    rest = iter(words)
    for word in rest:
        if PLACES.get(word):
            next(rest, None)
        elif not word.startswith("-"):
            return COMMAND_OF.get(word, word)
    return None


def _show_version(asked: bool) -> None:
    if asked:
        from api.cli.helping import version_line

        typer.echo(version_line())
        raise typer.Exit


def _remember_place(
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
    """Run the command line. An unexpected error becomes one line; with --debug, its traceback."""
    keep_own_rights()
    open_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        words = understood(sys.argv[1:])
        command_line(words)(words)
    except SystemExit as leaving:
        if leaving.code == ExitCode.INTERRUPTED:
            # Busy threads would keep the process alive. Their writes are in transactions, so the exit is safe.
            os._exit(ExitCode.INTERRUPTED)
        raise
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        problem = problem_of_output(error)
        complain(problem or f"unexpected {type(error).__name__}: {error} (--debug shows where)")
        if problem is not None:
            drop_output()
        sys.exit(ExitCode.FAILED)


if __name__ == "__main__":
    start()
