"""Writes a report as one HTML file without network and scripts; charts are inline SVG.

Quoted texts are untrusted: they are escaped.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment

from attribution.report import words
from attribution.report.chart import chart, columns, harm_chart, heat_map
from attribution.report.compare import Comparison
from attribution.report.model import ReportData
from attribution.report.picture import whole_path
from attribution.text.templates import environment
from attribution.why_not import lines as why_not_lines
from schema.error_type_names import error_type_name

_TEMPLATES = Path(__file__).parent / "templates"
SHARED = Path(__file__).parent / "shared"
"""The templates that web pages use, too."""


def render(data: ReportData) -> str:
    """The report as an HTML page."""
    cases = {case.number: case for case in data.cases}
    return _environment().get_template("report.html.j2").render(data=data, cases=cases)


def render_comparison(comparison: Comparison) -> str:
    """A comparison of two reports as an HTML page."""
    return _environment().get_template("comparison.html.j2").render(data=comparison)


def shared_style_sheet() -> str:
    """The styles that web pages use, too: of error types, and of the story of a failure."""
    return "".join((SHARED / name).read_text("utf-8") for name in ("types.css", "story.css"))


@cache
def _environment() -> Environment:
    made = environment(_TEMPLATES, SHARED)
    made.globals.update(
        words=words,
        error_type_name=error_type_name,
        chart=chart,
        columns=columns,
        harm_chart=harm_chart,
        heat_map=heat_map,
        whole_path=whole_path,
        why_not_pieces=why_not_lines.pieces,
    )
    return made
