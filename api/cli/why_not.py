"""The command that shows what the memory held and did not return."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import note
from api.cli.options import FailureArgument, JsonOption
from api.cli.output import Output, print_json

commands = typer.Typer()


@command(commands, name="why-not")
async def why_not(
    place: Target,
    reference: FailureArgument,
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT]...", help="Show only pieces that contain one of the words of TEXT.", show_default=False
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what was there and was not chosen, for each piece of the right answer.

    Searches: the units that held the piece, and the units that were returned instead. Extractions: the sentences that
    were left out. Updates: what happened to each unit. Answers: the position of the piece in the context. This works
    without a verdict, and stores nothing.
    """
    from api.cli import documents
    from api.cli.find import find_failure
    from api.cli.render import why_not as render
    from api.cli.render.text import short
    from attribution.why_not.find import why_not as found_out

    async with place.open() as store:
        failure = await find_failure(store, reference)
        pieces = (await found_out(store, [failure]))[failure.id]
        if given:
            wanted = set(" ".join(given).casefold().split())
            pieces = [one for one in pieces if wanted & set(one.piece.casefold().split())]
        is_withheld = bool(await store.withheld([failure.id]))
    if as_json:
        print_json(documents.why_not(pieces))
        return
    out = Output()
    for page in render.pages(failure, pieces):
        out.show(page)
        out.lines("")
    if is_withheld:
        note("This tells what the free pass says, so it is not shown before you have judged the failure in its queue.")
    elif not pieces:
        note(
            "No message was followed from what it says to the answer: there is none, or the verdict was told without "
            f"it, such as from the texts that were read for the answer. See why with: memtrace why {short(failure.id)}"
        )
