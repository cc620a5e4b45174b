"""The command that shows whatever an id means."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import note
from api.cli.options import JsonOption, VariableHelp

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
    as_json: JsonOption = False,
) -> None:
    """Show what an id means: the trace, operation, variable or failure."""
    from api.cli import browse
    from api.cli.failures import show_failures
    from api.cli.find import find_anything
    from api.cli.meant import Lead, meant
    from api.cli.render.text import short
    from schema.models import Attribution, Failure, Operation, Session, Trace, Variable

    async with place.open(any_name=True) as store:
        found = await find_anything(store, reference)
        if isinstance(found, Attribution):
            found = await meant(store, found, Failure, Lead.SURE, reference)
        elif isinstance(found, Session):
            found = await meant(store, found, Trace, Lead.SURE, reference)
    if isinstance(found, Trace):
        await browse.show_trace(place, found.id, as_json=as_json)
    elif isinstance(found, Operation):
        await browse.show_operation(place, found.id, as_json=as_json)
    elif isinstance(found, Failure):
        await show_failures(place, [found], as_json=as_json)
    else:
        await browse.show_variable(place, found.id, as_json=as_json)
        if isinstance(found, Variable) and found.right is False and not as_json:
            note(f"Why it is wrong: memtrace why {short(found.id)}")
