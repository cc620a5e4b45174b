"""`memtrace annotate`: several people judge failures without seeing each other's verdicts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli import annotation_queues
from api.cli.context import Target, command
from api.cli.errors import note
from api.cli.options import IdHelp, JsonOption
from api.cli.output import Output, print_json

if TYPE_CHECKING:
    from api.auth.access import ProjectDoor
    from attribution.review.annotation.work import AssignedFailure, Bench
    from attribution.review.people import Judgement
    from store.contract.protocol import GraphStore

app = typer.Typer(
    no_args_is_help=True, help="Judge failures as a team, each by several people who don't see the others."
)
app.add_typer(annotation_queues.app, name="queue", rich_help_panel="Commands")

_PANEL = "Commands"

QueueArgument = Annotated[str, typer.Argument(metavar="QUEUE", help="Its name or its id.", show_default=False)]
FailureArgument = Annotated[
    str,
    typer.Argument(metavar="FAILURE", help="An id, or a unique prefix of 8 or more characters.", show_default=False),
]
AuthorOption = Annotated[
    str | None,
    typer.Option(
        "--author",
        metavar="NAME",
        help="Who you are. (env: MEMTRACE_PERSON; default: command line)",
        show_default=False,
    ),
]
TypeOption = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="Why the answer is wrong, in any case; you abstain without it.",
        show_default=False,
    ),
]
OperationOption = Annotated[
    str | None,
    typer.Option(
        "--operation",
        metavar="ID",
        help=f"The operation at fault. {IdHelp}",
        show_default=False,
    ),
]
AlsoOption = Annotated[
    list[str] | None,
    typer.Option(
        "--also",
        metavar="TYPE[:OPERATION]",
        help="Another acceptable verdict; may be repeated.",
        show_default=False,
    ),
]
ReasonOption = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="The reason, in words.", show_default=False)
]
SureOption = Annotated[
    float | None,
    typer.Option(
        "--confidence",
        min=0.0,
        max=1.0,
        help="How sure you are, from 0 to 1.",
        show_default=False,
    ),
]
EvidenceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--evidence",
        metavar="ID[=QUOTE]",
        help="A variable as proof, and words quoted from the variable; may be repeated.",
        show_default=False,
    ),
]


@command(app, name="next", panel=_PANEL)
async def next_case(
    place: Target,
    queue: QueueArgument,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Get the next case of a queue. The case is reserved for you for a while."""
    async with _bench(place, queue, author) as (_, bench):
        case = await bench.next()
    _tell(case, as_json)


