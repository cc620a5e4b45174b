"""The command that compares two runs of a memory system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.context import Target, command
from api.cli.options import JsonOption, SourceOption
from api.cli.report_form import Form, FormOption, OutputOption, form_of

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
    as_json: JsonOption = False,
) -> None:
    """Compare two runs: which errors became rarer or more frequent, and for which questions.

    It compares stored verdicts, so run `memtrace attribute` first.
    """
    await show_comparison(place, before, after, source, form, output, as_json)


async def show_comparison(
    place: Target,
    before: str,
    after: str,
    source: str | None = None,
    form: Form | None = None,
    output: Path | None = None,
    as_json: bool = False,
) -> None:
    """Write what the command `compare` writes."""
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
    write(comparing.compare(*reports), wanted, output)
