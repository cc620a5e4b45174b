"""Commands that show stored elements."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.columns import COUNTS_OF_TRACES, OTHERS
from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.filters import Has, Wanted, listing
from api.cli.listed import Listing, each, show_list
from api.cli.listing import last_one
from api.cli.narrowing import EVERYWHERE, Place, in_time, narrowed, recorded_in
from api.cli.next_steps import NO_TRACE
from api.cli.one_trace import STEPS, show_trace
from api.cli.options import Format, JsonOption, TraceArgument, TraceOption, VariableArgument
from api.cli.output import Output, print_json, write_bytes
from schema.kinds import VariableKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from schema.models import Trace
    from store.contract.protocol import GraphStore

commands = typer.Typer()

_SECONDS = 30.0
_MEBIBYTES = 1024
_LEAST_ID = 8
_TWO = 2
_FOUND = 20
_MOST_SEARCHED = 10_000
"""So many hits are looked through, if they have to be sorted, counted or chosen."""


def _count_of(found: tuple[object, Mapping[str, int]], label: str) -> int:
    return found[1].get(label, 0)


@listing(commands, Has.TRACE, Has.TEXT, Has.TIME)
async def traces(
    place: Target,
    wanted: Wanted,
    wrong: Annotated[bool, typer.Option("--wrong", help="Only traces with wrong answers.")] = False,
) -> None:
    """List the traces of the project, the oldest first."""
    from api.cli import documents
    from api.cli.render import tables
    from api.cli.run_naming import tags_of
    from schema.models import Trace

    listed: Listing[tuple[Trace, Mapping[str, int]]] = Listing(
        columns=documents.TRACE_COLUMNS,
        brief=("id", "name", "source", "createdAt"),
        document=lambda one: documents.trace_with_counts(*one),
        show=lambda found: Output().show(tables.traces(found)),
        nothing="No trace fits; `memtrace traces` lists all.",
        texts=lambda one: (one[0].name, one[0].external_id, one[0].id, *tags_of(one[0])),
        names=lambda one: (one[0].id,),
        limit=0,
        others=OTHERS["traces"],
        computed={name: partial(_count_of, label=label) for name, label in COUNTS_OF_TRACES.items()},
    )
    async with place.open(any_name=True) as store:
        wanted = last_one(wanted)
        where = await narrowed(store, wanted, lambda one: isinstance(one, Trace), has_trace_names=False)
        where = replace(where, ids=where.ids | ({where.trace} if where.trace else set()))
        if where == EVERYWHERE and wanted.is_all and not wrong:
            listed = replace(listed, nothing=NO_TRACE)
        found = _with_counts(store, wanted)
        if wrong:
            found = (one async for one in found if one[1].get("Failure"))
        await show_list(listed, wanted, where, found)


async def _with_counts(store: GraphStore, wanted: Wanted) -> AsyncIterator[tuple[Trace, Mapping[str, int]]]:
    """The traces of a time, each with the number of its elements by label."""
    from store.shared.paging import every

    async for one in in_time(every(lambda after: store.traces(after=after)), wanted.when):
        yield one, (await store.counts([one.id])).get(one.id, {})


@command(commands)
async def trace(
    place: Target,
    reference: TraceArgument,
    limit: Annotated[int, typer.Option("--limit", min=0, help="How many operations to show at most.")] = STEPS,
    as_json: JsonOption = False,
) -> None:
    """Show a trace: source, size, sessions and first operations."""
    await show_trace(place, reference, limit, as_json)


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
    from api.cli.around_answer import around_answer
    from api.cli.find import find_variable
    from api.cli.render import sheets
    from attribution.verdicts.stored import by_id
    from schema.models import Operation, Session

    async with place.open() as store:
        found = await find_variable(store, reference, trace)
        makers = await by_id(store, Operation, [found.operation_id])
        sessions = await by_id(store, Session, [found.session_id])
        around = await around_answer(store, found) if not as_json else None
    maker = makers.get(found.operation_id or "")
    if as_json:
        print_json(documents.variable(found, maker))
        return
    out = Output()
    out.show(sheets.variable(found, maker, sessions.get(found.session_id or "")))
    out.lines("", *sheets.preview(found))
    if around:
        out.lines("", *around)


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


@listing(commands, Has.TRACE, Has.TEXT, Has.TIME)
async def versions(place: Target, wanted: Wanted, reference: VariableArgument) -> None:
    """Show all versions of a variable, oldest first: who made each, and which words it took out and put in.

    On a terminal, words that are gone are struck out; elsewhere they stand in [-brackets-], and new ones in {+braces+}.
    """
    await show_versions(place, reference, wanted)


@command(commands)
async def diff(
    place: Target,
    reference: VariableArgument,
    others: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]",
            help="A second variable, or a second trace; the numbers of two versions compare these.",
            show_default=False,
        ),
    ] = None,
    trace: TraceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what changed: between the versions of a variable, between two variables, or between two traces."""
    from store.contract.answers import Span

    form = Format.JSON if as_json else Format.TABLE
    if not others:
        from api.cli.compare import check_no_trace

        await check_no_trace(place, reference)
        await show_versions(place, reference, Wanted(Span(), form, trace=trace))
        return
    from api.cli.compare import show_comparison
    from api.cli.find import find, find_variable
    from api.cli.meant import Lead
    from api.cli.render import changes
    from api.cli.render.text import short
    from schema.errors import NotFoundError
    from schema.models import Trace

    numbered = [f"{reference}@{one}" for one in others if one.isdecimal() and len(one) < _LEAST_ID]
    named = [reference, *others] if not numbered else numbered if len(numbered) > 1 else [*numbered, reference]
    if len(named) != _TWO:
        raise UsageError(f"`memtrace diff` compares two things: memtrace diff {named[0]} {named[-1]}")
    async with place.open() as store:
        try:
            await find(store, Trace, reference, lead=Lead.NOT)
        except NotFoundError:
            pair = [await find_variable(store, one, trace) for one in named]
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
    before, after = named
    await show_comparison(place, before, after, as_json=as_json)


