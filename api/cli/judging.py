"""Commands that record which answers are wrong or right, and withdraw this."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.confirming import YesOption, check_asked, confirm
from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.options import JsonOption, TraceOption, VariableHelp
from api.cli.output import Output, print_json

commands = typer.Typer()


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
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="Many at once: CSV or JSON lines with the columns id (of the answer) or question, and gold (the right "
            "answer). Lines without a right answer are left out. If a line does not fit, nothing is recorded.",
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
    if file is None and answer is not None and not (right_answer or gold) and _is_gold_file(answer):
        file, answer = answer, None
    if file is not None:
        if answer or gold or evidence or question:
            raise UsageError(
                "--file names the answers, and what is right: leave out ANSWER, --gold, --evidence, --question"
            )
        await _fail_many(place, file, comment, trace, as_json)
        return
    from functools import partial

    from api.cli import documents
    from api.cli.choosing import asked_of, chosen_answer, wrong_answer
    from api.cli.find import find
    from api.cli.keeper import keeper_door
    from api.cli.meant import Lead
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
        asked = (
            await find(store, Variable, question, answered.trace_id, Lead.SURE)
            if question
            else await asked_of(store, answered)
        )
        messages = [await find(store, Variable, one, answered.trace_id, Lead.SURE) for one in evidence or ()]
        complaint = Complaint(asked.id, answered.id, tuple(gold), tuple(message.id for message in messages), comment)
        failure = await record_failure(store, complaint, door.actor, partial(door.entry, "recordFailure"))
        (row,) = await failure_rows(store, [failure])
    if as_json:
        print_json(documents.failure(row))
        return
    Output().show(tables.failure(row))
    note(f"Recorded. Find out why with: memtrace why {short(failure.id)}")


def _is_gold_file(word: str) -> bool:
    return Path(word).suffix.casefold() in {".csv", ".tsv", ".json", ".jsonl", ".ndjson"} and Path(word).is_file()


async def _fail_many(place: Target, file: str, comment: str | None, trace: str | None, as_json: bool) -> None:
    """Record the wrong answers of a file, all or none.

    Raises:
        InputError: a line does not fit; each such line is printed.
    """
    from functools import partial

    from api.cli import documents
    from api.cli.files import read_file
    from api.cli.gold_file import read_gold
    from api.cli.keeper import keeper_door
    from api.cli.many_failures import misfits_and_failures
    from api.cli.render.text import counted
    from attribution.verdicts.failure_columns import failure_rows
    from ingest.events.feedback import store_failure
    from schema.errors import InputError

    lines = read_gold(read_file(file), file)
    async with keeper_door(place) as door:
        misfits, found = await misfits_and_failures(door.store, lines, comment, trace, door.actor)
        for number, problem in misfits:
            note(f"line {number}: {problem}")
        if misfits:
            what = f"{len(misfits):,} of {counted(len(lines), 'line')} {'does' if len(misfits) == 1 else 'do'} not fit"
            raise InputError(file, "", f"{what}, so nothing was recorded")
        for failure in found:
            await store_failure(door.store, failure, partial(door.entry, "recordFailure"))
        rows = await failure_rows(door.store, found)
    if as_json:
        print_json([documents.failure(row) for row in rows])
    left_out = sum(not line.gold for line in lines)
    rest = f" {counted(left_out, 'line')} without a right answer left out." if left_out else ""
    note(f"Recorded: {counted(len(found), 'wrong answer')}.{rest} Find out why with: memtrace attribute --all")


@command(commands)
async def unfail(
    place: Target,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="FAILURE",
            help="The failure: an id, or a unique prefix of 8 or more characters; or its answer, question or verdict.",
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

    from api.cli.find import find_failure, find_trace_id
    from api.cli.keeper import keeper_door
    from api.cli.meant import Lead
    from api.cli.render.text import counted, one_line, short
    from ingest.events.feedback import find_reported, withdraw_failure
    from schema.errors import InputError, NotFoundError

    check_asked(yes)
    async with keeper_door(place) as door:
        trace_id = await find_trace_id(door.store, trace)
        try:
            failure = await find_reported(door.store, reference, trace_id)
        except NotFoundError as error:
            try:
                led_to = await find_failure(door.store, reference, trace_id, Lead.SURE)
            except (NotFoundError, InputError):
                raise error from None
            failure = await find_reported(door.store, led_to.id, trace_id)
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
