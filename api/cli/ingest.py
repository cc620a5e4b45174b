"""Commands that bring traces in and out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from api.cli.context import Place, command
from api.cli.errors import complain, exit_code
from api.cli.options import JsonOption, TraceArgument
from api.cli.output import Output, print_json
from schema.errors import MemTraceError

if TYPE_CHECKING:
    from ingest.importing import ImportReport, Progress

commands = typer.Typer()

_PANEL = "Bring traces in and out"


def _timezone(name: str) -> str:
    """Refuse what is no zone before anything is opened."""
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (ValueError, OSError, LookupError) as error:
        raise typer.BadParameter(f"{name!r} is not an IANA time zone, such as UTC or Europe/Berlin") from error
    return name


@command(commands, "import", panel=_PANEL)
async def import_(
    place: Place,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Files (.json, also .gz, .xz or .zst), folders of them, or - for standard input.",
            show_default=False,
        ),
    ],
    timezone: Annotated[
        str,
        typer.Option("--timezone", metavar="ZONE", callback=_timezone, help="Of times that do not say their zone."),
    ] = "UTC",
    as_json: JsonOption = False,
) -> None:
    """Import traces. What is stored already stays as it is, so that a file may be imported again, or a longer one.

    A file that can't be imported does not keep the others from it; the exit code is that of the first error.
    """
    from api.cli import documents
    from ingest.importing import import_path

    results: list[documents.Document] = []
    errors: list[MemTraceError] = []

    def fail(file: Path, error: MemTraceError) -> None:
        errors.append(error)
        results.append({"file": str(file), "error": str(error)})
        complain(str(error))

    files = _find(paths, fail)
    if files:
        async with place.open(create=True) as store:
            for number, file in enumerate(files, 1):
                try:
                    with _progress(file, number, len(files)) as progress:
                        report = await import_path(store, file, timezone, progress)
                except MemTraceError as error:
                    fail(file, error)
                    continue
                results.append(documents.imported(report))
                if not as_json:
                    _show(report)
    if as_json:
        print_json(results)
    if errors:
        raise typer.Exit(exit_code(errors[0]))


def _find(paths: Sequence[Path], fail: Callable[[Path, MemTraceError], None]) -> list[Path]:
    """The files that all paths name; those that name none fail on their own."""
    from ingest.importing import find_files

    files: list[Path] = []
    for path in paths:
        try:
            files.extend(find_files([path]))
        except MemTraceError as error:
            fail(path, error)
    return files


def _show(report: ImportReport) -> None:
    from api.cli.render.tables import imported

    Output().lines(imported(report))


@contextmanager
def _progress(file: Path, number: int, total: int) -> Iterator[Progress | None]:
    """A bar on standard error, where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from api.cli.render.text import middle

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Output(stderr=True), transient=True) as bar:
        place = f" ({number}/{total})" if total > 1 else ""
        named = f"{middle(file.name, 40)}{place}"
        task = bar.add_task(named, total=None)

        def show(stage: str, done: int, whole: int) -> None:
            bar.update(task, description=f"{named}: {stage}", completed=done, total=whole or None)

        yield show


@command(commands, panel=_PANEL)
async def export(
    place: Place,
    reference: TraceArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write to this file, whole or not at all.", show_default=False
        ),
    ] = None,
) -> None:
    """Write a trace in its source's own format, as it was imported."""
    from api.cli.find import find
    from ingest.smartcomment.write import export_trace
    from schema.models import Trace

    async with place.open() as store:
        trace = await find(store, Trace, reference)
        with _target(output) as out:
            await export_trace(store, trace.id, out)


@contextmanager
def _target(output: Path | None) -> Iterator[BinaryIO]:
    """Where to write; a file appears under its name when it is whole.

    Raises:
        MemTraceError: the file can't be written.
    """
    if output is None or str(output) == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    import secrets

    file = Path(os.path.realpath(output))
    is_stream = file.exists() and not file.is_file()
    part = file if is_stream else file.with_name(f".{file.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with part.open("wb" if is_stream else "xb") as out:
            yield out
            if not is_stream:
                out.flush()
                os.fsync(out.fileno())
        if not is_stream:
            part.replace(file)
    except OSError as error:
        raise MemTraceError(f"{output} can't be written: {error.strerror or error}") from error
    finally:
        if not is_stream:
            part.unlink(missing_ok=True)
