"""Commands that find out why answers are wrong, and how far sources of verdicts agree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.filters import Wanted, choosing
from api.cli.options import (
    ConcurrencyOption,
    Format,
    GoldFreeOption,
    JsonOption,
    MethodName,
    MethodOrModelOption,
    MinConfidenceOption,
    ModelOption,
    NoEvidenceOption,
    TraceOption,
)
from api.cli.output import Output, print_json
from api.cli.progress import progress_bar
from schema.errors import NotFoundError

if TYPE_CHECKING:
    from attribution.run import Options

commands = typer.Typer()

FailuresArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ID", help="A failure, its answer or question, or a trace with all its failures.", show_default=False
    ),
]
_MOST_WHOLE = 10
"""More verdicts that were not named one by one are listed, one line each."""


@choosing(commands)
async def attribute(
    place: Target,
    wanted: Wanted,
    reference: FailuresArgument = None,
    failure: Annotated[
        list[str] | None,
        typer.Option("--failure", metavar="ID", help="The same as ID; may be repeated.", show_default=False),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All failures of the project.")] = False,
    method: MethodOrModelOption = None,
    gold_free: GoldFreeOption = False,
    no_evidence: NoEvidenceOption = False,
    min_confidence: MinConfidenceOption = None,
    concurrency: ConcurrencyOption = 4,
    model: ModelOption = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", "--estimate", help="Only say how many failures there are, and what asks a model."),
    ] = False,
) -> None:
    """Attribute failures: find the operation that made an answer wrong, and store this verdict with the failure.

    A failure that was attributed before with the same options is not attributed again. Where the cause can't be
    decided, the verdict is an abstention, which gives the reason; the other failures are still attributed.
    """
    from api.jobs.runner_options import runner_options

    ids = [*(reference or []), *(failure or [])]
    if not (ids or all_ or wanted.chooses):
        raise UsageError("say which failures: ID, --trace TRACE, --since TIME, --type TYPE or --all")
    if ids and all_:
        raise UsageError("--all means all failures: leave out the ID")
    by = _asking(method, model)
    if dry_run:
        await _estimate(place, replace(wanted, words=ids), by)
        return
    options = runner_options(by, gold_free, no_evidence, concurrency, min_confidence, model)
    await _attribute(place, replace(wanted, words=ids), options)


async def _estimate(place: Target, wanted: Wanted, method: MethodName) -> None:
    """Say how many failures are chosen, and whether a model would be asked."""
    from api.cli.failures import failures_wanted
    from api.cli.render.text import counted

    async with place.open() as store:
        number = len(await failures_wanted(store, wanted))
    if wanted.form is Format.JSON:
        print_json({"failures": number, "method": method.value, "asksModel": method is not MethodName.FLOW})
        return
    told = "asks no model, and costs nothing"
    if method is not MethodName.FLOW:
        told = "asks a model; what one failure takes with the model of the settings: memtrace model check"
    Output().lines(f"{counted(number, 'failure')} would be attributed by {method.value}, which {told}.")
    note("A failure that was attributed before with the same options is not attributed again.")


def _asking(method: MethodName | None, model: str | None) -> MethodName:
    """The method that is asked for; without one, walk if a model is named, else flow.

    Raises:
        UsageError: a model is named beside the method that asks none.
    """
    if model is not None and method is MethodName.FLOW:
        raise UsageError("--method flow asks no model: leave out --model, or take --method walk")
    return method or (MethodName.FLOW if model is None else MethodName.WALK)


@choosing(commands)
async def why(
    place: Target,
    wanted: Wanted,
    reference: FailuresArgument = None,
    all_: Annotated[bool, typer.Option("--all", help="All failures of the project.")] = False,
    method: MethodOrModelOption = None,
    model: ModelOption = None,
) -> None:
    """Say why an answer is wrong: the same as `memtrace attribute ID`."""
    from api.jobs.runner_options import runner_options

    if not (reference or all_ or wanted.chooses):
        told = "`memtrace failures` lists them; the newest: memtrace why last"
        raise UsageError(f"`memtrace why` needs the id of one: {told}")
    by = _asking(method, model)
    options = runner_options(by, False, False, 4, model=model)
    await _attribute(place, replace(wanted, words=reference or []), options)


async def _attribute(place: Target, wanted: Wanted, options: Options) -> None:
    from api.cli import documents
    from api.cli.failures import failures_wanted
    from api.cli.next_steps import NO_FAILURE
    from api.cli.render import verdicts
    from api.cli.render.text import counted, short
    from attribution.report.gather import cases_of
    from attribution.run import attribute as attributed
    from attribution.verdicts.stored import by_id, operations_at_fault
    from schema.models import Variable

    async with place.open() as store:
        failures = await failures_wanted(store, wanted)
        found = {}
        with progress_bar("attributing") as tell:
            async for outcome in attributed(store, failures, options):
                found[outcome.failure.id] = outcome.attribution
                if tell:
                    tell(f"{len(found):,} of {len(failures):,}", len(found), len(failures))
        withdrawn = len(failures) - len(found)
        # An annotator may start the attribution of a failure in their queue, but must not see the verdict before
        # judging.
        withheld = await store.withheld(list(found))
        pairs = [(one, found[one.id]) for one in failures if one.id in found and one.id not in withheld]
        if withheld:
            note(f"{counted(len(withheld), 'verdict')} stored and not shown: you are to judge these in a queue first.")
        if wanted.form is Format.JSON:
            questions = await by_id(store, Variable, (one.question_id for one in failures))
            blamed = await operations_at_fault(store, (verdict for _, verdict in pairs))
            print_json([documents.attribution(verdict, one, questions, blamed) for one, verdict in pairs])
            return
        cases = await cases_of(store, pairs)
    out = Output()
    is_list = len(cases) > _MOST_WHOLE and not wanted.words
    if is_list:
        out.show(verdicts.listed(cases))
    else:
        for case in cases:
            out.show(verdicts.case(case))
            out.lines("")
    if withdrawn:
        note(f"{counted(withdrawn, 'failure')} withdrawn meanwhile.")
    abstained = sum(case.error_type is None for case in cases)
    if cases or not withheld:
        told = f"{counted(len(cases), 'failure')} attributed, {abstained:,} abstained."
        nothing = "No failure is of this kind; `memtrace failures` lists all." if wanted.chooses else NO_FAILURE
        note(told if cases else nothing)
    if is_list:
        note(f"A verdict with its proof: memtrace why {short(cases[0].failure_id)}")
    if len(cases) == 1 and cases[0].losses:
        note(f"What became of each needed fact: memtrace why-not {short(cases[0].failure_id)}")


@command(commands)
async def agreement(
    place: Target,
    first: Annotated[str, typer.Argument(metavar="A", help="A method, or the name of a person.", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="B", help="Another method or person.", show_default=False)],
    trace: TraceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how far two sources of verdicts agree: accuracy, and Cohen's kappa (agreement beyond chance)."""
    from api.cli import documents
    from api.cli.find import find_trace_id
    from api.cli.render import verdicts
    from attribution.statistics.kappa import agreement as measured
    from attribution.statistics.kappa import sources_of
    from attribution.verdicts.stored import every_failure

    async with place.open() as store:
        failures = await every_failure(store, await find_trace_id(store, trace))
        given = await store.attributions([one.id for one in failures])
    known = sources_of(given)
    for name in (first, second):
        if name not in known:
            note(f"There are verdicts of {', '.join(known)}." if known else "There are no verdicts.")
            raise NotFoundError(name, "source")
    found = measured(given, first, second)
    if as_json:
        print_json(documents.agreement(found))
    else:
        Output().show(*verdicts.agreement(found))
