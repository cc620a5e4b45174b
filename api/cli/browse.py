"""Commands that show stored elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import note
from api.cli.narrowing import LastOption, LimitOption, SearchOption, containing
from api.cli.next_steps import NO_TRACE
from api.cli.options import (
    Format,
    FormatOption,
    JsonFormatOption,
    JsonOption,
    TraceArgument,
    TraceOption,
    VariableArgument,
    chosen_format,
)
from api.cli.output import Output, print_json, write_bytes
from schema.kinds import VariableKind

if TYPE_CHECKING:
    from store.contract.protocol import GraphStore

commands = typer.Typer()

_SECONDS = 30.0
_STEPS = 20
_PAGE = 5_000
_MOST_COUNTED = 100_000
"""Counting operations by session stops at this number, because reading more would keep the user waiting."""
_MEBIBYTES = 1024
_MOST_SEARCHED = 10_000
"""With --kind, so many hits of all kinds are looked through."""


@command(commands)
async def traces(
    place: Target,
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORDS]...", help="Only traces with this text in name or id.", show_default=False),
    ] = None,
    search: SearchOption = None,
    limit: LimitOption = 0,
    last: LastOption = None,
    format_: FormatOption = None,
    as_json: JsonFormatOption = False,
) -> None:
    """List the traces of the project, the oldest first."""
    form = chosen_format(format_, as_json)
    from api.cli import documents
    from api.cli.csv_output import CsvTable
    from api.cli.render import tables
    from store.shared.paging import every

    async with place.open(any_name=True) as store:
        read = every(lambda after: store.traces(after=after))
        text = " ".join([*(given or []), *([search] if search else [])])
        chosen = containing(read, lambda one: [one.name or "", one.external_id, one.id], text, limit, last)
        found = [(trace, (await store.stats(trace.id)).labels) async for trace in chosen]
    listed = [documents.trace_with_counts(trace, counts) for trace, counts in found]
    if form is Format.JSON:
        print_json(listed)
    elif form is Format.CSV:
        CsvTable(documents.TRACE_COLUMNS).add(listed)
    elif found:
        Output().show(tables.traces(found))
    else:
        note("No trace has this text in name or id; `memtrace traces` lists all." if text else NO_TRACE)


@command(commands)
async def trace(
    place: Target,
    reference: TraceArgument,
    limit: Annotated[int, typer.Option("--limit", min=0, help="How many operations to show at most.")] = _STEPS,
    as_json: JsonOption = False,
) -> None:
    """Show a trace: source, size, sessions and first operations."""
    await show_trace(place, reference, limit, as_json)


async def show_trace(place: Target, reference: str, limit: int = _STEPS, as_json: bool = False) -> None:
    """Print what the command `trace` prints."""
    from collections import Counter

    from api.cli import documents
    from api.cli.find import find
    from api.cli.render import sheets, tables
    from api.cli.render.text import short
    from schema.models import Operation, Session, Trace
    from store.contract.answers import Label
    from store.shared.paging import elements, in_trace

    async with place.open() as store:
        found = await find(store, Trace, reference)
        stats = await store.stats(found.id)
        sessions = await elements(store, Session, found.id)
        total = stats.labels.get(Label.OPERATION.value, 0)
        steps: Counter[str | None] | None = Counter() if total <= _MOST_COUNTED else None
        first: list[Operation] = []
        async for one in in_trace(
            store, Label.OPERATION, found.id, first=_PAGE if steps is not None else max(1, min(limit, _PAGE))
        ):
            if steps is None and len(first) >= limit:
                break
            if isinstance(one, Operation):
                if steps is not None:
                    steps[one.session_id] += 1
                if len(first) < limit:
                    first.append(one)
    if as_json:
        print_json(documents.whole_trace(found, stats, sessions, steps))
        return
    out = Output()
    out.show(sheets.trace(found, stats))
    if sessions:
        out.lines("")
        out.show(tables.sessions(sessions, steps))
    if first:
        out.lines("", f"Operations, the first {len(first):,} of {total:,}:" if total > len(first) else "Operations:")
        out.show(tables.operations(first))
    if total > len(first):
        note(f"All {total:,} operations: memtrace operations --trace {short(found.id)}")


@command(commands)
async def operation(
    place: Target,
    reference: VariableArgument,
    trace: TraceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show an operation: kind, input and output."""
    await show_operation(place, reference, trace, as_json)


