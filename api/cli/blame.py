"""The command that ranks operations, prompts, memory units and sessions by their share in wrong answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from api.cli.columns import OTHERS
from api.cli.context import Target
from api.cli.errors import note
from api.cli.filters import Has, Wanted, listing
from api.cli.listed import Listing, each, show_list
from api.cli.narrowing import narrowed
from api.cli.options import Format
from api.cli.output import Output
from attribution.blame.model import By

commands = typer.Typer()

_LIMIT = 100
_LISTED = {By.OPERATION: "Operation", By.PROMPT: "Variable", By.UNIT: "Variable", By.SESSION: "Session"}
"""The models of what is ranked."""


@listing(commands, Has.TRACE, Has.TEXT)
async def blame(
    place: Target,
    wanted: Wanted,
    by: Annotated[By, typer.Option("--by", case_sensitive=False, help="What to rank.")] = By.OPERATION,
) -> None:
    """Rank operations, prompts, memory units or sessions by their share in wrong answers, the worst first.

    The id of a wrong answer shows the operation at fault, that of a memory unit what changed it.

    failed: the failures with a verdict against the element, also for a piece that another operation lost first,
    weighted by confidence. passed: the right answers that depend on the element. score: Ochiai's coefficient of both,
    from 0 to 1. Run `memtrace attribute` first. `memtrace prompts` counts the answers that each prompt lost.
    """
    if len(wanted.words) == 1 and by is By.OPERATION and await _showed_one(place, wanted):
        return
    from api.cli import documents
    from api.cli.render import tables
    from attribution.blame.model import Blamed
    from attribution.blame.rank import blame as ranked
    from attribution.blame.rank import chosen_verdicts

    listed: Listing[Blamed] = Listing(
        columns=documents.BLAMED_COLUMNS,
        brief=documents.BLAMED_COLUMNS[:-1],
        document=documents.blamed,
        show=lambda found: Output().show(tables.blamed(found)),
        nothing="No verdict blames any. `memtrace attribute --all` finds out why answers are wrong.",
        texts=lambda one: (one.name,),
        names=lambda one: (one.id,),
        time=None,
        others=OTHERS["blame"],
        limit=_LIMIT,
    )
    async with place.open() as store:
        where = await narrowed(store, wanted, lambda one: type(one).__name__ == _LISTED[by])
        verdicts = await chosen_verdicts(store, where.trace)
        whole = (await ranked(store, verdicts, [by], where.trace and [where.trace]))[by]
        await show_list(listed, wanted, where, each(whole))
    if whole and not any(one.passed for one in whole):
        note("No answer that was judged right rests on any of these. `memtrace right ANSWER` records one.")


async def _showed_one(place: Target, wanted: Wanted) -> bool:
    """Show whom a wrong answer or a memory unit is laid at.

    Returns:
        False if the word means anything else, or if the options ask for a list.
    """
    from api.cli.browse import show_versions
    from api.cli.failures import show_failures
    from api.cli.find import find_failure
    from schema.errors import MemTraceError
    from schema.kinds import VariableKind
    from schema.models import Failure, Variable
    from store.shared.resolving import is_prefix, is_whole_id

    (word,) = wanted.words
    options = replace(wanted, words=[])
    is_plain = options == Wanted(wanted.when, wanted.form) and wanted.form in {Format.TABLE, Format.JSON}
    if not (is_prefix(word) or is_whole_id(word)):
        return False
    async with place.open() as store:
        try:
            found = await store.resolve(word)
            is_unit = isinstance(found, Variable) and found.kind is VariableKind.MEMORY_UNIT
            is_wrong = isinstance(found, Failure) or (isinstance(found, Variable) and found.right is False)
            failure = await find_failure(store, found.id) if is_wrong else None
        except MemTraceError:
            return False
    if is_unit:
        await show_versions(place, found.id, options)
    elif failure is not None and is_plain:
        await show_failures(place, [failure], as_json=wanted.form is Format.JSON)
    return is_unit or (failure is not None and is_plain)
