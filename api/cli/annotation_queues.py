"""`memtrace annotate queue`: queues of failures for people to judge."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import typer

from api.cli.confirming import YesOption, check_asked, confirm
from api.cli.context import Target, command
from api.cli.errors import note
from api.cli.filters import Has, Wanted, listing
from api.cli.options import IdHelp, JsonOption
from api.cli.output import Output, print_json

app = typer.Typer(no_args_is_help=True, help="Make queues of failures, and see how far they are.")

_PANEL = "Commands"

QueueArgument = Annotated[str, typer.Argument(metavar="QUEUE", help="Its name or its id.", show_default=False)]


class OrderName(StrEnum):
    """Which failures come first: ``schema.annotation.CaseOrder`` for the options."""

    RANDOM = "random"
    UNSURE = "unsure"
    DISAGREEMENT = "disagreement"
    ERROR_TYPE = "errorType"
    SYSTEM = "system"


@command(app, panel=_PANEL)
async def create(
    place: Target,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the queue.", show_default=False)],
    order: Annotated[
        OrderName,
        typer.Option(
            "--order",
            help="Which failures come first. unsure: the least sure verdicts; disagreement: failures on which "
            "methods disagree; errorType, system: equally many of each.",
        ),
    ] = OrderName.RANDOM,
    seed: Annotated[
        str | None,
        typer.Option("--seed", help="The seed of the draw: equal seeds choose equal failures.", show_default=False),
    ] = None,
    count: Annotated[int, typer.Option("--count", min=1, help="How many failures at most.")] = 100,
    annotators: Annotated[int, typer.Option("--annotators", min=1, help="How many people judge each failure.")] = 2,
    person: Annotated[
        list[str] | None,
        typer.Option(
            "--person", metavar="NAME", help="Who may annotate; may be repeated. (default: anybody)", show_default=False
        ),
    ] = None,
    trace: Annotated[
        list[str] | None,
        typer.Option(
            "--trace",
            metavar="TRACE",
            help=f"Only failures of this trace; may be repeated. {IdHelp}",
            show_default=False,
        ),
    ] = None,
    failure: Annotated[
        list[str] | None,
        typer.Option("--failure", metavar="ID", help="Only this failure; may be repeated.", show_default=False),
    ] = None,
    minutes: Annotated[int, typer.Option("--minutes", min=1, help="For how long a case is kept for a person.")] = 30,
    as_json: JsonOption = False,
) -> None:
    """Make a queue of failures for people to judge."""
    from api.cli import annotation_documents
    from api.cli.find import find
    from api.cli.keeper import keeper_door
    from api.cli.render.text import counted
    from attribution.review.annotation.queues import QueueWish, create_queue, progress_of
    from schema.annotation import CaseOrder
    from schema.models import Failure, Trace

    async with keeper_door(place) as door:
        traces = tuple([(await find(door.store, Trace, one)).id for one in trace or ()])
        failures = tuple([(await find(door.store, Failure, one)).id for one in failure or ()])
        people = tuple(person or ())
        wish = QueueWish(name, CaseOrder(order.value), seed, count, annotators, people, traces, minutes, failures)
        entry_of = partial(door.entry, "createAnnotationQueue")
        queue = await create_queue(door.store, door.records, wish, door.author, entry_of)
        how_far = await progress_of(door.records, queue)
    if as_json:
        print_json(annotation_documents.queue(queue, how_far))
    else:
        made = counted(len(queue.failure_ids), "case")
        note(f"Made {queue.name!r} with {made}. Get one with: memtrace annotate next {queue.name!r}")


@listing(app, Has.TEXT, Has.TIME, name="list", panel=_PANEL)
async def list_queues(place: Target, wanted: Wanted) -> None:
    """List the project's queues, the newest first, including closed ones."""
    from api.cli import annotation_documents
    from api.cli.keeper import keeper_door
    from api.cli.listed import Listing, show_list
    from api.cli.narrowing import in_time, of_words
    from attribution.review.annotation.queues import every_queue, progress_of

    listed: Listing[dict[str, Any]] = Listing(
        columns=annotation_documents.QUEUE_COLUMNS,
        brief=("id", "name", "ordering", "createdAt", "closedAt"),
        document=dict,
        show=_show,
        nothing="There are no such queues; make one with: memtrace annotate queue create NAME",
        texts=lambda one: (one["id"], one["name"], "closed" if one["closedAt"] else "open", *one["people"]),
        limit=0,
    )
    async with keeper_door(place) as door:
        found = (
            annotation_documents.queue(queue, await progress_of(door.records, queue))
            async for queue in in_time(every_queue(door.records), wanted.when)
        )
        await show_list(listed, wanted, of_words(wanted), found)


