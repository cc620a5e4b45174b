"""Commands that import and export traces."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, complain, exit_code
from api.cli.files import graph_files, whole_file
from api.cli.next_steps import NO_TRACE
from api.cli.options import IdHelp, JsonOption
from api.cli.output import Output, print_json
from api.cli.progress import file_of, progress_bar
from schema.errors import MemTraceError

if TYPE_CHECKING:
    from ingest.files.protocol import ImportReport
    from schema.models import Trace
    from store.contract.protocol import GraphStore

commands = typer.Typer()


class ExportFormat(StrEnum):
    """The names in ``ingest.exports.registry``, which takes too long to import for a list of options."""

    JSON = "json"
    OTLP = "otlp"
    PROV = "prov-json"
    OPENLINEAGE = "openlineage"


def _timezone(name: str) -> str:
    """Refuse an unknown time zone before anything is opened."""
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (ValueError, OSError, LookupError) as error:
        raise typer.BadParameter(f"{name!r} is not an IANA time zone, such as UTC or Europe/Berlin") from error
    return name


@command(commands, "import")
async def import_(
    place: Target,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Files (.json or .ndjson, plain or packed as .gz, .xz or .zst), folders of them, or - for "
            "standard input.",
            show_default=False,
        ),
    ],
    timezone: Annotated[
        str,
        typer.Option(
            "--timezone",
            metavar="ZONE",
            callback=_timezone,
            help="The time zone of times in the file that don't name one.",
        ),
    ] = "UTC",
    as_json: JsonOption = False,
) -> None:
    """Import traces. You may import a file again, or a longer version of it: only what is new is added.

    A file may be a graph file of smartcomment, or hold the recorder's events, one per line; its first bytes show which.
    If a file can't be imported, the others still are; the exit code is then that of the first error.
    """
    from ingest.files.registry import import_path

    results: list[dict[str, Any]] = []
    errors: list[MemTraceError] = []

    def fail(file: Path, error: MemTraceError) -> None:
        errors.append(error)
        results.append({"file": str(file), "error": str(error)})
        complain(str(error))

    files = graph_files(paths, fail)
    if files:
        async with place.open(create=True) as store:
            for number, file in enumerate(files, 1):
                try:
                    with progress_bar(file_of(file, number, len(files))) as progress:
                        report = await import_path(store, file, timezone, progress)
                except MemTraceError as error:
                    fail(file, error)
                    continue
                results.append(report.as_json())
                if not as_json:
                    _show(report)
                if report.rejected:
                    errors.append(_rejected(report))
                    complain(str(errors[-1]))
    if as_json:
        print_json(results)
    if errors:
        raise typer.Exit(exit_code(errors[0]))


def _rejected(report: ImportReport) -> MemTraceError:
    """The lines of a file that the graph could not take, as an error."""
    from schema.errors import InputError

    first, *more = report.rejected
    rest = f"; {len(more):,} more events could not be taken either (--json has them)" if more else ""
    return InputError(report.file, f"line {first.line}", f"{first.reason}{rest}; what else is in the file is stored")


def _show(report: ImportReport) -> None:
    from api.cli.render.tables import imported

    Output().lines(imported(report))


@command(commands)
async def export(
    place: Target,
    reference: Annotated[
        str | None, typer.Argument(metavar="[TRACE]", help=f"{IdHelp} (default: the only trace)", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write to this file. If writing fails, no partial file is left.",
            show_default=False,
        ),
    ] = None,
    format_: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format",
            help="json: the format of the file that was imported; of what was recorded here, events, one a line. "
            "Others: spans of OpenTelemetry (protobuf), W3C "
            "PROV, and events of OpenLineage.",
            show_default="that of the imported file",
        ),
    ] = None,
) -> None:
    """Write a trace as a file."""
    from api.cli.find import find_trace
    from ingest.exports.registry import EXPORTS, own_export
    from ingest.files.registry import format_of_trace

    async with place.open(any_name=True) as store:
        trace = await find_trace(store, reference) if reference else await _only_trace(store)
        with whole_file(output) as out:
            own = own_export(trace)
            if format_ in {None, ExportFormat.JSON} and own:
                await own.write(store, trace, out)
            elif format_ in {None, ExportFormat.JSON}:
                await format_of_trace(trace).write(store, trace.id, out)
            else:
                await EXPORTS[format_.value].write(store, trace, out)


async def _only_trace(store: GraphStore) -> Trace:
    """The trace of a project that has one.

    Raises:
        UsageError: the project has none, or several.
    """
    found = (await store.traces(2)).items
    if len(found) != 1:
        told = "`memtrace traces` lists them; the newest: memtrace export last"
        raise UsageError(f"`memtrace export` needs the id of one: {told}" if found else NO_TRACE)
    return found[0]
