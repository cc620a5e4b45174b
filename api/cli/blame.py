"""The command that ranks operations, prompts, memory units and sessions by their share in wrong answers."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import note
from api.cli.options import Format, FormatOption, JsonFormatOption, TraceOption, chosen_format
from api.cli.output import Output, print_json
from attribution.blame.model import By

commands = typer.Typer()

_LIMIT = 100


@command(commands)
async def blame(
    place: Target,
    by: Annotated[By, typer.Option("--by", case_sensitive=False, help="What to rank.")] = By.OPERATION,
    trace: TraceOption = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="How many to list at most; 0 lists all.")] = _LIMIT,
    format_: FormatOption = None,
    as_json: JsonFormatOption = False,
) -> None:
    """Rank operations, prompts, memory units or sessions by their share in wrong answers, the worst first.

    failed: the failures with a verdict against the element, also for a piece that another operation lost first,
    weighted by confidence. passed: the right answers that depend on the element. score: Ochiai's coefficient of both,
    from 0 to 1. Run `memtrace attribute` first. `memtrace prompts` counts the answers that each prompt lost.
    """
    form = chosen_format(format_, as_json)
    from api.cli import documents
    from api.cli.csv_output import CsvTable
    from api.cli.find import find_trace_id
    from api.cli.render import tables
    from attribution.blame.rank import blame as ranked
    from attribution.blame.rank import chosen_verdicts

    async with place.open() as store:
        trace_id = await find_trace_id(store, trace)
        whole = (await ranked(store, await chosen_verdicts(store, trace_id), [by], trace_id and [trace_id]))[by]
    found = whole[:limit] if limit else whole
    if form is Format.CSV:
        CsvTable(documents.BLAMED_COLUMNS).add(documents.blamed(one) for one in found)
    elif form is Format.JSON:
        print_json([documents.blamed(one) for one in found])
    elif found:
        Output().show(tables.blamed(found))
    else:
        note("No verdict blames any. `memtrace attribute --all` finds out why answers are wrong.")
    if len(whole) > len(found):
        note(f"There are more than {limit:,}: --limit 0 lists all.")
    if whole and not any(one.passed for one in whole):
        note("No answer that was judged right rests on any of these. `memtrace right ANSWER` records one.")
