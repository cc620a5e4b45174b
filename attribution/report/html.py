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
from attribution.report.picture import picture, whole_path
from attribution.text.fit import middle
from attribution.text.templates import environment
from attribution.why_not import lines as why_not_lines

_TEMPLATES = Path(__file__).parent / "templates"


def render(data: ReportData) -> str:
    """The report as an HTML page."""
    cases = {case.number: case for case in data.cases}
    return _environment().get_template("report.html.j2").render(data=data, cases=cases)


def render_comparison(comparison: Comparison) -> str:
    """A comparison of two reports as an HTML page."""
    return _environment().get_template("comparison.html.j2").render(data=comparison)


@cache
def _environment() -> Environment:
    made = environment(_TEMPLATES)
    made.globals.update(
        words=words,
        chart=chart,
        columns=columns,
        harm_chart=harm_chart,
        middle=middle,
        heat_map=heat_map,
        picture=picture,
        whole_path=whole_path,
        why_not_pieces=why_not_lines.pieces,
    )
    return made
