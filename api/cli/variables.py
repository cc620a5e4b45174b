"""Commands that list variables: memory units, messages and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.listing import in_traces
from api.cli.narrowing import LIMIT, LastOption, LimitOption, SearchOption, WordsArgument, containing, narrowed
from api.cli.options import Format, FormatOption, JsonFormatOption, TraceOption, chosen_format
from api.cli.output import Output, print_json
from api.cli.times import SinceOption, UntilOption, span
from schema.kinds import VariableKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from schema.models import Variable
    from store.contract.answers import Span
    from store.contract.protocol import GraphStore

commands = typer.Typer()

_AT_ONCE = 1000


@command(commands)
async def variables(
    place: Target,
    given: WordsArgument = None,
    trace: TraceOption = None,
    kind: Annotated[
        list[VariableKind] | None,
        typer.Option("--kind", case_sensitive=False, help="Only variables of this kind; may be repeated."),
    ] = None,
    search: SearchOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = LIMIT,
    last: LastOption = None,
    format_: FormatOption = None,
    as_json: JsonFormatOption = False,
) -> None:
    """List recorded variables with their texts, ordered by trace."""
    when = span(since, until)
    await _list(place, given, trace, search, kind or [], when, limit, last, chosen_format(format_, as_json))


@command(commands)
async def messages(
    place: Target,
    given: WordsArgument = None,
    trace: TraceOption = None,
    search: SearchOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = LIMIT,
    last: LastOption = None,
    format_: FormatOption = None,
    as_json: JsonFormatOption = False,
) -> None:
    """List the messages that were said, ordered by trace."""
    kinds, when = [VariableKind.MESSAGE], span(since, until)
    await _list(place, given, trace, search, kinds, when, limit, last, chosen_format(format_, as_json))


@command(commands)
async def units(
    place: Target,
    given: WordsArgument = None,
    trace: TraceOption = None,
    search: SearchOption = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="ID", help="What the memory held at this answer, question or operation.", show_default=False
        ),
    ] = None,
    limit: LimitOption = LIMIT,
    last: LastOption = None,
    format_: FormatOption = None,
    as_json: JsonFormatOption = False,
) -> None:
    """List what the memory holds at the end: each unit in its newest version, without units that were ended.

    `memtrace variables --kind MemoryUnit` lists all versions.
    """
    async with place.open() as store:
        if given and len(given) == 1 and at is None and trace is None and await _is_moment(store, given[0]):
            at, given = given[0], None
            note(f"What the memory held at {at}; at the end: memtrace units")
        only, text = await narrowed(store, given, trace, search)
        moment = None
        if at is not None:
            only, moment = await _moment(store, at, only)
        found = containing(_held(store, only, moment), _texts, text, limit, last)
        await _show(found, chosen_format(format_, as_json))


@command(commands)
async def prompts(
    place: Target,
    trace: TraceOption = None,
    format_: FormatOption = None,
    as_json: JsonFormatOption = False,
) -> None:
    """List prompts by the wrong answers that they lost, the worst first.

    A prompt lost an answer if the verdict on it blames an operation that used the prompt. Prompts with the same name
    count as one. Run `memtrace attribute --all` first. `memtrace blame --by prompt` weighs this against right answers.
    """
    form = chosen_format(format_, as_json)
    from api.cli import documents
    from api.cli.csv_output import CsvTable
    from api.cli.find import find_trace_id
    from api.cli.render import tables
    from attribution.report.lost_answers import prompts_that_lost

    async with place.open() as store:
        found = await prompts_that_lost(store, await find_trace_id(store, trace))
    if form is Format.CSV:
        CsvTable(documents.PROMPT_COLUMNS).add(map(documents.prompt, found))
    elif form is Format.JSON:
        print_json([documents.prompt(one) for one in found])
    elif found:
        Output().show(tables.prompts(found))
    else:
        note("No prompts are recorded. `memtrace check TRACE` says what a recording lacks.")


async def _list(
    place: Target,
    given: list[str] | None,
    trace: str | None,
    search: str | None,
    kinds: Sequence[VariableKind],
    when: Span,
    limit: int,
    last: int | None,
    form: Format,
) -> None:
    from schema.models import Variable

    async with place.open() as store:
        only, text = await narrowed(store, given, trace, search)
        read = in_traces(store, Variable, only, 0 if text or last else limit, [kind.value for kind in kinds], when=when)
        await _show(containing(read, _texts, text, limit, last), form)


def _texts(variable: Variable) -> list[str]:
    return [variable.preview, variable.name]


async def _is_moment(store: GraphStore, word: str) -> bool:
    """Whether a word is the id of something inside a trace, whose moment is meant."""
    from api.cli.find import OtherKindError, find
    from schema.errors import AmbiguousError, NotFoundError
    from schema.models import Trace

    try:
        await find(store, Trace, word)
    except OtherKindError:
        return True
    except (NotFoundError, AmbiguousError):
        return False
    return False


async def _moment(store: GraphStore, reference: str, trace: str | None) -> tuple[str, int]:
    """The trace of an element, and the place of the operation that made or first used the element.

    Raises:
        UsageError: no operation made or used the element.
    """
    from api.cli.find import find_cause
    from attribution.verdicts.stored import by_id
    from schema.models import Failure, Operation, Variable

    found = await find_cause(store, reference, trace)
    if isinstance(found, Operation):
        return found.trace_id, found.sequence
    id_ = (found.answer_id or found.question_id) if isinstance(found, Failure) else found.id
    for made in (await by_id(store, Variable, [id_])).values():
        makers = list((await by_id(store, Operation, [made.operation_id])).values())
        for step in makers or (await store.users_of([id_], 1))[id_]:
            return found.trace_id, step.sequence
    raise UsageError(f"--at {reference}: no operation made or used it, so it has no moment")


async def _held(store: GraphStore, trace: str | None, moment: int | None) -> AsyncIterator[Variable]:
    """The newest versions of the units that memories hold, trace by trace; see ``Memory.at`` for the moment."""
    from api.cli.find import find_trace_id
    from attribution.trace.remembered import remembered
    from store.shared.paging import every

    only = await find_trace_id(store, trace)
    for id_ in [only] if only else [one.id async for one in every(lambda after: store.traces(after=after))]:
        for _, version in (await remembered(store, id_)).at(moment):
            yield version.variable


async def _show(found: AsyncIterator[Variable], form: Format) -> None:
    from api.cli.csv_output import CsvTable
    from api.cli.render import tables
    from schema.models import Variable, public_names
    from schema.models import as_json as public

    if form is Format.CSV:
        table = CsvTable(public_names(Variable))
        page: list[Variable] = []
        async for one in found:
            page.append(one)
            if len(page) == _AT_ONCE:
                table.add(map(public, page))
                page.clear()
        table.add(map(public, page))
        return
    all_ = [one async for one in found]
    if form is Format.JSON:
        print_json([public(one) for one in all_])
    elif all_:
        Output().show(tables.variables(all_))
    else:
        note("There are none. `memtrace stats` counts what is recorded.")
