"""Asking before something is deleted."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from api.cli.errors import ExitCode, UsageError, note

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask for confirmation.")]


def check_asked(yes: bool) -> None:
    """Refuse to go on if ``--yes`` is missing and nobody can be asked.

    Raises:
        UsageError: standard input is no terminal.
    """
    if not yes and not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask at: say --yes to go on without being asked")


def confirm(question: str, refused: str) -> None:
    """Ask; if the answer is no, the command ends with ``refused``.

    Raises:
        typer.Exit: the answer is no.
    """
    if not typer.confirm(question, err=True):
        note(refused)
        raise typer.Exit(ExitCode.FAILED)
