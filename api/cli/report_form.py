"""The formats of reports and comparisons, and the options that choose one and the file to write."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from api.cli.errors import UsageError


class Form(StrEnum):
    """The formats of reports."""

    HTML = "html"
    MARKDOWN = "md"
    JSON = "json"


_ENDINGS = {
    ".html": Form.HTML,
    ".htm": Form.HTML,
    ".md": Form.MARKDOWN,
    ".markdown": Form.MARKDOWN,
    ".json": Form.JSON,
}

FormOption = Annotated[
    Form | None,
    typer.Option(
        "--format", help="The format of the report. (default: by the file's ending, else md)", show_default=False
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write to this file. If writing fails, no partial file is left.",
        show_default=False,
    ),
]


def form_of(form: Form | None, output: Path | None, as_json: bool) -> Form:
    """The format of a report according to the options, else by the ending of the file."""
    if as_json:
        if form not in {None, Form.JSON}:
            raise UsageError(f"--json and --format {form} can't both be meant")
        return Form.JSON
    if form is not None:
        return form
    ending = output.suffix.lower() if output else ".md"
    if ending not in _ENDINGS:
        raise UsageError(f"{output}: say how to write it: --format html, md or json")
    return _ENDINGS[ending]