@command(app, panel=_PANEL)
async def show(place: Target, queue: QueueArgument, as_json: JsonOption = False) -> None:
    """Show the progress of a queue by person, and how far the annotators agree."""
    from api.cli import annotation_documents
    from api.cli.keeper import keeper_door
    from api.cli.render.text import counted
    from attribution.review.annotation.disputes import agreement_of
    from attribution.review.annotation.queues import find_queue, progress_of

    async with keeper_door(place) as door:
        found = await find_queue(door.records, door.project_id, queue)
        agreed = await agreement_of(door.store, door.records, found)
        how_far = await progress_of(door.records, found)
    document = annotation_documents.queue(found, how_far)
    agreement = annotation_documents.agreement(agreed)
    if as_json:
        print_json(document | {"agreement": agreement})
        return
    _show([document])
    out = Output()
    for one in document["progress"]["people"]:
        out.lines(f"{one['person']}: {one['done']} done, {one['reserved']} reserved, {one['skipped']} skipped")
    if short := document["progress"]["short"]:
        out.lines(f"{counted(short, 'case')} can't be done: too many of the people whom the queue names skipped them")
    if agreement["cases"]:
        kappa = agreement["jointKappa"]
        told = "undefined" if kappa is None else f"{kappa:.2f}"
        out.lines(f"Agreed on {agreement['agreed']} of {agreement['cases']} cases; Fleiss' kappa {told}")
        if agreement["changed"]:
            out.lines(f"In {agreement['changed']} of these somebody had said something else before")


@command(app, panel=_PANEL)
async def close(place: Target, queue: QueueArgument, as_json: JsonOption = False) -> None:
    """Close a queue: nobody gets any more cases from it. A queue may be closed twice."""
    from api.cli import annotation_documents
    from api.cli.keeper import keeper_door
    from attribution.review.annotation.queues import find_queue, progress_of

    async with keeper_door(place) as door:
        found = await find_queue(door.records, door.project_id, queue)
        entry = door.entry("closeAnnotationQueue", found.id)
        closed = await door.records.close_queue(found.id, door.author, entry)
        how_far = await progress_of(door.records, closed)
    if as_json:
        print_json(annotation_documents.queue(closed, how_far))
    else:
        note(f"Closed {closed.name!r}.")


@command(app, panel=_PANEL)
async def delete(place: Target, queue: QueueArgument, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Delete a queue with its progress. The verdicts stay."""
    from api.cli.keeper import keeper_door
    from attribution.review.annotation.queues import find_queue

    check_asked(yes)
    async with keeper_door(place) as door:
        found = await find_queue(door.records, door.project_id, queue)
        if not yes:
            confirm(f"Delete the queue {found.name!r}?", "Nothing was deleted.")
        await door.records.delete_queue(found.id, door.entry("deleteAnnotationQueue", found.id))
    if as_json:
        print_json({"id": found.id, "name": found.name})
    else:
        note(f"Deleted {found.name!r}.")


def _show(documents: list[dict[str, Any]]) -> None:
    from rich.text import Text

    from api.cli.render.tables import table
    from api.cli.render.text import one_line

    rows = []
    for one in documents:
        progress = one["progress"]
        state = "closed" if one["closedAt"] else "open"
        counts = (progress["cases"], progress["done"], progress["inProgress"])
        rows.append([Text(cell) for cell in (one_line(one["name"], 40), state, one["ordering"], *map(str, counts))])
    Output().show(table(("name", "state", "order", "cases", "done", "in progress"), rows, wide="name"))
