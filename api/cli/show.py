"""The command that shows whatever an id means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.options import JsonOption, VariableHelp
from api.cli.output import Output, print_json
from schema.kinds import OperationKind, VariableKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schema.models import Element
    from store.contract.protocol import GraphStore

commands = typer.Typer()


@command(commands)
async def show(
    place: Target,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="ID", help=f"A trace, operation, variable or failure. {VariableHelp}", show_default=False
        ),
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="Show the nearest thing of this kind that led to ID: Context, Prompt, Message, Retrieval, Update ... "
            "If several are equally near, list them.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what an id means: the trace, operation, variable or failure; or what led to it."""
    from api.cli import browse
    from api.cli.failures import show_failures
    from api.cli.find import find_anything
    from api.cli.meant import Lead, meant
    from api.cli.newest import LAST
    from api.cli.one_trace import show_trace
    from api.cli.render.text import short
    from schema.models import Attribution, Failure, Operation, Session, Trace, Variable

    async with place.open(any_name=True) as store:
        found = await find_anything(store, reference)
        if isinstance(found, Attribution):
            found = await meant(store, found, Failure, Lead.SURE, reference)
        elif isinstance(found, Session):
            found = await meant(store, found, Trace, Lead.SURE, reference)
        if kind is not None:
            near = await _near(store, found, kind)
            if len(near) > 1:
                _list(near, as_json)
                return
            found = near[0]
    if isinstance(found, Trace):
        await show_trace(place, found.id, as_json=as_json)
    elif isinstance(found, Operation):
        await browse.show_operation(place, found.id, as_json=as_json)
    elif isinstance(found, Failure):
        await show_failures(place, [found], as_json=as_json)
    else:
        await browse.show_variable(place, found.id, as_json=as_json)
        if isinstance(found, Variable) and found.right is False and not as_json:
            note(f"Why it is wrong: memtrace why {short(found.id)}")
        elif isinstance(found, Variable) and found.right is None and found.kind is VariableKind.ANSWER and not as_json:
            id_ = short(found.id)
            note(f'Is it wrong? memtrace fail {id_} "the right answer"; if not: memtrace right {id_}')
        if reference.casefold() in LAST and not as_json:
            note("This is the last answer; the newest trace: memtrace trace last")


async def _near(store: GraphStore, found: Element, kind: str) -> Sequence[Element]:
    """The thing itself if it is of a kind, else the nearest things of this kind; a note names them.

    Raises:
        UsageError: there is no such kind, or nothing of it belongs to the thing.
    """
    from api.cli.meant import kind_of, of_kind
    from api.cli.render.text import counted, short

    known = [str(one) for one in (*OperationKind, *VariableKind)]
    named = next((one for one in known if one.casefold() == kind.casefold()), None)
    if named is None:
        raise UsageError(f"--kind {kind!r}: the kinds are {', '.join(known)}")
    if kind_of(found) == named:
        return [found]
    here = f"{short(found.id)} is of the kind {kind_of(found)}"
    near = await of_kind(store, found, named)
    if not near:
        raise UsageError(f"{here}, and nothing of the kind {named} led to it or came from it")
    what = f"its {named} {short(near[0].id)}" if len(near) == 1 else f"the nearest: {counted(len(near), named)}"
    note(f"{here}; shown is {what}.")
    return near


def _list(found: Sequence[Element], as_json: bool) -> None:
    from api.cli.render import tables
    from schema.models import Operation, Variable
    from schema.models import as_json as public

    if as_json:
        print_json([public(one) for one in found])
        return
    steps = [one for one in found if isinstance(one, Operation)]
    Output().show(
        tables.operations(steps) if steps else tables.variables([o for o in found if isinstance(o, Variable)])
    )
