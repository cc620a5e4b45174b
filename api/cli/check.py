"""The command that shows what is missing in a recording."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError
from api.cli.next_steps import NO_TRACE
from api.cli.options import IdHelp, JsonOption
from api.cli.output import Output, print_json

commands = typer.Typer()

_NEWEST = "last"


@command(commands)
async def check(
    place: Target,
    reference: Annotated[
        str, typer.Argument(metavar="[TRACE]", help=f"{IdHelp} (default: the newest)", show_default=False)
    ] = _NEWEST,
    as_json: JsonOption = False,
) -> None:
    """Show what is missing in a recording.

    Such as: searches and answers that depend on no message, memory units of unknown origin, crashed operations. Where a
    verdict would need what is missing, it is an abstention. Each line says what to record.
    """
    from api.cli.find import find
    from api.cli.render.text import one_line, short
    from attribution.trace.advice import advised
    from attribution.trace.graph import TraceGraph
    from attribution.trace.holes import holes
    from schema.errors import NotFoundError
    from schema.models import Trace

    async with place.open() as store:
        try:
            trace = await find(store, Trace, reference)
        except NotFoundError:
            if reference == _NEWEST:
                raise UsageError(NO_TRACE) from None
            raise
        graph = await TraceGraph.load(store, trace.id)
        found = advised(await holes(graph), trace, graph)
    if as_json:
        print_json(
            [{"problem": one.problem, "count": one.count, "examples": one.examples, "fix": one.fix} for one in found]
        )
        return
    out = Output()
    if not found:
        out.lines(one_line(f"Nothing is missing in {trace.name or trace.external_id}."))
    for one in found:
        out.lines(f"{one.problem} ({', '.join(map(short, one.examples))})" if one.examples else one.problem)
        out.lines(f"  {one.fix}")
