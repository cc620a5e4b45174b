"""The command that lists failures."""

from __future__ import annotations

import typer

from api.cli.context import Place, command
from api.cli.errors import note
from api.cli.options import JsonOption, TraceOption
from api.cli.output import Output, print_json

commands = typer.Typer()


@command(commands, panel="Ask why")
async def failures(place: Place, trace: TraceOption = None, as_json: JsonOption = False) -> None:
    """List the questions that were answered wrong, with the verdicts on each."""
    from api import documents
    from api.cli.find import find_trace_id
    from api.cli.render import tables
    from api.cli.render.text import counted, short
    from attribution.lookup import by_id, every_failure
    from schema.models import Attribution, Operation, Variable

    verdicts: dict[str, list[Attribution]] = {}
    async with place.open() as store:
        found = await every_failure(store, await find_trace_id(store, trace))
        for verdict in await store.attributions([failure.id for failure in found]):
            verdicts.setdefault(verdict.failure_id, []).append(verdict)
        blamed = await by_id(store, Operation, (one.operation_id for many in verdicts.values() for one in many))
        named = (id_ for failure in found for id_ in (failure.question_id, failure.answer_id))
        variables = await by_id(store, Variable, named) if as_json else {}
    if as_json:
        print_json([documents.failure(failure, verdicts.get(failure.id, []), variables, blamed) for failure in found])
        return
    out = Output()
    for failure in found:
        out.show(tables.failure(failure, verdicts.get(failure.id, []), blamed))
        out.lines("")
    if found:
        first = next((failure.answer_id for failure in found if failure.answer_id), found[0].question_id)
        note(f"{counted(len(found), 'failure')}. Ask why with: memtrace closure {short(first)}")
    else:
        note("No answer was judged wrong.")
