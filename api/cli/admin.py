"""Commands that keep the store in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.confirming import YesOption, check_asked, confirm
from api.cli.context import Target, command
from api.cli.deleting import delete_all, show_dry_run
from api.cli.errors import ExitCode, UsageError, note
from api.cli.options import IdHelp, JsonOption, TraceOption
from api.cli.output import Output, print_json
from api.cli.times import SinceOption, UntilOption, span
from schema.errors import StoreError

if TYPE_CHECKING:
    from store.contract.answers import Health

commands = typer.Typer()

OneTraceArgument = Annotated[str | None, typer.Argument(metavar="[TRACE]", help=IdHelp, show_default=False)]


@command(commands)
async def delete(
    place: Target,
    reference: OneTraceArgument = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Delete all traces of the project, and so the project.", show_default=False)
    ] = False,
    since: SinceOption = None,
    until: UntilOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be deleted.", show_default=False)
    ] = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a trace, everything that belongs to it, and the values that no other trace uses.

    With --since or --until, all traces that began in this time are deleted: memtrace delete --until 30d.
    """
    if all_ or since or until:
        if reference:
            raise UsageError(f"{'--all' if all_ else 'a time'} means several traces: leave out the TRACE")
        await delete_all(place, yes, as_json, dry_run, span(since, until))
        return
    if not reference:
        told = "`memtrace traces` lists them; all of the project: memtrace delete --all"
        raise UsageError(f"`memtrace delete` needs the id of one: {told}")
    from api.cli.find import find
    from api.cli.keeper import keeper_door
    from api.cli.meant import Lead, OtherKindError, trace_of
    from api.cli.render.text import counted, one_line, short
    from schema.models import Failure, Trace

    async with keeper_door(place, any_name=True) as door:
        try:
            found = await find(door.store, Trace, reference, lead=Lead.NOT)
        except OtherKindError as error:
            line = f"memtrace delete {short(trace_of(error.found))}"
            is_wrong = isinstance(error.found, Failure)
            more = f"; the failure is withdrawn by: memtrace unfail {short(error.found.id)}" if is_wrong else ""
            error.args = (f"{error}. Only a whole trace can be deleted: {line}{more}",)
            raise
        if dry_run:
            show_dry_run([found.id], (await door.store.stats(found.id)).labels, as_json)
            return
        check_asked(yes)
        if not yes:
            variables = counted((await door.store.stats(found.id)).labels.get("Variable", 0), "variable")
            named = one_line(found.name or found.external_id, 80)
            confirm(f"Delete the trace {named} ({found.id}) with {variables}?", "Nothing was deleted.")
        counts = await door.store.delete_trace(found.id, door.entry("deleteTrace", found.id))
    if as_json:
        print_json({"traceId": found.id, "deleted": counts})
    else:
        listed = ", ".join(f"{count:,} {label}" for label, count in counts.items())
        Output().lines(f"Deleted {found.id}: {listed}.")


@command(commands)
async def stats(
    place: Target,
    reference: Annotated[
        str | None, typer.Argument(metavar="[TRACE]", help="The same as --trace.", show_default=False)
    ] = None,
    trace: TraceOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which store is used, and how much the project, or one trace, holds. Bytes are those of the whole store.

    With --since or --until, what was recorded in this time is counted. Derivations have no time, and are left out then.
    """
    from api.cli import documents
    from api.cli.counting import counted_in
    from api.cli.find import find_trace_id
    from api.cli.render import tables

    when = span(since, until)
    async with place.open() as store:
        only = await find_trace_id(store, trace or reference)
        found = await store.stats(only)
        if since or until:
            found = await counted_in(store, found, only, when)
    waiting = await _waiting(place)
    if as_json:
        print_json(documents.stats(found) | {"queue": waiting})
        return
    Output().show(tables.sheet((("store", place.store_uri), ("project", place.any_project_id))))
    Output().lines("")
    Output().show(*tables.stats(found))
    if waiting is not None:
        Output().show(tables.queue(waiting))


async def _waiting(place: Target) -> dict[str, Any] | None:
    """The state of the queue of events of all projects, and the dead letters of this project; None without a queue."""
    from api.cli import documents
    from api.cli.queues import queue_of

    try:
        async with queue_of(place) as queue:
            if queue is None:
                return None
            return documents.queue(await queue.state(), await queue.letters(place.project_id).count())
    except StoreError as error:
        note(f"How the queue of events stands can't be told: {error}")
        return None


async def _with_queue(place: Target, found: Health) -> Health:
    """What the checks of the store and of the queue of events found."""
    from dataclasses import replace

    from api.cli.queues import queue_of
    from ingest.queue.journal.queue import Journal

    details: dict[str, Any]
    problems, warnings = list[str](), list[str]()
    try:
        async with queue_of(place) as queue:
            if queue is None:
                return found
            if isinstance(queue, Journal):
                details, problems, warnings = await queue.inspect()
            else:
                state = await queue.state()
                details = {"packets": state.packets, "deadLetters": state.dead}
    except StoreError as error:
        return replace(found, problems=[*found.problems, f"queue of events: {error}"])
    known = found.details | {"queue": details}
    if warnings:
        known["warnings"] = [*known.get("warnings", []), *warnings]
    return replace(found, details=known, problems=[*found.problems, *problems])


@command(commands)
async def migrate(place: Target, as_json: JsonOption = False) -> None:
    """Bring the layout of the store up to date. A store that does not exist is created."""
    async with place.database(create=True) as database:
        applied = await database.migrate()
    if as_json:
        print_json({"applied": applied})
    else:
        Output().lines(*[f"applied {name}" for name in applied] or ["The layout is up to date."])
        note(
            "The store is ready. Record into it: memtrace run -- python app.py; or: memtrace import FILE; where it is: "
            "memtrace stats"
        )


@command(commands)
async def doctor(place: Target, as_json: JsonOption = False) -> None:
    """Check the store and the queue: version, layout, damage, free space, access rights. Exit code 1 means problems."""
    from api.cli import documents
    from api.cli.render import sheets

    async with place.database() as database:
        found = await _with_queue(place, await database.health())
    if as_json:
        print_json(documents.health(found))
    else:
        Output().show(sheets.health(found))
    if found.problems:
        raise typer.Exit(ExitCode.FAILED)
