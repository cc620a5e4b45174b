"""`memtrace delete --all` and `--until TIME`: deletes all traces of a project, or those of a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from api.cli.confirming import check_asked, confirm
from api.cli.context import Target
from api.cli.errors import note
from api.cli.output import Output, print_json

if TYPE_CHECKING:
    from store.contract.answers import Span
    from store.contract.protocol import GraphStore

_NAMED = 10


def show_dry_run(ids: list[str], labels: Mapping[str, int], as_json: bool) -> None:
    """Print what a deletion of these traces would delete."""
    counts = {label: count for label, count in labels.items() if count}
    if as_json:
        print_json({"traceIds": ids, "wouldDelete": counts})
    else:
        listed = ", ".join(f"{count:,} {label}" for label, count in counts.items()) or "nothing"
        Output().lines(f"Would delete: {listed}. Nothing was deleted.")


async def delete_all(place: Target, yes: bool, as_json: bool, dry_run: bool = False, when: Span | None = None) -> None:
    """Delete all traces of the project, or those that began in a time; each has its entry in the audit log.

    Args:
        place: the project.
        yes: whether to go on without asking.
        as_json: whether to print JSON.
        dry_run: whether to print only what would be deleted.
        when: the time; None, or a time without bounds, means all traces.

    Raises:
        UsageError: nobody can be asked.
        typer.Exit: the answer was no.
    """
    from api.cli.keeper import keeper_door
    from api.cli.narrowing import in_time
    from api.cli.render.text import counted, short
    from store.contract.answers import Span
    from store.shared.paging import every

    async with keeper_door(place, any_name=True) as door:
        whole_project = when is None or when == Span()
        chosen = in_time(every(lambda after: door.store.traces(after=after)), when or Span())
        ids = [one.id async for one in chosen]
        traces = counted(len(ids), "trace")
        if ids and when is not None and when.until is not None and not (as_json or yes):
            await _tell_grown(door.store, ids, when.until)
        if dry_run:
            if not as_json:
                note(f"{traces}: {', '.join(short(one) for one in ids[:_NAMED])}" + ("…" if len(ids) > _NAMED else ""))
            parts = [None] if whole_project else ids
            of_each = [Counter((await door.store.stats(one)).labels) for one in parts]
            show_dry_run(ids, sum(of_each, Counter[str]()), as_json)
            return
        if ids:
            check_asked(yes)
        if ids and not yes:
            those = "all of the project" if whole_project else "which began in this time, of the project"
            confirm(f"Delete {traces}, {those} {place.any_project_id}?", "Nothing was deleted.")
        whole = Counter[str]()
        for id_ in ids:
            whole.update(await door.store.delete_trace(id_, door.entry("deleteTrace", id_)))
    if as_json:
        print_json({"project": place.any_project_id, "traceIds": ids, "deleted": dict(whole)})
    elif ids:
        listed = ", ".join(f"{count:,} {label}" for label, count in whole.items())
        Output().lines(f"Deleted {traces} of the project {place.any_project_id}: {listed}.")
    else:
        note(f"The project {place.any_project_id} has no traces{'' if whole_project else ' that began in this time'}.")


async def _tell_grown(store: GraphStore, ids: Sequence[str], until: datetime) -> None:
    """Say which of the traces, which began before a time, were written to since that time."""
    from api.cli.render.text import counted, short
    from store.shared.paging import every

    idle = {one.trace.id async for one in every(lambda after: store.idle_traces(until, before=until, after=after))}
    grown = [one for one in ids if one not in idle]
    if grown:
        named = ", ".join(map(short, grown[:_NAMED])) + ("…" if len(grown) > _NAMED else "")
        note(f"{counted(len(grown), 'trace')} began before, and got further data, verdicts or an import since: {named}")
