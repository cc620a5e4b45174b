"""Importing an uploaded file. The result is the document of the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

from api.jobs.arguments import ImportArguments
from api.jobs.work.context import Cancelled, Context, Document
from ingest.files.registry import import_path
from schema.errors import InputError


def check(arguments: ImportArguments) -> None:
    """Refuse an unknown time zone.

    Raises:
        InputError: the time zone is unknown.
    """
    try:
        ZoneInfo(arguments.timezone)
    except (ValueError, OSError, LookupError) as error:
        raise InputError(
            "import", "timezone", f"{arguments.timezone!r} is not an IANA time zone, such as UTC or Europe/Berlin"
        ) from error


async def run(context: Context, arguments: ImportArguments) -> Document:
    """Import the file. Elements that an earlier attempt stored count as ``existing``."""

    def tell(stage: str, done: int, total: int) -> None:
        try:
            context.tell(stage, done, total)
        except Cancelled:
            # Everything is written: a request to stop comes too late.
            if stage != "write" or done == 0:
                raise

    async with context.uploads.fetch(arguments.upload) as path:
        if path is None:
            raise InputError(arguments.name, "", "the uploaded file is gone: send it again")
        try:
            limits = (context.max_inflated_bytes, context.max_inflated_ratio)
            report = await import_path(context.store, path, arguments.timezone, tell, *limits, is_upload=True)
        except InputError as error:
            raise _renamed(error, path, arguments.name) from error
    return replace(report, file=arguments.name).as_json()


def _renamed(error: InputError, path: Path, name: str) -> InputError:
    """The error with the sender's name of the file."""
    return InputError(name, error.place, error.problem) if error.source == str(path) else error
