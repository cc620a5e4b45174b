"""How a list is narrowed, cut, sorted and printed: the same for all commands that list things."""

from __future__ import annotations

import json
import shlex
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import typer

from api.cli.columns import column_meant, like
from api.cli.errors import UsageError, note
from api.cli.filters import Wanted
from api.cli.narrowing import Place, says
from api.cli.options import Format
from api.cli.output import print_json
from api.cli.selection import chosen_columns, selection
from api.cli.times import PERIODS, period_of

T = TypeVar("T")

LIMIT = 1000
_AT_ONCE = 1000
"""Number of rows that are written together."""
_TIME = "time"
_COUNTS = {"count", "number", "total", "frequency", "n"}
_RANKED = {"operation", "prompt", "unit", "session"}
"""What `memtrace blame` ranks."""


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """How the things of a list are written.

    Attributes:
        columns: the names of the members of each document.
        brief: the columns of a list in Markdown.
        document: the JSON of a thing.
        show: prints things for people.
        nothing: what is said if there is nothing.
        texts: the texts in which words are looked for; None if the words were looked for before.
        names: the ids under which a thing goes.
        time: the column with the time; None if things have none.
        limit: how many are listed at most, unless the user says it; 0 for all.
        json: the JSON of a thing, where ``document`` is only the row of a table.
        others: other names of columns.
        computed: what a list can be sorted by that is no column.
    """

    columns: Sequence[str]
    brief: Sequence[str]
    document: Callable[[T], Mapping[str, Any]]
    show: Callable[[list[T]], None]
    nothing: str
    texts: Callable[[T], Iterable[str | None]] | None = None
    names: Callable[[T], Iterable[str | None]] | None = None
    time: str | None = "createdAt"
    limit: int = LIMIT
    json: Callable[[T], Mapping[str, Any]] | None = None
    others: Mapping[str, str] = field(default_factory=dict)
    computed: Mapping[str, Callable[[T], Any]] = field(default_factory=dict)


async def show_list(listing: Listing[T], wanted: Wanted, place: Place, found: AsyncIterator[T]) -> None:
    """Print a list as the options say.

    Args:
        listing: how the things are written.
        wanted: the options.
        place: what the words and options narrow the list to.
        found: the things, in the order of the list; those of another trace or time are left out already.

    Raises:
        UsageError: the list has no column of a chosen name.
    """
    chosen = _chosen(listing, wanted, place, found)
    if wanted.by:
        await _show_counted(listing, wanted, wanted.by, chosen)
    elif wanted.count:
        typer.echo(sum([1 async for _ in chosen]))
    elif wanted.ids:
        column = next(one for one in listing.columns if one in {"id", "variableId"})
        async for one in chosen:
            typer.echo(listing.document(one)[column])
    elif wanted.form is Format.CSV:
        from api.cli.csv_output import CsvTable

        table = CsvTable(listing.columns)
        page: list[Mapping[str, Any]] = []
        async for one in chosen:
            page.append(listing.document(one))
            if len(page) == _AT_ONCE:
                table.add(page)
                page = []
        if page:
            table.add(page)
    elif wanted.form is Format.JSON:
        as_json = listing.json or listing.document
        print_json([as_json(one) async for one in chosen])
    elif wanted.form is Format.MARKDOWN:
        columns = chosen_columns(listing.columns) if selection.get().columns else listing.brief
        _show_markdown(columns, [listing.document(one) async for one in chosen])
    elif all_ := [one async for one in chosen]:
        listing.show(all_)
    else:
        note(listing.nothing)


async def _chosen(listing: Listing[T], wanted: Wanted, place: Place, found: AsyncIterator[T]) -> AsyncIterator[T]:
    """The wanted things, in the wanted order; a note tells if the limit left some out."""
    fitting: AsyncIterator[T] = (one async for one in found if _fits(listing, place, one))
    if wanted.sort or wanted.descending:
        fitting = each(_sorted(listing, wanted, [one async for one in fitting]))
    if wanted.last:
        kept = deque[T](maxlen=wanted.last)
        async for one in fitting:
            kept.append(one)
        fitting = each(kept)
    limit = (
        listing.limit if wanted.limit is None and not (wanted.count or wanted.by or wanted.last) else wanted.limit or 0
    )
    listed = 0
    async for one in fitting:
        if listed == limit > 0:
            is_by_time = listing.time and not (wanted.sort or wanted.descending)
            more = (
                f"these are the first; the last: --last {limit}; all: --limit 0."
                if is_by_time
                else "--limit 0 lists all."
            )
            note(f"There are more than {limit:,}: {more}")
            return
        listed += 1
        yield one