async def show_versions(place: Target, reference: str, wanted: Wanted) -> None:
    """Print what the command `versions` prints."""
    from api.cli.find import find_variable
    from api.cli.render import changes
    from attribution.verdicts.stored import by_id
    from schema.models import Operation, Variable, public_names
    from schema.models import as_json as public

    async with place.open() as store:
        asked = await find_variable(store, reference, wanted.trace)
        found = await store.versions(asked.id)
        makers = await by_id(store, Operation, (version.operation_id for version in found))
        small = [one for one in found if one.size <= changes.MOST_BYTES]
        texts = {hash_: value.decode("utf-8", "replace") for hash_, value in (await store.values(small)).items()}

        def show(some: list[Variable]) -> None:
            out = Output()
            out.lines(*changes.versions(some, makers, texts, out.is_terminal, asked.id))

        listed: Listing[Variable] = Listing(
            columns=public_names(Variable),
            brief=("id", "version", "preview", "createdAt"),
            document=public,
            show=show,
            nothing="There are no such versions.",
            texts=lambda one: (texts.get(one.value_hash, one.preview),),
            names=lambda one: (one.id,),
            limit=0,
        )
        where = await narrowed(store, wanted, lambda one: isinstance(one, Variable), has_trace_names=False)
        await show_list(listed, wanted, where, in_time(each(found), wanted.when))


@listing(commands, Has.TRACE, Has.TEXT, Has.TIME)
async def search(
    place: Target,
    wanted: Wanted,
    kind: Annotated[
        list[VariableKind] | None,
        typer.Option("--kind", case_sensitive=False, help="Only variables of this kind; may be repeated."),
    ] = None,
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
) -> None:
    """Find variables by words in their name, comment or beginning, or (--whole) by any text in their value.

    All words must occur. The id of a thing beside the words searches its trace.
    """
    from api.cli import documents
    from api.cli.render import tables
    from store.contract.answers import SearchHit

    if not (wanted.words or wanted.text):
        raise UsageError('`memtrace search` needs the words to search for: memtrace search "pottery class"')
    listed: Listing[SearchHit] = Listing(
        columns=documents.HIT_COLUMNS,
        others=OTHERS["search"],
        brief=("variableId", "kind", "snippet"),
        document=documents.hit,
        show=lambda found: Output().show(tables.hits(found, text)),
        nothing="Nothing was found." if whole else "Nothing was found; --whole looks into whole values too.",
        names=lambda one: (one.variable.id,),
        time=None,
        limit=_FOUND,
    )
    async with place.open() as store:
        where, text = await _sought(store, wanted)
        most = listed.limit if wanted.limit is None else wanted.limit
        # One more than is shown tells whether there are more. What is sorted or counted is read first.
        reads_all = wanted.sort or wanted.descending or wanted.last or wanted.by or wanted.count or not most
        count = _MOST_SEARCHED if reads_all else most + 1
        kinds, when = [one.value for one in kind or ()], wanted.when
        if whole:
            reads_more = kinds or not wanted.is_all
            count = _MOST_SEARCHED if reads_more else count
            scan = await store.scan(text, where.trace, count, max_bytes=mebibytes << 20, seconds=seconds)
            if scan.truncated:
                note("There may be more: the search ended at its bounds (--limit, --seconds, --mebibytes).")
            hits = [
                hit
                for hit in scan.hits
                if (not kinds or hit.variable.kind in kinds) and recorded_in(when, hit.variable.created_at)
            ]
        else:
            hits = await store.search(text, where.trace, count, kinds, when)
        await show_list(listed, wanted, where, each(hits))


async def _sought(store: GraphStore, wanted: Wanted) -> tuple[Place, str]:
    """Where to search, and the text. A single word is always a text, even if it has the form of an id."""
    if len(wanted.words) < 2:
        where = await narrowed(store, replace(wanted, words=[], text=None), lambda _: False)
        return where, " ".join([*wanted.words, *([wanted.text] if wanted.text else [])])
    where = await narrowed(store, wanted, lambda _: False, has_trace_names=False)
    return replace(where, text=None), where.text or ""
