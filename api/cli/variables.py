"""Commands that list variables: memory units, messages and prompts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.columns import OTHERS
from api.cli.context import Target
from api.cli.errors import UsageError, note
from api.cli.filters import Has, Wanted, listing
from api.cli.listed import Listing, each, show_list
from api.cli.listing import in_traces
from api.cli.narrowing import Place, in_time, narrowed
from api.cli.output import Output
from api.cli.times import span
from schema.kinds import VariableKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from datetime import datetime

    from schema.models import Element, Variable
    from store.contract.protocol import GraphStore

commands = typer.Typer()


@listing(commands, Has.TRACE, Has.TEXT, Has.TIME)
async def variables(
    place: Target,
    wanted: Wanted,
    kind: Annotated[
        list[VariableKind] | None,
        typer.Option("--kind", case_sensitive=False, help="Only variables of this kind; may be repeated."),
    ] = None,
) -> None:
    """List recorded variables with their texts, ordered by trace."""
    await _list(place, wanted, kind or [])


@listing(commands, Has.TRACE, Has.TEXT, Has.TIME)
async def messages(place: Target, wanted: Wanted) -> None:
    """List the messages that were said, ordered by trace."""
    await _list(place, wanted, [VariableKind.MESSAGE])


@listing(commands, Has.TRACE, Has.TEXT, Has.TIME)
async def units(
    place: Target,
    wanted: Wanted,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="ID",
            help="What the memory held at this answer, question or operation, or at a time.",
            show_default=False,
        ),
    ] = None,
    ended: Annotated[
        bool, typer.Option("--ended", help="Only units that were deleted or ended otherwise, in their last version.")
    ] = False,
) -> None:
    """List what the memory holds at the end: each unit in its newest version, without units that were ended.

    `memtrace variables --kind MemoryUnit` lists all versions.
    """
    from schema.models import Variable

    def is_unit(one: Element) -> bool:
        return isinstance(one, Variable) and one.kind is VariableKind.MEMORY_UNIT

    async with place.open() as store:
        if len(wanted.words) == 1 and at is None and wanted.trace is None:
            at = await _moment_named(store, wanted.words[0], is_unit)
            if at is not None:
                wanted = replace(wanted, words=[])
                note(f"What the memory held at {at}; at the end: memtrace units")
        where = await narrowed(store, wanted, is_unit)
        moment = until = None
        if at is not None:
            found_at = await _moment(store, at, where.trace)
            if found_at is None:
                until = span(None, at).until
                note(f"What the memory held at {at}; at the end: memtrace units")
            else:
                where = replace(where, trace=found_at[0])
                moment = found_at[1]
        found = in_time(_held(store, where.trace, moment, ended, until), wanted.when)
        await show_list(await _listing(store, where), wanted, where, found)


@listing(commands, Has.TRACE, Has.TEXT)
async def prompts(place: Target, wanted: Wanted) -> None:
    """List prompts by the wrong answers that they lost, the worst first.

    A prompt lost an answer if the verdict on it blames an operation that used the prompt. Prompts with the same name
    count as one. Run `memtrace attribute --all` first. `memtrace blame --by prompt` weighs this against right answers.
    """
    from api.cli import documents
    from api.cli.render import tables
    from attribution.report.lost_answers import LosingPrompt, prompts_that_lost
    from schema.models import Variable

    def is_prompt(one: Element) -> bool:
        return isinstance(one, Variable) and one.kind is VariableKind.PROMPT

    listed: Listing[LosingPrompt] = Listing(
        columns=documents.PROMPT_COLUMNS,
        brief=documents.PROMPT_COLUMNS,
        document=documents.prompt,
        show=lambda found: Output().show(tables.prompts(found)),
        nothing="There are no such prompts. `memtrace check TRACE` says what a recording lacks.",
        texts=lambda one: (one.name,),
        names=lambda one: (one.variable_id,),
        time=None,
        others=OTHERS["prompts"],
        limit=0,
    )
    async with place.open() as store:
        where = await narrowed(store, wanted, is_prompt)
        found = await prompts_that_lost(store, where.trace)
        await show_list(listed, wanted, where, each(found))


async def _list(place: Target, wanted: Wanted, kinds: Sequence[VariableKind]) -> None:
    from schema.models import Variable

    def is_listed(one: Element) -> bool:
        return isinstance(one, Variable) and (not kinds or one.kind in kinds)

    async with place.open() as store:
        where = await narrowed(store, wanted, is_listed)
        found = in_traces(store, Variable, where.trace, [kind.value for kind in kinds], when=wanted.when)
        await show_list(await _listing(store, where), wanted, where, found)


async def _listing(store: GraphStore, where: Place) -> Listing[Variable]:
    """How variables are written. The id of a memory unit stands for all its versions."""
    from api.cli.render import tables
    from schema.models import Variable, public_names
    from schema.models import as_json as public

    versions = {one.id: named for named in where.ids for one in await store.versions(named)}
    return Listing(
        columns=public_names(Variable),
        brief=("id", "kind", "name", "version", "preview", "createdAt"),
        document=public,
        show=lambda found: Output().show(tables.variables(found)),
        nothing="There are none. `memtrace stats` counts what is recorded.",
        texts=lambda one: (one.preview, one.name),
        names=lambda one: (one.id, versions.get(one.id)),
    )


async def _moment_named(store: GraphStore, word: str, is_unit: Callable[[Element], bool]) -> str | None:
    """The word if it is the id of something inside a trace that is no unit, so that its moment is meant."""
    from schema.errors import AmbiguousError, NotFoundError
    from schema.models import Trace

    try:
        found = await store.resolve(word)
    except (NotFoundError, AmbiguousError):
        return None
    return None if isinstance(found, Trace) or is_unit(found) else word


async def _moment(store: GraphStore, reference: str, trace: str | None) -> tuple[str, int] | None:
    """The trace of an element, and the place of the operation that made or first used it; None for a time.

    Raises:
        UsageError: no operation made or used the element.
    """
    from api.cli.find import find_cause
    from api.cli.times import is_time
    from attribution.verdicts.stored import by_id
    from schema.errors import NotFoundError
    from schema.models import Failure, Operation, Variable

    try:
        found = await find_cause(store, reference, trace)
    except NotFoundError:
        if not is_time(reference):
            raise
        return None
    if isinstance(found, Operation):
        return found.trace_id, found.sequence
    id_ = (found.answer_id or found.question_id) if isinstance(found, Failure) else found.id
    for made in (await by_id(store, Variable, [id_])).values():
        makers = list((await by_id(store, Operation, [made.operation_id])).values())
        for step in makers or (await store.users_of([id_], 1))[id_]:
            return found.trace_id, step.sequence
    raise UsageError(f"--at {reference}: no operation made or used it, so it has no moment")


async def _held(
    store: GraphStore, trace_id: str | None, moment: int | None, ended: bool, until: datetime | None = None
) -> AsyncIterator[Variable]:
    """The newest versions of the units that memories hold, trace by trace; see ``Memory.at`` for the moment.

    Args:
        store: the project.
        trace_id: of the only trace; None for all.
        moment: None is the end.
        ended: whether the units that had ended by then are wanted instead.
        until: the time that is meant, in place of a moment; a trace that began later is left out.
    """
    from attribution.trace.remembered import remembered
    from schema.models import Operation
    from store.contract.answers import Label, Span
    from store.shared.paging import every, in_trace

    for id_ in [trace_id] if trace_id else [one.id async for one in every(lambda after: store.traces(after=after))]:
        if until is not None:
            steps = in_trace(store, Label.OPERATION, id_, when=Span(None, until))
            begun = [one.sequence async for one in steps if isinstance(one, Operation)]
            if not begun:
                continue
            moment = max(begun)
        memory = await remembered(store, id_)
        for version in memory.gone_at(moment) if ended else [one for _, one in memory.at(moment)]:
            yield version.variable
