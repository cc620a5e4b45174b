"""A report as one HTML file: no network, no scripts, charts as inline SVG. What it quotes is untrusted and escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from attribution.report import words
from attribution.report.chart import chart, columns, harm_chart, heat_map
from attribution.report.compare import Comparison
from attribution.report.model import ReportData
from attribution.report.picture import picture

_TEMPLATES = Path(__file__).parent / "templates"


def render(data: ReportData) -> str:
    """The report as a page."""
    cases = {case.number: case for case in data.cases}
    return _environment().get_template("report.html.j2").render(data=data, cases=cases)


def render_comparison(comparison: Comparison) -> str:
    """Two reports side by side as a page."""
    return _environment().get_template("comparison.html.j2").render(data=comparison)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_fit,
    )
    environment.globals.update(words=words, chart=chart, columns=columns, picture=picture)
    environment.globals.update(harm_chart=harm_chart, heat_map=heat_map)
    return environment


def _fit(value: Any) -> Any:
    """Text as it may stand in a document; what is markup already was made by a template."""
    return words.printable(value) if type(value) is str else value
