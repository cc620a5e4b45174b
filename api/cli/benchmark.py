"""The command that measures a method on failures with known causes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Target, command
from api.cli.errors import exit_code
from api.cli.files import complaining, graph_files, whole_file
from api.cli.options import (
    ConcurrencyOption,
    GoldFreeOption,
    JsonOption,
    MethodName,
    MethodOption,
    MinConfidenceOption,
    NoEvidenceOption,
    PathsArgument,
)
from api.cli.output import Output, print_json
from api.cli.progress import Tell, file_of, progress_bar
from schema.errors import MemTraceError

if TYPE_CHECKING:
    from attribution.benchmark.run import Progress

commands = typer.Typer()


@command(commands)
async def benchmark(
    place: Target,
    paths: PathsArgument,
    method: MethodOption = MethodName.FLOW,
    gold_free: GoldFreeOption = False,
    no_evidence: NoEvidenceOption = False,
    min_confidence: MinConfidenceOption = None,
    concurrency: ConcurrencyOption = 4,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            help="Score against these labels (JSON Lines, by external ids), not against those in the graphs.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Also write the result as JSON to this file.", show_default=False
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            "--work",
            metavar="FOLDER",
            help="Keep graphs and verdicts in this folder, so that an interrupted run can go on.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how well a method does on graphs with annotated failures (as in MemTraceBench) and on right answers.

    The method never sees the annotations. The JSON has all fields of MemTraceBench's own runner, and more.
    """
    import msgspec

    from api.cli.render.benchmark import parts
    from api.jobs.runner_options import runner_options
    from attribution.benchmark.run import run
    from attribution.review.labels import read_labels

    options = runner_options(method, gold_free, no_evidence, concurrency, min_confidence)
    known = None if labels is None else [one.label for one in read_labels(labels)]
    errors: list[MemTraceError] = []
    fail = complaining(errors)
    files = graph_files(paths, fail)
    with ExitStack() as stack:
        found = await run(files, options, labels=known, work=work, progress=_bars(files, stack))
    for name, error in found.errors:
        fail(Path(name), error)
    document = found.document()
    if output is not None:
        with whole_file(output) as out:
            out.write(msgspec.json.format(msgspec.json.encode(document), indent=4) + b"\n")
    if as_json:
        print_json(document)
    else:
        Output().show(*parts(found))
    if errors:
        raise typer.Exit(exit_code(errors[0]))


def _bars(files: list[Path], stack: ExitStack) -> Callable[[Path], Progress]:
    """A progress bar for the current file."""
    begun: list[Path] = []

    def begin(file: Path) -> Tell:
        stack.close()
        begun.append(file)
        return stack.enter_context(progress_bar(file_of(file, len(begun), len(files)))) or _nobody

    return begin


def _nobody(stage: str, done: int, whole: int) -> None:
    """Does nothing, because standard error is no terminal."""
