"""The command that looks for errors of a data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, exit_code, note
from api.cli.files import complaining, graph_files
from api.cli.options import ConcurrencyOption, JsonOption, MethodName, MethodOption, NoEvidenceOption, TraceOption
from api.cli.output import Output, print_json
from api.cli.progress import file_of, progress_bar
from schema.errors import MemTraceError

if TYPE_CHECKING:
    from api.cli.progress import Tell
    from attribution.report.failure_report import FailureReport
    from attribution.run import Options
    from store.contract.protocol import GraphStore

commands = typer.Typer()


@command(commands)
async def audit(
    place: Target,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Graph files or folders of them. Without any, the store is checked.",
            show_default=False,
        ),
    ] = None,
    trace: TraceOption = None,
    method: MethodOption = MethodName.FLOW,
    no_evidence: NoEvidenceOption = False,
    concurrency: ConcurrencyOption = 4,
    as_json: JsonOption = False,
) -> None:
    """List suspected annotation errors and judge errors in a data set, with their proof, the surest first.

    An annotation error: no message supports the gold answer. A judge error: an answer that was judged wrong agrees with
    the gold answer.
    """
    import msgspec

    from api.cli.render import verdicts
    from api.cli.render.text import counted
    from api.jobs.runner_options import runner_options
    from attribution.report.suspected_labels import suspected_labels

    if paths and trace:
        raise UsageError("--trace is a trace of the store: it can't be given with PATH")
    options = runner_options(method, False, no_evidence, concurrency)
    errors: list[MemTraceError] = []
    fail = complaining(errors)
    found: list[tuple[str | None, list[FailureReport]]] = []
    if paths:
        files = graph_files(paths, fail)
        for number, file in enumerate(files, 1):
            try:
                with progress_bar(file_of(file, number, len(files))) as tell:
                    found.append((str(file), await _of_file(file, options, tell)))
            except MemTraceError as error:
                fail(file, error)
    else:
        async with place.open() as store:
            with progress_bar("looking") as tell:
                found.append((None, await _of_store(store, trace, options, tell)))
    listed = [(file, case) for file, cases in found for case in suspected_labels(cases)]
    listed.sort(key=lambda item: -(item[1].confidence or 0.0))
    if as_json:
        print_json([_document(msgspec.to_builtins(case), file) for file, case in listed])
    else:
        out = Output()
        for file_name, case in listed:
            out.show(verdicts.case(case, file_name))
            out.lines("")
        total = sum(len(cases) for _, cases in found)
        note(f"{counted(len(listed), 'suspect')} among {counted(total, 'failure')}.")
    if errors:
        raise typer.Exit(exit_code(errors[0]))


async def _of_file(file: Path, options: Options, tell: Tell | None) -> list[FailureReport]:
    from attribution.benchmark.scratch import scratch_store
    from ingest.files.registry import import_path

    async with scratch_store(file) as store:
        report = await import_path(store, file, progress=tell)
        return await _attributed(store, report.trace_id, options, tell)


async def _of_store(store: GraphStore, trace: str | None, options: Options, tell: Tell | None) -> list[FailureReport]:
    from api.cli.find import find_trace_id

    return await _attributed(store, await find_trace_id(store, trace), options, tell)


async def _attributed(
    store: GraphStore, trace_id: str | None, options: Options, tell: Tell | None
) -> list[FailureReport]:
    from attribution.report.gather import cases_of
    from attribution.run import attribute
    from attribution.verdicts.stored import every_failure

    failures = await every_failure(store, trace_id)
    pairs = []
    async for outcome in attribute(store, failures, options):
        pairs.append((outcome.failure, outcome.attribution))
        if tell:
            tell("attribute", len(pairs), len(failures))
    return await cases_of(store, pairs)


def _document(case: dict[str, Any], file: str | None) -> dict[str, Any]:
    """The label of a case. The number of the case is left out, because only reports have numbers."""
    case.pop("number")
    return {"file": file, **case}