@command(app, panel=_PANEL)
async def submit(
    place: Target,
    queue: QueueArgument,
    failure: FailureArgument,
    error_type: TypeOption = None,
    operation: OperationOption = None,
    also: AlsoOption = None,
    reason: ReasonOption = None,
    confidence: SureOption = None,
    evidence: EvidenceOption = None,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Submit your verdict on a case of yours, or change your submitted verdict."""
    from api.cli import annotation_documents
    from schema.error_type_names import error_type_name
    from schema.models import as_json as public

    async with _bench(place, queue, author) as (door, bench):
        judgement = await _judgement(door.store, failure, error_type, operation, also, reason, confidence, evidence)
        done = await bench.submit(judgement)
    if as_json:
        print_json(annotation_documents.assignment(done.assignment) | {"verdict": public(done.verdict)})
        return
    note(f"Submitted: {error_type_name(done.verdict.error_type)}.")


@command(app, panel=_PANEL)
async def skip(
    place: Target,
    queue: QueueArgument,
    failure: FailureArgument,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Leave a case of yours to others. You don't get the case again."""
    from api.cli import annotation_documents
    from api.cli.find import find_failure

    async with _bench(place, queue, author) as (door, bench):
        skipped = await bench.skip((await find_failure(door.store, failure)).id)
    if as_json:
        print_json(annotation_documents.assignment(skipped))
    else:
        note("Skipped.")


@command(app, panel=_PANEL)
async def undo(
    place: Target,
    queue: QueueArgument,
    failure: Annotated[
        str | None,
        typer.Argument(metavar="[FAILURE]", help="The case. (default: your last case)", show_default=False),
    ] = None,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Undo your last act in a queue, or your last act on one case. The case is yours again."""
    from api.cli.find import find_failure

    async with _bench(place, queue, author) as (door, bench):
        case = await bench.undo(None if failure is None else (await find_failure(door.store, failure)).id)
    _tell(case, as_json)


@command(app, panel=_PANEL)
async def disputes(place: Target, queue: QueueArgument, as_json: JsonOption = False) -> None:
    """List the cases on which annotators disagree, with all verdicts, but without names."""
    from api.cli import annotation_documents
    from api.cli.keeper import keeper_door
    from api.cli.render.text import counted, one_line, short
    from attribution.review.annotation.disputes import disputes as disputes_of
    from attribution.review.annotation.queues import find_queue

    async with keeper_door(place) as door:
        meant = await find_queue(door.records, door.project_id, queue)
        found = [annotation_documents.dispute(one) for one in await disputes_of(door.store, door.records, meant)]
    if as_json:
        print_json(found)
        return
    out = Output()
    for one in found:
        out.lines(f"{short(one['failureId'])}  {one_line(one['question'], 90)}")
        for side in one["sides"]:
            blamed = f" at {short(side['operationId'])}" if side["operationId"] else ""
            out.lines(
                f"  {side['name']}: {side['errorType'] or 'abstains'}{blamed}: {one_line(side['reason'] or '', 90)}"
            )
        if one["adjudicated"]:
            out.lines(f"  Final: {one['adjudicated']['errorType'] or 'abstention'}")
    note(f"{counted(len(found), 'disputed case')}.")


@command(app, panel=_PANEL)
async def adjudicate(
    place: Target,
    queue: QueueArgument,
    failure: FailureArgument,
    error_type: TypeOption = None,
    operation: OperationOption = None,
    also: AlsoOption = None,
    reason: ReasonOption = None,
    confidence: SureOption = None,
    evidence: EvidenceOption = None,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Record the final word on a case with two or more submitted verdicts."""
    from api.cli.keeper import keeper_door
    from attribution.review.annotation.disputes import adjudicate as decide
    from attribution.review.annotation.queues import find_queue
    from schema.error_type_names import error_type_name
    from schema.models import as_json as public

    async with keeper_door(place, person=author) as door:
        meant = await find_queue(door.records, door.project_id, queue)
        judgement = await _judgement(door.store, failure, error_type, operation, also, reason, confidence, evidence)
        entry_of = partial(door.entry, "adjudicate")
        final = await decide(door.store, door.records, meant, judgement, door.author, entry_of=entry_of)
    if as_json:
        print_json(public(final))
    else:
        note(f"Final: {error_type_name(final.error_type)}.")


@asynccontextmanager
async def _bench(place: Target, queue: str, author: str | None) -> AsyncIterator[tuple[ProjectDoor, Bench]]:
    from api.cli.keeper import keeper_door
    from attribution.review.annotation.work import Bench

    async with keeper_door(place, person=author) as door:
        yield door, await Bench.at(door.store, door.records, queue, door.author, door.entry)


async def _judgement(
    store: GraphStore,
    reference: str,
    error_type: str | None,
    operation: str | None,
    also: list[str] | None,
    reason: str | None,
    confidence: float | None,
    evidence: list[str] | None,
) -> Judgement:
    from api.cli.find import find, find_failure
    from api.cli.labels import error_type_of, named, split_also
    from api.cli.meant import Lead
    from attribution.review.people import Judgement
    from schema.models import Operation, Variable

    kind = None if error_type is None else error_type_of(error_type, "--type")
    failure = await find_failure(store, reference, lead=Lead.SURE)
    blamed = None if operation is None else (await find(store, Operation, operation, failure.trace_id, Lead.SURE)).id
    accepted = [await named(store, failure, *split_also(one)) for one in also or ()]
    shown = []
    for one in evidence or ():
        variable, _, quote = one.partition("=")
        shown.append(((await find(store, Variable, variable, failure.trace_id, Lead.SURE)).id, quote))
    return Judgement(failure.id, kind, blamed, reason, confidence, tuple(accepted), tuple(shown))


def _tell(case: AssignedFailure | None, as_json: bool) -> None:
    from api.cli import annotation_documents
    from api.cli.render.text import one_line
    from schema.models import as_json as public

    if as_json:
        found: Any = (
            None
            if case is None
            else annotation_documents.assignment(case.assignment) | {"failure": public(case.failure)}
        )
        print_json(found)
    elif case is None:
        note("Nothing is left for you in this queue.")
    else:
        failure, until = case.failure, case.assignment.reserved_until
        Output().lines(
            failure.id,
            f"Question: {one_line(failure.question, 500)}",
            f"Answer:   {one_line(failure.prediction or '', 500)}",
            f"Gold:     {one_line('; '.join(failure.gold_answers), 500)}",
        )
        note(f"It is kept for you until {until:%H:%M} UTC." if until else "It is submitted.")
