"""Commands that record which answers are wrong or right, withdraw this, and list the failures."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.confirming import YesOption, check_asked, confirm
from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.narrowing import SearchOption
from api.cli.next_steps import NO_FAILURE
from api.cli.options import (
    Format,
    FormatOption,
    JsonFormatOption,
    JsonOption,
    TraceOption,
    VariableHelp,
    chosen_format,
)
from api.cli.output import Output, print_json

if TYPE_CHECKING:
    from attribution.verdicts.failure_columns import FailureRow
    from schema.models import Failure, Variable
    from store.contract.answers import FailureFilter, FailureOrder
    from store.contract.protocol import GraphStore

commands = typer.Typer()


class SortName(StrEnum):
    """The keys that sort failures: ``store.contract.answers.FailureKey`` without the imports of its module."""

    TIME = "time"
    CONFIDENCE = "confidence"
    ERROR_TYPE = "errorType"
    OPERATION = "operation"


_MOST_QUESTIONS = 5
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
    if reference and (trace or error_type or sort):
        raise UsageError("ID names failures one by one: leave out --trace, --type and --sort")
    from store.contract.answers import FailureFilter, FailureKey, FailureOrder

    chosen = FailureFilter(error_type=error_type_of(error_type, "--type") if error_type else None)
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
            await _show(pages, trace, everything=error_type is None)


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


@command(commands)
async def fail(
    place: Target,
    answer: Annotated[
        str | None,
        typer.Argument(
            metavar="[ANSWER]",
            help=f"The answer, or its question. {VariableHelp} Without it, the last answers are listed.",
            show_default=False,
        ),
    ] = None,
    right_answer: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]...", help="The right answer; the same as --gold.", show_default=False),
    ] = None,
    gold: Annotated[
        list[str] | None,
        typer.Option(
            "--gold",
            metavar="TEXT",
            help="A right answer. If repeated, each is a right answer by itself. An answer with several parts is "
            "one text.",
            show_default=False,
        ),
    ] = None,
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            "--evidence",
            metavar="ID",
            help="A message that holds the right answer; may be repeated.",
            show_default=False,
        ),
    ] = None,
    question: Annotated[
        str | None,
        typer.Option("--question", metavar="ID", help="The question, if the graph does not show it."),
    ] = None,
    comment: Annotated[
        str | None, typer.Option("--comment", metavar="TEXT", help="A comment for people to read.")
    ] = None,
    trace: TraceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Record that an answer is wrong: memtrace fail 283064ca "In Berlin".

    If it is recorded already, the gold answers and the evidence that you name replace the earlier ones.
    """
    from functools import partial

    from api.cli import documents
    from api.cli.choosing import chosen_answer, wrong_answer
    from api.cli.find import find
    from api.cli.keeper import keeper_door
    from api.cli.render import tables
    from api.cli.render.text import short
    from attribution.verdicts.failure_columns import failure_rows
    from ingest.events.feedback import Complaint, record_failure
    from schema.models import Variable

    gold = [*(right_answer or []), *(gold or [])]
    async with keeper_door(place) as door:
        store = door.store
        if answer is None:
            answered, told = await chosen_answer(store, trace)
            gold += told
        else:
            answered = await wrong_answer(store, answer, trace)
        asked = await find(store, Variable, question, answered.trace_id) if question else await _asked(store, answered)
        messages = [await find(store, Variable, one, answered.trace_id) for one in evidence or ()]
        complaint = Complaint(asked.id, answered.id, tuple(gold), tuple(message.id for message in messages), comment)
        failure = await record_failure(store, complaint, door.actor, partial(door.entry, "recordFailure"))
        (row,) = await failure_rows(store, [failure])
    if as_json:
        print_json(documents.failure(row))
        return
    Output().show(tables.failure(row))
    note(f"Recorded. Find out why with: memtrace why {short(failure.id)}")


@command(commands)
async def unfail(
    place: Target,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="FAILURE",
            help="The failure: an id, or a unique prefix of 8 or more characters; or its answer.",
            show_default=False,
        ),
    ],
    trace: TraceOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Withdraw a failure that a user reported, with all verdicts on it. Nobody has judged its answer then.

    If another failure has the same answer, the answer stays wrong. Failures of judges and annotations can't be
    withdrawn.
    """
    from functools import partial

    from api.cli.find import LAST, find_failure, find_trace_id
    from api.cli.keeper import keeper_door
    from api.cli.render.text import counted, one_line, short
    from ingest.events.feedback import find_reported, withdraw_failure

    check_asked(yes)
    async with keeper_door(place) as door:
        trace_id = await find_trace_id(door.store, trace)
        if reference.casefold() in LAST or " " in reference:
            reference = (await find_failure(door.store, reference, trace_id)).id
        failure = await find_reported(door.store, reference, trace_id)
        if not yes:
            verdicts = counted(len(await door.store.attributions([failure.id])), "verdict")
            named = one_line(failure.question, 80)
            confirm(f"Withdraw the failure {short(failure.id)} ({named}) with {verdicts}?", "Nothing was withdrawn.")
        counts = await withdraw_failure(door.store, failure, partial(door.entry, "withdrawFailure"))
    if as_json:
        print_json({"failureId": failure.id, "answerId": failure.answer_id, "deleted": counts})
        return
    verdicts = counted(counts.get("Attribution", 0), "verdict")
    note(f"Withdrawn: {short(failure.id)}, with {verdicts}.")


@command(commands)
async def right(
    place: Target,
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help=VariableHelp, show_default=False)],
    trace: TraceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Mark an answer as right. An answer that was marked as wrong before stays wrong."""
    from functools import partial

    from api.cli.choosing import wrong_answer
    from api.cli.keeper import keeper_door
    from api.cli.render.text import short
    from ingest.events.feedback import failures_of, record_right
    from schema.errors import InputError
    from schema.models import as_json as public

    async with keeper_door(place) as door:
        answered = await wrong_answer(door.store, answer, trace)
        async for failure in failures_of(door.store, answered):
            raise InputError(
                short(answered.id),
                "",
                f"it was judged wrong: failure {short(failure.id)}. If a user reported this, take it back with: "
                f"memtrace unfail {short(failure.id)}",
            )
        judged = await record_right(door.store, answered, entry_of=partial(door.entry, "markRight"))
    if as_json:
        print_json(public(judged))
        return
    note(f"Recorded: {short(judged.id)} is right.")


async def _asked(store: GraphStore, answer: Variable) -> Variable:
    """The question to which an answer belongs according to the graph."""
    from api.cli.render.text import name_of, short
    from ingest.events.questions import questions_of

    found = (await questions_of(store, [answer]))[answer.id]
    if len(found) == 1:
        return found[0]
    shown = ", ".join(f"{short(one.id)} {name_of(one, 40)}" for one in found[:_MOST_QUESTIONS])
    reason = f"it may be one of {len(found):,}: {shown}" if found else "no query led to it"
    raise UsageError(f"the graph does not say what {short(answer.id)} answers ({reason}): name it with --question ID")
