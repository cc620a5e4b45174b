"""`memtrace backup`: copies a SQLite store into a file, also while it is written to."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.options import JsonOption
from api.cli.output import print_json

commands = typer.Typer()

_SQLITE = "sqlite:///"
_ENDINGS = {".db", ".sqlite", ".sqlite3"}


@command(commands)
async def backup(
    place: Target,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="The copy, such as saved.db. (default: the name of the store, with the time)",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The same as FILE.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the whole store, with all projects and keys, into a file that nobody has changed halfway.

    The copy is a store like any other: memtrace traces --store saved.db. One trace as a file: `memtrace export`.
    """
    import asyncio

    from api.cli.render.text import size_of
    from api.settings.credentials import refuse_secrets
    from store.sqlite.backup import copy_file

    if file and output:
        raise UsageError("the file is said twice: leave out -o")
    uri, values = place.store_uri, place.values_uri
    refuse_secrets("--store", uri)
    if not uri.startswith(_SQLITE):
        raise UsageError(
            f"{uri} is no SQLite file. Neo4j has tools for it: neo4j-admin database dump; a trace as a file: "
            "`memtrace export TRACE -o trace.json`"
        )
    source = Path(uri.removeprefix(_SQLITE))
    target = file or output or source.with_name(f"{source.stem}-{datetime.now(UTC):%Y%m%d-%H%M%S}.db")
    if target.suffix not in _ENDINGS:
        raise UsageError(f"{target}: the copy is a SQLite file, which ends in .db: memtrace backup saved.db")
    size = await asyncio.to_thread(copy_file, source, target)
    if as_json:
        print_json({"file": str(target), "bytes": size, "valuesElsewhere": values})
    else:
        note(f"Copied {source} to {target}: {size_of(size)}. See what is in it: memtrace traces --store {target}")
    if values:
        note(f"Long values are kept elsewhere, and are not in the copy: {values}")
