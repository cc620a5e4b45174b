"""The command that draws the past of a wrong answer as a few boxes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.options import FailureArgument, JsonOption
from api.cli.output import Output, print_json

commands = typer.Typer()


@command(commands)
async def spine(
    place: Target,
    reference: FailureArgument,
    boxes: Annotated[int, typer.Option("--boxes", min=5, max=60, help="Show so many boxes at most.")] = 25,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Write the picture there as SVG; - is the standard output."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw the past of a wrong answer as a few boxes, and show where the needed pieces were lost.

    The evidence, the losses, the question, the answer and its context have boxes of their own. Equal steps in a row
    share a box, and so do all sources of the same boxes. This works without a verdict, and stores nothing.
    """
    if as_json and svg is not None:
        raise UsageError("--json and --svg can't be had together")

    from api.cli import documents
    from api.cli.files import whole_file
    from api.cli.find import find_failure
    from api.cli.render import spine as render
    from api.cli.render.text import one_line, short
    from attribution.spine import draw
    from attribution.spine.find import spines

    async with place.open() as store:
        failure = await find_failure(store, reference)
        found = (await spines(store, [failure], boxes))[failure.id]
    if as_json:
        print_json(documents.spine(found))
    elif svg is not None:
        with whole_file(svg) as file:
            file.write(f"{draw.svg(found, failure.question)}\n".encode())
        if str(svg) != "-":
            note(f"Drawn: how the answer to “{one_line(failure.question, 80)}” came about ({short(failure.id)}).")
    else:
        out = Output()
        out.show(render.head(failure))
        out.lines(*render.lines(found, out.width))
        if found.attribution_id is None:
            note(
                "It is not known where anything was lost: there is no verdict yet. "
                f"Get one with: memtrace why {short(failure.id)}"
            )
