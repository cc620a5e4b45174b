"""Writes reports and comparisons of reports in Markdown (CommonMark with tables)."""

from attribution.report.markdown.comparison import render_comparison
from attribution.report.markdown.report import render
from attribution.report.markdown.text import escape

__all__ = ["escape", "render", "render_comparison"]
