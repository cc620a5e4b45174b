"""The command that lists the failures."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.narrowing import SearchOption
from api.cli.next_steps import NO_FAILURE
from api.cli.options import Format, FormatOption, JsonFormatOption, TraceOption, chosen_format
from api.cli.output import Output, print_json
from api.cli.times import SinceOption, UntilOption, span

if TYPE_CHECKING:
    from attribution.verdicts.failure_columns import FailureRow
    from schema.models import Failure
    from store.contract.answers import FailureFilter, FailureOrder
    from store.contract.protocol import GraphStore

commands = typer.Typer()


class SortName(StrEnum):
    """The keys that sort failures: ``store.contract.answers.FailureKey`` without the imports of its module."""

    TIME = "time"
    CONFIDENCE = "confidence"
    ERROR_TYPE = "errorType"
    OPERATION = "operation"


_PAGE = 1000


@command(commands)
async def failures(
    place: Target,
    reference: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            help="Only these failures: the failure, its answer or question, words of the question, a trace, or an "
            "error type. (default: all)",
            show_default=False,
        ),
    ] = None,
    trace: TraceOption = None,
    error_type: Annotated[
        str | None,
        typer.Option(
            "--type", metavar="TYPE", help="Only failures with a verdict of this error type.", show_default=False
        ),
    ] = None,
    sort: Annotated[
        SortName | None,
        typer.Option(
            "--sort",
            help="The sort key: time of recording, or a property of the verdict. Failures without a verdict come last. "
            "(default: by trace)",
            show_default=False,
        ),
    ] = None,
    descending: Annotated[bool, typer.Option("--descending", help="With --sort: the largest comes first.")] = False,
    search: SearchOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    labelled: Annotated[
        bool | None,
        typer.Option(
            "--labelled/--unlabelled",
            help="Only failures with a person's verdict, or without.",
            show_default=False,
        ),
    ] = None,
    all_verdicts: Annotated[
        bool,
        typer.Option(
            "--all-verdicts",
            help="List verdicts, too, that a newer one of the same person, or of the same method and model, replaced.",
        ),
    ] = False,
    limit: Annotated[int, typer.Option("--limit", min=0, help="How many to list at most; 0 lists all.")] = 0,
    format_: FormatOption = None,
    as_json: JsonFormatOption = False,
) -> None:
    """List the questions that were answered wrong, with the verdicts on each.

    --format csv prints a row for each failure, with the verdict that counts: a person's before a model's, a model's
    before that of the free pass, the newest first. The column verdicts lists the others, too, without their paths.
    """
    if descending and sort is None:
        raise UsageError("--descending needs --sort")
    form = chosen_format(format_, as_json)
    reference = [*(reference or []), *([search] if search else [])]
    from api.cli import documents
    from api.cli.csv_output import CsvTable
    from api.cli.find import find_trace_id
    from api.cli.labels import error_type_of

    if error_type is None:
        with suppress(UsageError):
            error_type, reference = error_type_of(" ".join(reference), "TYPE").value, []
    if reference and (trace or error_type or sort or since or until or labelled is not None):
        raise UsageError("ID names failures one by one: leave out --trace, --type, --sort, --since, --labelled")
    from store.contract.answers import ALL_FAILURES, FailureFilter, FailureKey, FailureOrder

    kind, when = error_type_of(error_type, "--type") if error_type else None, span(since, until)
    chosen = FailureFilter(labelled=labelled, error_type=kind, since=when.since, until=when.until)
    async with place.open() as store:
        order = FailureOrder(FailureKey(sort), descending) if sort else None
        if reference:
            pages = _named(store, reference, all_verdicts)
        else:
            pages = _pages(store, await find_trace_id(store, trace), chosen, order, limit, all_verdicts)
        if form is Format.CSV:
            table = CsvTable(documents.FAILURE_ROW_COLUMNS)
            async for page in pages:
                table.add(documents.failure_row(row) for row in page)
        elif form is Format.JSON:
            print_json([documents.failure(row) async for page in pages for row in page])
        else:
            await _show(pages, trace, everything=chosen == ALL_FAILURES)


async def show_failures(place: Target, references: list[str], as_json: bool = False) -> None:
    """Print these failures as the command `failures` does."""
    from api.cli import documents

    async with place.open() as store:
        pages = _named(store, references)
        if as_json:
            print_json([documents.failure(row) async for page in pages for row in page])
        else:
            await _show(pages, None, everything=True)


async def _named(
    store: GraphStore, references: list[str], all_verdicts: bool = False
) -> AsyncIterator[list[FailureRow]]:
    """The failures that the references mean, as one page."""
    from api.cli.find import find_failures
    from attribution.verdicts.failure_columns import failure_rows

    found = await find_failures(store, references)
    once = {failure.id: failure for failure in found}.values()
    yield await failure_rows(store, once, with_replaced=all_verdicts)


async def _pages(
    store: GraphStore,
    trace_id: str | None,
    chosen: FailureFilter,
    order: FailureOrder | None,
    limit: int,
    all_verdicts: bool,
) -> AsyncIterator[list[FailureRow]]:
    """The chosen failures, of one trace or of the project, page by page; a note tells if the limit left some out."""
    from attribution.verdicts.failure_columns import failure_rows

    after: str | None = None
    left = limit or sys.maxsize
    while left:
        page = await store.failures(trace_id, min(_PAGE, left), after, chosen, order)
        yield await failure_rows(store, page.items, with_replaced=all_verdicts)
        left -= len(page.items)
        after = page.next
        if after is None:
            return
    note(f"There are more than {limit:,}: --limit 0 lists all.")


async def _show(pages: AsyncIterator[list[FailureRow]], trace: str | None, everything: bool) -> None:
    """Print failures for people, and a hint what to do next."""
    from api.cli.render import tables
    from api.cli.render.text import counted, short
    from attribution.verdicts.gold import on_earlier_gold
    from schema.kinds import HUMAN_METHOD

    out = Output()
    shown: list[Failure] = []
    unexplained: list[Failure] = []
    async for page in pages:
        for row in page:
            out.show(tables.failure(row))
            out.lines("")
            shown.append(row.failure)
            if all(one.method == HUMAN_METHOD or on_earlier_gold(one, row.failure) for one in row.verdicts):
                unexplained.append(row.failure)
    if not shown:
        note(NO_FAILURE if everything else "No failure is of this kind; `memtrace failures` lists all.")
        return
    first = next((failure.answer_id for failure in shown if failure.answer_id), shown[0].question_id)
    hint = f"See what led to an answer with: memtrace closure {short(first)}"
    if unexplained:
        hint = f"Find out why with: memtrace attribute {_those(unexplained, trace)}"
    note(f"{counted(len(shown), 'failure')}. {hint}")


def _those(failures: list[Failure], trace: str | None) -> str:
    """The options of `memtrace attribute` that select these failures."""
    import shlex

    from api.cli.render.text import short

    if len(failures) == 1:
        return short(failures[0].id)
    return f"--trace {shlex.quote(trace)}" if trace else "--all"
