"""Commands that run the user's own query, read only: SQL on a SQLite file, Cypher on Neo4j."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, command, person_named
from api.cli.errors import UsageError, note
from api.cli.options import Format, FormatOption, JsonFormatOption, JsonOption, chosen_format
from api.cli.output import Output, print_json
from schema.errors import InputError

if TYPE_CHECKING:
    from store.contract.asked import QueryResult

commands = typer.Typer()

_NAME = re.compile(r"[$:]?(\w+)")
_CYPHER = re.compile(r"\s*(?:MATCH|OPTIONAL MATCH|UNWIND|CALL|RETURN|MERGE)\b", re.IGNORECASE)
_TABLES = re.compile(
    r"\s*+(?:show\s+tables|[.\\\\](?:tables|schema|dt)|tables|schema|describe|desc|\\\\d)\s*+(?:;\s*+)?", re.IGNORECASE
)
_EXAMPLE = 'memtrace sql "SELECT question, gold_answers FROM failure"'
_ENDINGS = {".cypher", ".cql", ".cyp", ".sql"}

QueryArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[QUERY]",
        help="One statement, or a file of it (.cypher, .sql). Without it, or with -, it is read from standard input.",
        show_default=False,
    ),
]
ParameterOption = Annotated[
    list[str] | None,
    typer.Option(
        "-p",
        "--param",
        metavar="NAME=VALUE",
        help="A parameter of the query; the value is JSON or text. May be repeated. $project is always set.",
        show_default=False,
    ),
]
SecondsOption = Annotated[float, typer.Option("--seconds", min=0.001, help="Stop after so many seconds.")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=100_000, help="How many rows to show at most.")]
_SECONDS = 30.0
_LIMIT = 1000


@command(commands)
async def cypher(
    place: Target,
    query: QueryArgument = None,
    parameter: ParameterOption = None,
    seconds: SecondsOption = _SECONDS,
    limit: LimitOption = _LIMIT,
    format_: FormatOption = None,
    as_json: JsonFormatOption = False,
) -> None:
    """Run a Cypher query on a Neo4j store, read only. It sees all projects: limit it with {projectId: $project}.

    A query that would do more than read the graph is refused. docs/cypher.md has queries to start from.
    """
    if _is_file(place):
        raise _needs_neo4j(place)
    await _run(place, query, parameter, seconds, limit, chosen_format(format_, as_json))


@command(commands)
async def sql(
    place: Target,
    query: QueryArgument = None,
    parameter: ParameterOption = None,
    seconds: SecondsOption = _SECONDS,
    limit: LimitOption = _LIMIT,
    format_: FormatOption = None,
    as_json: JsonFormatOption = False,
) -> None:
    """Run a SQL query on a SQLite store, read only. It sees the rows of the project only.

    docs/sql.md has the tables, and queries to start from.
    """
    if not _is_file(place):
        raise _needs_sqlite()
    if _TABLES.fullmatch(query or "") or (query is None and not parameter and sys.stdin.isatty()):
        await _show_tables(place, as_json)
        return
    await _run(place, query, parameter, seconds, limit, chosen_format(format_, as_json))


@command(commands)
async def query(
    place: Target,
    query: QueryArgument = None,
    parameter: ParameterOption = None,
    seconds: SecondsOption = _SECONDS,
    limit: LimitOption = _LIMIT,
    format_: FormatOption = None,
    as_json: JsonFormatOption = False,
) -> None:
    """Run a query in the language of the store: `memtrace sql` on a SQLite file, `memtrace cypher` on Neo4j."""
    await _run(place, query, parameter, seconds, limit, chosen_format(format_, as_json))


@command(commands)
async def tables(place: Target, as_json: JsonOption = False) -> None:
    """List the tables that `memtrace sql` can read, with their columns."""
    if not _is_file(place):
        raise _needs_sqlite()
    await _show_tables(place, as_json)


async def _show_tables(place: Target, as_json: bool) -> None:
    from store.sqlite.store import SqliteStore

    async with place.open() as store:
        assert isinstance(store, SqliteStore)
        found = await store.tables()
    if as_json:
        print_json(found)
        return
    from api.cli.render import tables as rendered

    Output().show(rendered.sheet(tuple((name, ", ".join(columns)) for name, columns in found.items())))
    note(f"An example: {_EXAMPLE}. More queries are in docs/sql.md.")


def _needs_sqlite() -> UsageError:
    return UsageError("SQL needs a SQLite store (--store FILE), and this store is Neo4j: ask it with memtrace cypher")


async def _run(
    place: Target, query: str | None, given: list[str] | None, seconds: float, limit: int, form: Format
) -> None:
    if person_named() is not None:
        raise UsageError("a query shows what annotators must not see yet: unset MEMTRACE_PERSON")
    parameters = dict(_parameter(one) for one in given or [])
    text = _text(query)
    if _is_file(place) and _CYPHER.match(text):
        raise _needs_neo4j(place)
    found = await _asked(place, text, parameters, seconds, limit)
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    if form is Format.CSV:
        from api.cli.csv_output import CsvTable

        CsvTable(found.columns).add(rows)
    elif form is Format.JSON:
        print_json({"columns": found.columns, "rows": rows, "truncated": found.truncated})
    elif found.rows:
        from api.cli.render.records import records

        Output().show(records(found.columns, found.rows))
    else:
        note("The query gave no rows.")
    if found.truncated:
        note(f"There are more than these {limit:,} rows: --limit reads more.")


async def _asked(place: Target, text: str, parameters: dict[str, Any], seconds: float, limit: int) -> QueryResult:
    """The answer of the store, whose engine is imported only if it is the one that is asked."""
    async with place.open() as store:
        if _is_file(place):
            from store.sqlite.store import SqliteStore

            assert isinstance(store, SqliteStore)
            return await store.query(text, parameters, seconds, limit)
        from store.neo4j.store import Neo4jStore

        assert isinstance(store, Neo4jStore)
        return await store.query(text, parameters, seconds, limit)


def _is_file(place: Target) -> bool:
    return place.store_uri.startswith("sqlite:")


def _needs_neo4j(place: Target) -> UsageError:
    file = place.store_uri.removeprefix("sqlite:///")
    return UsageError(
        f"Cypher needs a Neo4j store (--store neo4j://host:port), and this store is the SQLite file {file}: "
        "ask it in SQL with `memtrace sql`"
    )


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


def _text(query: str | None) -> str:
    """The query: given as it is, in a file, or on standard input.

    Raises:
        UsageError: there is no query, or the file can't be read.
        InputError: the query is not UTF-8.
    """
    if query is None and sys.stdin.isatty():
        raise UsageError("there is no query: write it, name a file of it, or send it to standard input")
    if query is None or query == "-":
        name, data = "standard input", sys.stdin.buffer.read()
    elif Path(query).suffix.lower() in _ENDINGS:
        name = query
        try:
            data = Path(query).read_bytes()
        except OSError as error:
            raise UsageError(f"{query} can't be read: {error.strerror}") from None
    else:
        name, data = "QUERY", query.encode("utf-8", "surrogateescape")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(name, f"byte {error.start}", "the query is not UTF-8") from None
    if not text.strip():
        raise UsageError(f"there is no query. `memtrace tables` lists tables and columns; an example: {_EXAMPLE}")
    return text
