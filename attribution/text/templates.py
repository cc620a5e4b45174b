"""The settings that all HTML and SVG templates share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from attribution.text.fit import printable


def environment(*folders: Path) -> Environment:
    """The templates of folders; of two with one name, the first.

    Values are escaped, and a name without a value is an error.
    """
    return Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_fit,
        auto_reload=False,
    )


def _fit(value: Any) -> Any:
    """Text without characters that documents can't hold; markup made by a template stays as it is."""
    return printable(value) if type(value) is str else value
