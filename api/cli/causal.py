"""Commands that walk the causal graph."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.options import IdHelp, JsonOption, TraceOption
from api.cli.output import Output, print_json
from schema.kinds import VariableKind

if TYPE_CHECKING:
    from schema.models import Failure, Operation, Trace, Variable
    from store.contract.protocol import GraphStore

commands = typer.Typer()

_LIMIT = 200
_MOST_ANSWERS = 1_000
"""The closure of a trace starts at so many answers at most."""


class Way(StrEnum):
    """Which way to walk: ``store.contract.answers.Direction`` without the imports of its module."""

    BACKWARD = "backward"
    FORWARD = "forward"


@command(commands)
async def closure(
    place: Target,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A variable. An operation stands for all variables that it made, a failure for its answer, and a "
            "trace for its answers. " + IdHelp,
            show_default=False,
        ),
    ],
    direction: Annotated[
        Way,
        typer.Option(
            "--direction", help="backward: the sources of the variable; forward: everything made from the variable."
        ),
    ] = Way.BACKWARD,
    max_hops: Annotated[
        int | None, typer.Option("--max-hops", min=0, help="Follow at most so many derivations from the start.")
    ] = None,
    max_nodes: Annotated[
        int | None, typer.Option("--max-nodes", min=1, help="Visit at most so many variables, the nearest first.")
    ] = None,
    seconds: Annotated[float | None, typer.Option("--seconds", min=0.0, help="Stop after so many seconds.")] = None,
    kind: Annotated[
        list[VariableKind] | None,
        typer.Option("--kind", case_sensitive=False, help="Show only variables of this kind; may be repeated."),
    ] = None,
    trace: TraceOption = None,
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Show at most so many variables in the tree; 0 shows all.")
    ] = _LIMIT,
    as_json: JsonOption = False,
    dot: Annotated[bool, typer.Option("--dot", help="Print a DOT document for Graphviz.")] = False,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid flowchart.")] = False,
) -> None:
    """Show everything that a variable causally depends on, or everything that depends on it."""
    if as_json + dot + mermaid > 1:
        raise UsageError("--json, --dot and --mermaid can't be had together")

    from api.cli import documents
    from api.cli.render.dot import dot_lines
    from api.cli.render.draw import closure_lines
    from api.cli.render.mermaid import mermaid_lines
    from store.contract.answers import Budget, Closure, Direction

    way, budget, kinds = (
        Direction(direction.value),
        Budget(max_hops, max_nodes, seconds),
        [one.value for one in kind or ()],
    )
    async with place.open() as store:
        root = await _start(store, reference, trace)
        roots = await _roots(store, root)
        nothing = Closure([], way, [], [], [], False, [])
        found = await store.closure(roots, way, budget, kinds) if roots else nothing
    if as_json:
        print_json(documents.closure(root.id, found))
    elif dot or mermaid:
        for line in dot_lines(found) if dot else mermaid_lines(found):
            typer.echo(line)
    else:
        out = Output()
        out.lines(*closure_lines(found, _title(root), limit or None, out.width))


async def _start(store: GraphStore, reference: str, trace: str | None) -> Variable | Operation | Failure | Trace:
    """What a closure starts at: a variable, an operation or a failure; else a trace, or the variable with words."""
    from api.cli.find import find, find_cause, find_variable
    from api.cli.meant import Lead
    from api.cli.newest import LAST
    from schema.errors import NotFoundError
    from schema.models import Trace

    if reference.casefold() not in LAST:
        try:
            return await find(store, Trace, reference, lead=Lead.NOT)
        except NotFoundError:
            pass
    try:
        return await find_cause(store, reference, trace)
    except NotFoundError:
        return await find_variable(store, reference, trace)


async def _roots(store: GraphStore, root: Variable | Operation | Failure | Trace) -> list[str]:
    """The variables whose closure a reference means."""
    from schema.models import Failure, Operation, Trace, Variable

    if isinstance(root, Operation):
        return [variable.id for variable in (await store.operation(root.id)).generated]
    if isinstance(root, Failure):
        return [root.answer_id or root.question_id]
    if isinstance(root, Trace):
        from api.cli.listing import in_traces

        answers = in_traces(store, Variable, root.id, [VariableKind.ANSWER.value])
        return [one.id async for one in answers][:_MOST_ANSWERS]
    return [root.id]


def _title(root: Variable | Operation | Failure | Trace) -> str:
    from api.cli.render.text import name_of, one_line, operation_name, short
    from schema.models import Failure, Operation, Trace

    if isinstance(root, Trace):
        return f"the answers of the trace {one_line(root.name or root.external_id, 60)}"
    if isinstance(root, Operation):
        return f"what {operation_name(root)} {short(root.id)} made"
    if isinstance(root, Failure):
        return f"the answer to “{one_line(root.question, 60)}”"
    return f"{root.kind.value} {name_of(root)} {short(root.id)}"


@command(commands)
async def path(
    place: Target,
    source: Annotated[str, typer.Argument(metavar="FROM", help=IdHelp, show_default=False)],
    target: Annotated[str | None, typer.Argument(metavar="TO", help=IdHelp, show_default=False)] = None,
    trace: TraceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a shortest chain of derivations between two variables; either may depend on the other."""
    if target is None:
        raise UsageError(
            f"a path has two ends: memtrace path {source} OTHER. How a fact was lost on its way to a wrong answer: "
            f"memtrace why {source}; all that a variable came from: memtrace closure {source}"
        )
    from api.cli import documents
    from api.cli.find import find_variable
    from api.cli.render.draw import path_lines
    from attribution.verdicts.stored import by_id
    from schema.models import Operation

    async with place.open() as store:
        ends = [await find_variable(store, reference, trace) for reference in (source, target)]
        found = await store.path(ends[0].id, ends[1].id)
        makers = await by_id(store, Operation, (derivation.operation_id for derivation in found.derivations))
    if as_json:
        print_json(documents.path(found))
    elif found.variables:
        out = Output()
        out.lines(*path_lines(found, makers, out.width))
    else:
        note("Neither depends on the other.")
