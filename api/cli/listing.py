"""Commands that list what traces hold: their operations, and the answers that were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import note
from api.cli.options import JsonOption, TraceOption
from api.cli.output import Output, print_json
from schema.kinds import OperationKind, Status, VariableKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from schema.models import Element, Failure, Variable
    from store.contract.answers import Label
    from store.contract.protocol import GraphStore

commands = typer.Typer()

_PANEL = "Look"

LimitOption = Annotated[int, typer.Option("--limit", min=0, help="How many to list at most; 0 lists all.")]
_LIMIT = 1000
_AT_ONCE = 100
"""Answers whose questions are looked for at a time."""


@command(commands, panel=_PANEL)
async def operations(
    place: Target,
    trace: TraceOption = None,
    kind: Annotated[
        list[OperationKind] | None,
        typer.Option("--kind", case_sensitive=False, help="Only operations of this kind; may be repeated."),
    ] = None,
    status: Annotated[
        Status | None,
        typer.Option("--status", case_sensitive=False, help="Only operations that ended with this status."),
    ] = None,
    limit: LimitOption = _LIMIT,
    as_json: JsonOption = False,
) -> None:
    """List operations, ordered by trace: what ran, and how it ended."""
    from api.cli.render import tables
    from schema.models import Operation
    from schema.models import as_json as public
    from store.contract.answers import Label

    found: list[Operation] = []
    async with place.open() as store:
        kinds, statuses = [one.value for one in kind or ()], [status.value] if status else []
        async for one in _in_traces(store, Label.OPERATION, trace, kinds, statuses):
            if len(found) == limit > 0:
                _say_more(limit)
                break
            if isinstance(one, Operation):
                found.append(one)
    if as_json:
        print_json([public(one) for one in found])
    elif found:
        Output().show(tables.operations(found))
    else:
        note("There are no such operations.")


@command(commands, panel=_PANEL)
async def answers(
    place: Target, trace: TraceOption = None, limit: LimitOption = _LIMIT, as_json: JsonOption = False
) -> None:
    """List all answers, right or wrong, each with its question, ordered by trace.

    One that was judged wrong shows its failure, and the verdict on it: a person's before a model's, a model's before
    that of the free pass, the newest first.
    """
    from api.cli import documents
    from api.cli.find import find_trace_id
    from api.cli.render import tables
    from attribution.verdicts.stored import word_on
    from ingest.events.questions import questions_of
    from schema.models import Variable
    from store.contract.answers import Label

    found: list[Variable] = []
    async with place.open() as store:
        async for one in _in_traces(store, Label.VARIABLE, trace, [VariableKind.ANSWER.value], []):
            if len(found) == limit > 0:
                _say_more(limit)
                break
            if isinstance(one, Variable):
                found.append(one)
        questions: dict[str, list[Variable]] = {}
        for start in range(0, len(found), _AT_ONCE):
            questions |= await questions_of(store, found[start : start + _AT_ONCE])
        wrong = await _judged_wrong(store, found, await find_trace_id(store, trace))
        verdicts = word_on(await store.attributions([failure.id for failure in wrong.values()]), wrong.values())
    if as_json:
        print_json([documents.answer(one, questions[one.id], wrong.get(one.id), verdicts) for one in found])
    elif found:
        Output().show(tables.answers(found, questions, wrong, verdicts))
    else:
        note("There are no answers.")


async def _judged_wrong(store: GraphStore, found: Sequence[Variable], trace_id: str | None) -> dict[str, Failure]:
    """The failure of each answer that was judged wrong, by the answer's id."""
    from attribution.verdicts.stored import every_failure

    listed = {one.id for one in found}
    failures = await every_failure(store, trace_id) if found else []
    return {failure.answer_id: failure for failure in failures if failure.answer_id in listed}


async def _in_traces(
    store: GraphStore, label: Label, trace: str | None, kinds: list[str], statuses: list[str]
) -> AsyncIterator[Element]:
    """The elements of one trace, or of all, in order."""
    from api.cli.find import find_trace_id
    from store.shared.paging import every, in_trace

    only = await find_trace_id(store, trace)
    ids = [only] if only else [one.id async for one in every(lambda after: store.traces(after=after))]
    for id_ in ids:
        async for one in in_trace(store, label, id_, kinds, statuses=statuses):
            yield one


def _say_more(limit: int) -> None:
    note(f"There are more than {limit:,}: --limit 0 lists all.")
