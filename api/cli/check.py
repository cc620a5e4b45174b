"""The command that shows what is missing in a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.next_steps import NO_TRACE
from api.cli.options import IdHelp, JsonOption
from api.cli.output import Output, print_json

if TYPE_CHECKING:
    from attribution.trace.holes import Hole
    from schema.models import Trace
    from store.contract.protocol import GraphStore

commands = typer.Typer()

_NEWEST = "last"


@command(commands)
async def check(
    place: Target,
    reference: Annotated[
        str, typer.Argument(metavar="[TRACE]", help=f"{IdHelp} (default: the newest)", show_default=False)
    ] = _NEWEST,
    every_trace: Annotated[bool, typer.Option("--all", help="Check all traces of the project.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what is missing in a recording.

    Such as: searches and answers that depend on no message, memory units of unknown origin, crashed operations. Where a
    verdict would need what is missing, it is an abstention. Each line says what to record.
    """
    from api.cli.find import find_trace
    from schema.errors import NotFoundError
    from store.shared.paging import every

    if every_trace and reference != _NEWEST:
        raise UsageError("--all checks all traces: leave out the TRACE")
    documents: list[dict[str, Any]] = []
    async with place.open() as store:
        if every_trace:
            chosen = [one async for one in every(lambda after: store.traces(after=after))]
        else:
            try:
                chosen = [await find_trace(store, reference)]
            except NotFoundError:
                if reference != _NEWEST:
                    raise
                chosen = []
        if not chosen:
            raise UsageError(NO_TRACE)
        for trace in chosen:
            found = await _missing(store, trace)
            if as_json:
                of = {"traceId": trace.id} if every_trace else {}
                documents += [of | one for one in map(_document, found)]
            else:
                _show(trace, found, await _traces_of_program(store, trace))
    if as_json:
        print_json(documents)


async def _missing(store: GraphStore, trace: Trace) -> list[Hole]:
    from attribution.trace.advice import advised
    from attribution.trace.graph import TraceGraph
    from attribution.trace.holes import holes

    graph = await TraceGraph.load(store, trace.id)
    return advised(await holes(graph), trace, graph)


def _document(found: Hole) -> dict[str, Any]:
    return {"problem": found.problem, "count": found.count, "examples": found.examples, "fix": found.fix}


def _show(trace: Trace, found: list[Hole], together: int) -> None:
    from api.cli.render.text import one_line, short

    out = Output()
    if not found:
        among = f", which is one of {together:,} traces of its program" if together > 1 else ""
        out.lines(one_line(f"Nothing is missing in {trace.name or trace.external_id}{among}."))
    for one in found:
        out.lines(f"{one.problem} ({', '.join(map(short, one.examples))})" if one.examples else one.problem)
        out.lines(f"  {one.fix}")
    if together > 1:
        note(
            f"The program of this trace has {together:,} traces, and a verdict sees one. If the traces share a memory: "
            "name the same user or conversation in all calls, or open memtrace.trace(id=...) around the calls; for a "
            "program that serves one user and keeps no memory in a file, memtrace run --one-trace does it."
        )


async def _traces_of_program(store: GraphStore, trace: Trace) -> int:
    """The number of traces that instruments opened for the program of a trace; 0 if no program is known."""
    import msgspec

    from store.shared.paging import every

    def program(one: Trace) -> tuple[Any, Any] | None:
        said = msgspec.json.decode(one.attributes, type=dict[str, Any])
        return (said["program"], said.get("namespace")) if "program" in said else None

    own = program(trace)
    if own is None:
        return 0
    return sum([program(one) == own async for one in every(lambda after: store.traces(after=after))])
