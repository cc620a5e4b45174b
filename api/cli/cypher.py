"""`memtrace cypher`: runs the user's own query, read only."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Any

import typer

from api.cli.context import Target, command, person_named
from api.cli.errors import UsageError, note
from api.cli.options import JsonOption
from api.cli.output import Output, print_json
from schema.errors import InputError

commands = typer.Typer()

_NAME = re.compile(r"\$?(\w+)")


@command(commands)
async def cypher(
    place: Target,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="One Cypher statement, or - to read it from standard input.")
    ],
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            "--param",
            metavar="NAME=VALUE",
            help="A parameter of the query; the value is JSON or text. May be repeated. $project is always set.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", min=0.001, help="Stop after so many seconds.")] = 30.0,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="How many rows to show at most.")] = 1000,
    as_json: JsonOption = False,
) -> None:
    """Run a Cypher query on a Neo4j store, read only. It sees all projects: limit it with {projectId: $project}.

    A query that would do more than read the graph is refused. docs/cypher.md has queries to start from.
    """
    from store.neo4j.store import Neo4jStore

    if place.store_uri.startswith("sqlite:"):
        raise UsageError("cypher asks a Neo4j store (--store neo4j://host:port); a SQLite file may be asked in SQL")
    if person_named() is not None:
        raise UsageError("cypher shows what annotators must not see yet: unset MEMTRACE_PERSON")
    parameters = dict(_parameter(given) for given in parameter or [])
    text = _text(query)
    async with place.open() as store:
        assert isinstance(store, Neo4jStore)
        found = await store.query(text, parameters, seconds, limit)
    if as_json:
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        print_json({"columns": found.columns, "rows": rows, "truncated": found.truncated})
    elif found.rows:
        from api.cli.render.records import records

        Output().show(records(found.columns, found.rows))
    else:
        note("The query gave no rows.")
    if found.truncated:
        note(f"There are more than these {limit:,} rows: --limit reads more.")


def _parameter(given: str) -> tuple[str, Any]:
    """Name and value of ``name=value``; a value that is not JSON is text."""
    from schema.outside_json import JsonError, read_json

    name, separator, value = given.partition("=")
    named = _NAME.fullmatch(name)
    if not separator or named is None:
        raise UsageError(f"--param: {given!r} is not NAME=VALUE")
    try:
        return named[1], read_json(value)
    except JsonError:
        return named[1], value


def _text(query: str) -> str:
    text = query
    if query == "-":
        try:
            text = sys.stdin.buffer.read().decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError("standard input", f"byte {error.start}", "the query is not UTF-8") from None
    if not text.strip():
        raise UsageError("there is no query")
    return text
