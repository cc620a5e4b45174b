"""`memtrace labels history` and `memtrace verdict --undo`: the history of people's verdicts on a failure."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from api.cli.context import Target
from api.cli.errors import note
from api.cli.output import Output, print_json
from schema.models import Attribution, Failure

if TYPE_CHECKING:
    from api.cli.filters import Wanted
    from schema.annotation import VerdictChange


async def show_history(place: Target, reference: str | None, wanted: Wanted) -> None:
    """Print the history of people's verdicts, the oldest first: on a failure, or on all of a trace or the project."""
    from api.cli.find import find_failure
    from api.cli.listed import Listing, each, show_list
    from api.cli.narrowing import narrowed, recorded_in
    from attribution.review.history import history
    from attribution.verdicts.stored import every_failure

    listed: Listing[dict[str, Any]] = Listing(
        columns=_COLUMNS,
        brief=("failureId", "changedAt", "changedBy", "verdict"),
        document=dict,
        show=_show,
        nothing="Nobody has said why this answer is wrong." if reference else "Nobody has said why an answer is wrong.",
        texts=lambda one: (one["changedBy"], *((one["verdict"] or {}).get(key) for key in ("errorType", "reason"))),
        names=lambda one: (one["id"], one["failureId"], one["attributionId"]),
        time="changedAt",
        limit=0,
    )
    async with place.open() as store:
        where = await narrowed(store, wanted, lambda one: isinstance(one, Failure | Attribution))
        if reference is not None:
            failures = [await find_failure(store, reference, where.trace)]
        else:
            failures = await every_failure(store, where.trace)
        ids = [one.id for one in failures]
        changes = [one for some in (await history(store, ids)).values() for one in some]
        if await store.withheld(ids):
            note("What others say is not shown: you are to judge this failure in a queue first.")
        found = [_document(one) for one in changes if recorded_in(wanted.when, one.changed_at)]
        await show_list(listed, wanted, where, each(found))


async def undo(place: Target, reference: str, author: str | None, as_json: bool) -> None:
    """Undo the last change of a person's verdict."""
    from api.cli.find import find_failure
    from api.cli.keeper import keeper_door
    from api.cli.meant import Lead
    from attribution.review.history import undo_verdict
    from schema.error_type_names import error_type_name
    from schema.models import as_json as public

    async with keeper_door(place) as door:
        failure = await find_failure(door.store, reference, lead=Lead.SURE)
        whose = author or door.author
        entry_of = partial(door.entry, "undoVerdict")
        undone = await undo_verdict(door.store, failure.id, whose, entry_of, door.author)
    if as_json:
        verdict = None if undone.verdict is None else public(undone.verdict)
        print_json({"id": undone.attribution_id, "verdict": verdict})
    elif undone.verdict is None:
        note(f"Undone. {whose} says nothing of it now.")
    else:
        note(f"Undone. {whose} says again: {error_type_name(undone.verdict.error_type)}.")


_COLUMNS = (
    *("id", "failureId", "attributionId", "number", "changedAt", "changedBy", "verdict"),
    *("undoneAt", "undoneBy"),
)
"""The members of ``_document``, in order."""


def _document(change: VerdictChange) -> dict[str, Any]:
    from schema.models import as_json as public
    from schema.models import format_time
    from store.contract.verdict_changes import read_said

    return {
        "id": change.id,
        "failureId": change.failure_id,
        "attributionId": change.attribution_id,
        "number": change.number,
        "changedAt": format_time(change.changed_at),
        "changedBy": change.changed_by,
        "verdict": None if change.said is None else public(read_said(change.said)),
        "undoneAt": None if change.undone_at is None else format_time(change.undone_at),
        "undoneBy": change.undone_by,
    }


def _show(documents: list[dict[str, Any]]) -> None:
    from rich.text import Text

    from api.cli.render import style
    from api.cli.render.tables import table
    from api.cli.render.text import one_line
    from schema.error_type_names import error_type_name

    rows = []
    for one in documents:
        said = one["verdict"]
        what = "withdrawn" if said is None else error_type_name(said["errorType"])
        state = f"undone by {one['undoneBy']}" if one["undoneAt"] else ""
        reason = one_line((said or {}).get("reason") or "", 60)
        cells = (one["changedAt"][:19], one["changedBy"], what, reason, state)
        rows.append([style.id_(one["failureId"]), *map(Text, cells)])
    Output().show(table(("failure", "when", "who", "what", "reason", "state"), rows, wide="reason"))
