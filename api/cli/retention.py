"""`memtrace retention`: how long a project keeps its traces."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, command
from api.cli.errors import ExitCode, UsageError, complain, note
from api.cli.keeper import ACTOR, keeper_door
from api.cli.options import JsonOption
from api.cli.output import Output, print_json

if TYPE_CHECKING:
    import asyncio

    from api.auth.access import ProjectDoor
    from schema.control import RetentionPolicy
    from store.retention import Expired, Run

app = typer.Typer(help="Set how long a project keeps its traces, and delete older ones.", no_args_is_help=True)

_PANEL = "Commands"


@command(app, name="set", panel=_PANEL)
async def set_policy(
    place: Target,
    days: Annotated[
        int | None,
        typer.Option(
            "--days", metavar="N", min=1, max=36500, help="Delete traces to which nothing was written for N days."
        ),
    ] = None,
    traces: Annotated[
        int | None,
        typer.Option(
            "--traces", metavar="N", min=1, max=1_000_000_000, help="Keep the N traces that were written to last."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Set the retention policy: days, a number of traces, or both. It replaces the earlier policy.

    Workers and servers act on it after an hour; until then `retention run --dry-run` lists the traces to delete.
    """
    from store.retention import policy

    if days is None and traces is None:
        raise UsageError("say --days N, --traces N or both; `memtrace retention clear` keeps traces for good")
    async with keeper_door(place, create=True) as door:
        wanted = policy(door.project_id, days, traces, ACTOR)
        await door.records.set_retention(wanted, door.entry("setRetention"))
    _print(place, wanted, as_json)


@command(app, panel=_PANEL)
async def show(place: Target, as_json: JsonOption = False) -> None:
    """Show the retention policy."""
    async with place.database() as database:
        found = await database.records(place.project_id).retention()
    _print(place, found, as_json)


@command(app, panel=_PANEL)
async def clear(place: Target, as_json: JsonOption = False) -> None:
    """Remove the policy: keep all traces from now on. A deletion that is under way stops."""
    async with keeper_door(place) as door:
        await door.records.clear_retention(door.entry("clearRetention"))
    _print(place, None, as_json)


@command(app, panel=_PANEL)
async def run(
    place: Target,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be deleted.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete the traces that the policy does not keep, now. Ctrl-C stops it after the trace it is deleting."""
    from store.retention import plan

    async with keeper_door(place) as door:
        wanted = await door.records.retention()
        if wanted is None:
            complain(f"project {place.project_id!r} keeps its traces for good: see `memtrace retention set`")
            raise typer.Exit(ExitCode.NOT_FOUND)
        out = Output()
        found: list[Expired] = []

        def tell(expired: Expired) -> None:
            if as_json:
                found.append(expired)
            else:
                out.lines(_line(expired))
                sys.stdout.flush()
            total.update({"Trace": 1} | expired.counts)

        total: Counter[str] = Counter()
        is_stopped = False
        if dry_run:
            async for expired in plan(door.store, wanted):
                tell(expired)
        else:
            is_stopped = (await _apply(door, tell)).is_stopped
    if as_json:
        listed = [_expired_document(expired) for expired in found]
        print_json({"dryRun": dry_run, "stopped": is_stopped, "traces": listed, "counts": dict(total)})
    else:
        counted = ", ".join(f"{count:,} {label}" for label, count in total.items() if count) or "nothing"
        note(f"{'Would delete' if dry_run else 'Deleted'}: {counted}.")
    if is_stopped:
        complain("stopped; running it again goes on")
        raise typer.Exit(ExitCode.INTERRUPTED)


async def _apply(door: ProjectDoor, tell: Any) -> Run:
    import asyncio
    import signal

    from store.retention import apply

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)

    def stop() -> None:
        stopping.set()
        _release(loop, signals)

    for number in signals:
        loop.add_signal_handler(number, stop)
    try:
        return await apply(door.store, door.records, stopping, tell, ACTOR)
    finally:
        _release(loop, signals)


def _release(loop: asyncio.AbstractEventLoop, signals: tuple[int, ...]) -> None:
    """Let signals end the program at once again."""
    for number in signals:
        loop.remove_signal_handler(number)


def _print(place: Target, found: RetentionPolicy | None, as_json: bool) -> None:
    if as_json:
        print_json(_document(place, found))
    else:
        Output().lines(_sentence(found))


def _sentence(found: RetentionPolicy | None) -> str:
    if found is None:
        return "Traces are kept for good."
    parts = []
    if found.days is not None:
        parts.append(f"nothing was written to for {found.days:,} days")
    if found.traces is not None:
        parts.append(f"are not among the {found.traces:,} that were written to last")
    return f"Traces go that {', or '.join(parts)}."


def _document(place: Target, found: RetentionPolicy | None) -> dict[str, Any]:
    from schema.models import format_time

    return {
        "projectId": place.project_id,
        "days": found and found.days,
        "traces": found and found.traces,
        "changedAt": found and format_time(found.changed_at),
        "changedBy": found and found.changed_by,
        "dueAt": found and format_time(found.due_at),
    }


def _expired_document(expired: Expired) -> dict[str, Any]:
    from schema.models import format_time

    trace = expired.trace
    return {
        "id": trace.id,
        "externalId": trace.external_id,
        "name": trace.name,
        "writtenAt": format_time(expired.written_at),
        "reason": expired.reason.value,
        "counts": expired.counts,
    }


def _line(expired: Expired) -> str:
    from api.cli.render.text import one_line
    from schema.models import format_time

    named = one_line(expired.trace.name or expired.trace.external_id, 60)
    return f"{expired.trace.id}  {format_time(expired.written_at)[:16]}  {expired.reason.value:<6}  {named}"