async def show_operation(place: Target, reference: str, trace: str | None = None, as_json: bool = False) -> None:
    """Print what the command `operation` prints."""
    from api.cli import documents
    from api.cli.find import find, find_trace_id
    from api.cli.render import sheets, tables
    from attribution.verdicts.stored import by_id
    from schema.models import Operation, Session

    async with place.open() as store:
        found = await find(store, Operation, reference, await find_trace_id(store, trace))
        detail = await store.operation(found.id)
        sessions = await by_id(store, Session, [found.session_id])
    if as_json:
        print_json(documents.operation(detail))
        return
    out = Output()
    out.show(sheets.operation(detail.operation, sessions.get(found.session_id or "")))
    for title, variables in (
        ("Used", detail.used),
        ("Made", detail.generated),
        ("Ended the life of", detail.invalidated),
    ):
        if variables:
            out.lines("", f"{title}:")
            out.show(tables.variables(variables))


@command(commands)
async def variable(
    place: Target,
    reference: VariableArgument,
    trace: TraceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a variable: text, version, size, and the operation that made it."""
    await show_variable(place, reference, trace, as_json)


async def show_variable(place: Target, reference: str, trace: str | None = None, as_json: bool = False) -> None:
    """Print what the command `variable` prints."""
    from api.cli import documents
    from api.cli.find import find_variable
    from api.cli.render import sheets
    from attribution.verdicts.stored import by_id
    from schema.models import Operation, Session

    async with place.open() as store:
        found = await find_variable(store, reference, trace)
        makers = await by_id(store, Operation, [found.operation_id])
        sessions = await by_id(store, Session, [found.session_id])
    maker = makers.get(found.operation_id or "")
    if as_json:
        print_json(documents.variable(found, maker))
        return
    out = Output()
    out.show(sheets.variable(found, maker, sessions.get(found.session_id or "")))
    out.lines("", *sheets.preview(found))


@command(commands)
async def value(place: Target, reference: VariableArgument, trace: TraceOption = None) -> None:
    """Print the whole value of a variable, byte for byte. In a terminal, control characters are escaped."""
    import sys

    from api.cli.find import find_variable
    from api.cli.render.text import many_lines

    async with place.open() as store:
        data = await store.value(await find_variable(store, reference, trace))
    if sys.stdout.isatty():
        shown = many_lines(data.decode("utf-8", "backslashreplace"))
        data = (shown if shown.endswith("\n") else shown + "\n").encode()
    write_bytes(data)


@command(commands)
async def versions(
    place: Target,
    reference: VariableArgument,
    trace: TraceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show all versions of a variable, oldest first: who made each, and which words it took out and put in.

    On a terminal, words that are gone are struck out; elsewhere they stand in [-brackets-], and new ones in {+braces+}.
    """
    await show_versions(place, reference, trace, as_json)


@command(commands)
async def diff(
    place: Target,
    reference: VariableArgument,
    other: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="A second variable, or a second trace.", show_default=False),
    ] = None,
    trace: TraceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what changed: between the versions of a variable, between two variables, or between two traces."""
    if other is None:
        await show_versions(place, reference, trace, as_json)
        return
    from api.cli.compare import show_comparison
    from api.cli.find import find_trace_id, find_variable
    from api.cli.render import changes
    from api.cli.render.text import short
    from schema.errors import NotFoundError

    async with place.open() as store:
        try:
            await find_trace_id(store, reference)
        except NotFoundError:
            pair = [await find_variable(store, one, trace) for one in (reference, other)]
            values = await store.values(pair)
            old, new = (values[one.value_hash].decode("utf-8", "replace") for one in pair)
            if all(one.kind is VariableKind.ANSWER for one in pair):
                first, second = (short(one.id) for one in pair)
                note(
                    "These are the texts of two answers. What the memory held when they were given: "
                    f"memtrace units --at {first}; memtrace units --at {second}"
                )
            if as_json:
                print_json(changes.document(old, new))
            else:
                out = Output()
                out.lines(changes.between(old, new, out.is_terminal))
            return
    await show_comparison(place, reference, other, as_json=as_json)


async def show_versions(place: Target, reference: str, trace: str | None, as_json: bool) -> None:
    """Print what the command `versions` prints."""
    from api.cli.find import find_any_version
    from api.cli.render import changes
    from attribution.verdicts.stored import by_id
    from schema.models import Operation
    from schema.models import as_json as public

    async with place.open() as store:
        asked = await find_any_version(store, reference, trace)
        found = await store.versions(asked.id)
        makers = await by_id(store, Operation, (version.operation_id for version in found))
        if as_json:
            print_json([public(version) for version in found])
            return
        small = [one for one in found if one.size <= changes.MOST_BYTES]
        texts = {hash_: value.decode("utf-8", "replace") for hash_, value in (await store.values(small)).items()}
    out = Output()
    out.lines(*changes.versions(found, makers, texts, out.is_terminal, asked.id))


async def _sought(store: GraphStore, given: list[str], trace_id: str | None) -> tuple[str, str | None]:
    """The text to search for, and the trace to search in. An id beside the words names the trace, or a part of it."""
    from api.cli.render.text import short
    from schema.errors import NotFoundError
    from schema.models import Trace
    from store.shared.resolving import is_prefix, is_whole_id

    for id_ in given if trace_id is None and len(given) > 1 else ():
        if is_prefix(id_) or is_whole_id(id_):
            try:
                found = await store.resolve(id_)
            except NotFoundError:
                continue
            in_trace = found.id if isinstance(found, Trace) else found.trace_id
            note(f"Searched in the trace {short(in_trace)}, to which {id_} belongs.")
            return " ".join(word for word in given if word != id_), in_trace
    return " ".join(given), trace_id


@command(commands)
async def search(
    place: Target,
    given: Annotated[
        list[str], typer.Argument(metavar="TEXT", help="The words to search for; all must occur.", show_default=False)
    ],
    trace: TraceOption = None,
    kind: Annotated[
        list[VariableKind] | None,
        typer.Option("--kind", case_sensitive=False, help="Only variables of this kind; may be repeated."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many variables to find at most.")] = 20,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Search whole values for exactly this text; upper and lower case are the same."),
    ] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.0, help="With --whole: stop after so many seconds.")
    ] = _SECONDS,
    mebibytes: Annotated[
        int, typer.Option("--mebibytes", min=1, help="With --whole: stop after reading so much.")
    ] = _MEBIBYTES,
    as_json: JsonOption = False,
) -> None:
    """Find variables by words in their name, comment or beginning, or (--whole) by any text in their value."""
    from api.cli import documents
    from api.cli.find import find_trace_id
    from api.cli.render import tables

    read = _MOST_SEARCHED if kind else limit
    async with place.open() as store:
        text, trace_id = await _sought(store, given, await find_trace_id(store, trace))
        if whole:
            scan = await store.scan(text, trace_id, read, max_bytes=mebibytes << 20, seconds=seconds)
            found = scan.hits
            if scan.truncated:
                note("There may be more: the search ended at its bounds (--limit, --seconds, --mebibytes).")
        else:
            found = await store.search(text, trace_id, read)
    if kind:
        found = [hit for hit in found if hit.variable.kind in kind][:limit]
    if as_json:
        print_json([documents.hit(hit) for hit in found])
    elif found:
        Output().show(tables.hits(found, text))
    else:
        note("Nothing was found." if whole else "Nothing was found; --whole looks into whole values too.")
