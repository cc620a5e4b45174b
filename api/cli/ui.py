"""`memtrace ui`: the web pages of a local store, in a browser that is signed in automatically."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import note
from api.cli.keeper import ACTOR
from api.cli.serve import ConfigOption, run_server

if TYPE_CHECKING:
    from api.web.pages.opening import Opening
    from store.contract.protocol import Database

commands = typer.Typer()

_HOURS = 12
_NAME = "memtrace ui"
_PAGES = {"overview": "", "traces": "#traces", "annotate": "/queues"} | {
    name: f"/{name}" for name in ("answers", "failures", "blame", "compare", "search", "settings")
}
"""The pages of a project that have a name."""


@command(commands)
async def ui(
    place: Target,
    reference: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="Open the page of this trace, failure, operation, answer, ..., or a page such as failures.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port to listen on; 0 takes a free one.")
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open a browser; else only its address is shown.")] = True,
    config: ConfigOption = None,
) -> None:
    """Open the web pages of a project in a browser, without typing a key, until told to stop.

    The server listens on this machine only. A key of the project with the role writer is made for the browser; it is
    revoked at the end, and expires after 12 hours.
    """
    project_id = place.project_id
    page = await _page(place, reference) if reference else "/ui"

    @asynccontextmanager
    async def opening(database: Database) -> AsyncIterator[Opening]:
        from api.auth.access import Access, Principal
        from api.auth.keys import make_key
        from api.web.pages.opening import Opening
        from schema.control import Role

        door = Access(database, Principal(ACTOR, {project_id: Role.ADMIN})).project(project_id, Role.ADMIN)
        now = datetime.now(UTC)
        text, key = make_key(project_id, _NAME, Role.WRITER, ACTOR, now, now + timedelta(hours=_HOURS))
        await door.records.add_key(key, door.entry("createKey", key.id))
        try:
            yield Opening(text, _open if browser else _tell, page)
        finally:
            await door.records.revoke_key(key.id, datetime.now(UTC), door.entry("revokeKey", key.id))

    options = {"store": place.store, "values": place.values, "host": "127.0.0.1", "port": port, "log_level": "warning"}
    await run_server(options, config, opening)


async def _page(place: Target, reference: str) -> str:
    """The path of the page with this name, or of what an id means; a wrong answer has the page of its failure."""
    from urllib.parse import quote

    from api.cli.find import find_anything, find_failure
    from api.cli.meant import Lead
    from schema.errors import InputError, NotFoundError
    from schema.models import Element, Failure, Operation, Trace, Variable

    start = f"/ui/projects/{quote(place.project_id, safe='')}"
    if reference in _PAGES:
        return start + _PAGES[reference]
    async with place.open() as store:
        found: Element
        try:
            found = await find_failure(store, reference, lead=Lead.NOT)
        except (NotFoundError, InputError):
            found = await find_anything(store, reference)
    folders = {Failure: "failures", Trace: "traces", Operation: "operations", Variable: "variables"}
    folder = folders.get(type(found))
    return f"{start}/{folder}/{found.id}" if folder else start


def _tell(address: str) -> None:
    note(f"Open {address} in a browser. It signs in once, within five minutes.")


def _open(address: str) -> None:
    import webbrowser

    _tell(address)
    # Some browsers don't return to the program that opened them until they are closed.
    Thread(target=webbrowser.open, args=(address,), daemon=True).start()
