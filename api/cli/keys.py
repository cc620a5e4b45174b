"""`memtrace keys`: makes, lists and revokes API keys of a project."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.filters import Has, Wanted, listing
from api.cli.keeper import ACTOR, keeper_door
from api.cli.options import JsonOption
from api.cli.output import Output, print_json

if TYPE_CHECKING:
    from schema.control import ApiKey

app = typer.Typer(help="Make, list and revoke API keys of a project.", no_args_is_help=True)

_PANEL = "Commands"
_COLUMNS = (
    *("id", "projectId", "name", "role", "state", "createdAt", "createdBy", "person"),
    *("expiresAt", "revokedAt", "lastUsedAt"),
)
"""The members of ``_document``, in order."""


class RoleName(StrEnum):
    """The roles of keys: ``schema.control.Role`` for the options."""

    READER = "reader"
    ANNOTATOR = "annotator"
    WRITER = "writer"
    ADMIN = "admin"


@command(app, panel=_PANEL)
async def create(
    place: Target,
    named: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="The same as --name.", show_default=False)
    ] = None,
    name: Annotated[str, typer.Option("--name", help="What the key is for.")] = "",
    person: Annotated[
        str | None,
        typer.Option(
            "--person",
            metavar="NAME",
            help="Whose key it is: the author of verdicts that are sent with it. (default: the key's name)",
            show_default=False,
        ),
    ] = None,
    role: Annotated[
        RoleName,
        typer.Option(
            "--role",
            help="What the key allows. An annotator may read and judge in annotation queues, a writer may also change "
            "traces and start jobs, an admin may do everything.",
        ),
    ] = RoleName.READER,
    expires: Annotated[
        int | None,
        typer.Option(
            "--expires", metavar="DAYS", min=1, max=36500, help="After how many days it expires. [default: never]"
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key. It is shown only once. A SQLite file that does not exist is created."""
    from api.auth.keys import make_key
    from schema.control import Role

    if name and named:
        raise UsageError("the name of the key is said twice: leave out --name")
    name = name or " ".join(named or [])
    now = datetime.now(UTC)
    ends = now + timedelta(days=expires) if expires else None
    key, kept = make_key(place.project_id, name, Role(role.value), ACTOR, now, ends, person)
    async with keeper_door(place, create=True) as door:
        await door.records.add_key(kept, door.entry("createKey", kept.id))
    if as_json:
        print_json({"key": key, **_document(kept, now)})
        return
    Output().lines(key)
    until = f" until {ends:%Y-%m-%d}" if ends else ""
    note(f"Its role in project {kept.project_id} is {kept.role}{until}. It is not shown again.")


@listing(app, Has.TEXT, Has.TIME, name="list", panel=_PANEL)
async def list_keys(place: Target, wanted: Wanted) -> None:
    """List the project's keys, also revoked and expired ones, the newest first."""
    from api.cli.listed import Listing, show_list
    from api.cli.narrowing import in_time, of_words
    from store.shared.paging import every

    now = datetime.now(UTC)
    listed: Listing[ApiKey] = Listing(
        columns=_COLUMNS,
        brief=("id", "role", "state", "expiresAt", "person", "name"),
        document=lambda key: _document(key, now),
        show=lambda found: _show([_document(key, now) for key in found]),
        nothing="There are no such keys; make one with: memtrace keys create NAME",
        texts=lambda key: (key.id, key.name, key.person, key.role.value, _state(key, now)),
        limit=0,
    )
    async with keeper_door(place) as door:
        found = in_time(every(lambda after: door.records.keys(after=after)), wanted.when)
        await show_list(listed, wanted, of_words(wanted), found)


@command(app, panel=_PANEL)
async def revoke(
    place: Target,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `keys list` shows it.")],
    as_json: JsonOption = False,
) -> None:
    """Revoke a key: servers refuse it within seconds. Revoking it again changes nothing."""
    now = datetime.now(UTC)
    async with keeper_door(place) as door:
        kept = await door.records.revoke_key(key_id, now, door.entry("revokeKey", key_id))
    if as_json:
        print_json(_document(kept, now))
    else:
        Output().lines(f"Revoked {kept.id}.")


def _document(key: ApiKey, now: datetime) -> dict[str, Any]:
    return {
        "id": key.id,
        "projectId": key.project_id,
        "name": key.name,
        "role": key.role.value,
        "state": _state(key, now),
        "createdAt": _time(key.created_at),
        "createdBy": key.created_by,
        "person": key.person,
        "expiresAt": _time(key.expires_at),
        "revokedAt": _time(key.revoked_at),
        "lastUsedAt": _time(key.last_used_at),
    }


def _state(key: ApiKey, now: datetime) -> str:
    from api.auth.invitations import is_invitation

    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= now:
        return "expired"
    return "invitation" if is_invitation(key) else "active"


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None


def _show(documents: list[dict[str, Any]]) -> None:
    from rich.text import Text

    from api.cli.render.tables import table
    from api.cli.render.text import one_line

    columns = ("id", "role", "state", "expires", "last used", "person", "name")
    rows = [
        [
            Text(cell)
            for cell in (
                key["id"],
                key["role"],
                key["state"],
                *((key[name] or "")[:10] for name in ("expiresAt", "lastUsedAt")),
                one_line(key["person"] or "", 20),
                one_line(key["name"], 40),
            )
        ]
        for key in documents
    ]
    Output().show(table(columns, rows, wide="name"))
