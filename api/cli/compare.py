"""The command that compares two runs of a memory system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import ExitCode, UsageError, note
from api.cli.options import JsonOption, SourceOption
from api.cli.report_form import Form, FormOption, OutputOption, form_of

if TYPE_CHECKING:
    from attribution.report.compare import Side

commands = typer.Typer()

_HELP = "A trace of this project, or a report that ends in .json."


@command(commands)
async def compare(
    place: Target,
    before: Annotated[str, typer.Argument(metavar="TRACE_A", help=f"The earlier run. {_HELP}", show_default=False)],
    after: Annotated[str, typer.Argument(metavar="TRACE_B", help=f"The later run. {_HELP}", show_default=False)],
    source: SourceOption = None,
    form: FormOption = None,
    output: OutputOption = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--fail-on-regression",
            "--exit-code",
            help="For a script: end with exit code 1 if the later run has a larger share of wrong answers.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare two runs: which errors became rarer or more frequent, and for which questions.

    It compares stored verdicts, so run `memtrace attribute` first.
    """
    first, second = await show_comparison(place, before, after, source, form, output, as_json)
    if strict and _wrong(second) > _wrong(first):
        note(f"The share of wrong answers rose from {_wrong(first):.0%} to {_wrong(second):.0%}.")
        raise typer.Exit(ExitCode.FAILED)


def _wrong(side: Side) -> float:
    """The share of questions with a wrong answer.

    Raises:
        UsageError: a report does not say how many questions were asked.
    """
    if side.wrong is None:
        raise UsageError("a report does not say how many questions were asked, so nothing tells which run is worse")
    return side.wrong.rate


async def show_comparison(
    place: Target,
    before: str,
    after: str,
    source: str | None = None,
    form: Form | None = None,
    output: Path | None = None,
    as_json: bool = False,
) -> tuple[Side, Side]:
    """Write what the command `compare` writes; returns the two sides."""
    from api.cli.report import report_data, write
    from attribution.report import compare as comparing
    from attribution.report.model import ReportData

    wanted = form_of(form, output, as_json)
    reports: list[ReportData] = []
    for reference in (before, after):
        if reference.endswith(".json"):
            reports.append(comparing.read_report(Path(reference)))
        else:
            async with place.open() as store:
                reports.append(await report_data(store, [reference], [], source))
    found = comparing.compare(*reports)
    write(found, wanted, output)
    return found.before, found.after


async def check_no_trace(place: Target, reference: str) -> None:
    """Refuse a trace that is compared with nothing.

    Raises:
        UsageError: the reference is a trace.
    """
    from schema.errors import AmbiguousError, NotFoundError
    from schema.models import Trace

    async with place.open() as store:
        try:
            found = await store.resolve(reference)
        except (NotFoundError, AmbiguousError):
            return
    if isinstance(found, Trace):
        raise UsageError(
            f"a trace is compared with another: memtrace diff {reference} TRACE; what its memory holds at the end: "
            f"memtrace units --trace {reference}; what was deleted: memtrace units --ended --trace {reference}"
        )