def _fits(listing: Listing[T], place: Place, one: T) -> bool:
    if place.ids and listing.names and not place.ids.intersection(listing.names(one)):
        return False
    return not place.text or listing.texts is None or says(listing.texts(one), place.text)


async def each(things: Iterable[T]) -> AsyncIterator[T]:
    """The things, one after the other, as ``show_list`` takes them."""
    for one in things:
        yield one


def _sorted(listing: Listing[T], wanted: Wanted, things: list[T]) -> list[T]:
    """The things by a column; what has no value comes last in both directions.

    Raises:
        UsageError: the list has no such column.
    """
    if wanted.sort is None:
        return things[::-1]
    if wanted.by and wanted.sort.casefold() in _COUNTS:
        return things  # the most frequent come first
    key = listing.computed.get(listing.others.get(wanted.sort.casefold(), wanted.sort.casefold()))
    if key is None:
        column = _column(listing, wanted.sort, "--sort")
        valued = [(listing.document(one).get(column), one) for one in things]
    else:
        valued = [(key(one), one) for one in things]
    if things and all(value is None for value, _ in valued):
        note(f"Nothing that is listed has a value for --sort {wanted.sort}: the order is as it was.")
    with_value = [(_key(value), one) for value, one in valued if value is not None]
    if not wanted.descending and wanted.form is Format.TABLE and len({key for key, _ in with_value if not key[0]}) > 1:
        note(f"The smallest {wanted.sort} comes first; the largest: --sort -{wanted.sort}")
    with_value.sort(key=lambda pair: pair[0], reverse=wanted.descending)
    return [one for _, one in with_value] + [one for value, one in valued if value is None]


def _key(value: Any) -> tuple[bool, Any]:
    """What can be compared: numbers before texts."""
    if isinstance(value, int | float):
        return False, value
    return True, value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _column(listing: Listing[T], name: str, option: str) -> str:
    """The column that a word in an option means.

    Raises:
        UsageError: the list has no such column.
    """
    if column := column_meant(name, listing.columns, listing.others, listing.time):
        return column
    near = like(name, listing.columns)
    meant = f"did you mean {near}? " if near else ""
    if option == "--by" and name.casefold().rstrip("s") in _RANKED:
        meant = f"what lost most answers: `memtrace blame --by {name.casefold().rstrip('s')}`; "
    elif option == "--by" and "author" in listing.columns and not near:
        meant = f"those with a verdict of one person: --author {shlex.quote(name)}; "
    columns = ", ".join([*([_TIME] if listing.time else []), *listing.columns])
    raise UsageError(f"{option}: there is no column {name!r}: {meant}the columns are {columns}")


async def _show_counted(listing: Listing[T], wanted: Wanted, by: str, chosen: AsyncIterator[T]) -> None:
    """Count things by a column, or by the day, the week ... of their time.

    Raises:
        UsageError: the list has no such column.
    """
    period = PERIODS.get(by.casefold()) if listing.time else None
    if period and listing.time:
        times = [listing.document(one).get(listing.time) async for one in chosen]
        await _show_counts(by.casefold(), [period_of(one, period) for one in times], wanted, in_order=True)
        return
    column = _column(listing, by, "--by")
    await _show_counts(column, [listing.document(one).get(column) async for one in chosen], wanted)


async def _show_counts(column: str, values: Sequence[Any], wanted: Wanted, *, in_order: bool = False) -> None:
    """Print how often each value stands in a column, the most frequent first; ``in_order``: by the values."""
    from rich.text import Text

    from api.cli.output import Output
    from api.cli.render.tables import table

    counted = Counter(_as_text(one) for one in values).most_common()
    counted = sorted(counted) if in_order else counted
    documents = [{column: value or None, "count": count} for value, count in counted]
    if wanted.form is Format.JSON:
        print_json(documents)
    elif wanted.form is Format.CSV:
        from api.cli.csv_output import CsvTable

        CsvTable((column, "count")).add(documents)
    elif wanted.form is Format.MARKDOWN:
        _show_markdown((column, "count"), documents)
    else:
        rows = [[Text(value or "none"), Text(f"{count:,}")] for value, count in counted]
        Output().show(table((column, "count"), rows, wide=column, numbers=("count",)))


def _show_markdown(columns: Sequence[str], documents: Iterable[Mapping[str, Any]]) -> None:
    from attribution.report.markdown.text import escape, table

    rows = [[escape(_as_text(one.get(name))) for name in columns] for one in documents]
    typer.echo("\n".join(table(columns, rows)), nl=False)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
