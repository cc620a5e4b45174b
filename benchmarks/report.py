"""The report: sections of Markdown tables, and at the end each goal beside what was reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.timing import Ratio, Series


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal; ``reached`` and ``met`` are None where it was not measured."""

    figure: str
    goal: str
    reached: str | None
    met: bool | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under a heading each."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """A row."""
        self.rows.append(cells)

    def lines(self) -> Iterator[str]:
        """The table in Markdown, its columns aligned."""
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        rule = tuple("-" * width for width in widths)
        for row in (self.columns, rule, *self.rows):
            yield "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"


@dataclass(slots=True)
class Section:
    """The results of one benchmark.

    Attributes:
        notes: what was measured and how, a paragraph each.
        missing: what could not be measured, and why; shown prominently.
        numbers: raw figures for programs; seconds and bytes.
    """

    title: str
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    numbers: dict[str, Any] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """The section in Markdown."""
        yield f"## {self.title}"
        for note in self.notes:
            yield from ("", note)
        for reason in self.missing:
            yield from ("", f"**NOT MEASURED: {' '.join(reason.split())}**")
        for table in self.tables:
            if table.rows:
                yield ""
                yield from table.lines()
        yield ""

    def document(self) -> dict[str, Any]:
        """The section for programs."""
        return {
            "title": self.title,
            "missing": self.missing,
            "numbers": self.numbers,
            "goals": [asdict(goal) for goal in self.goals],
        }


def at_most(figure: str, bound: float, value: float | None, form: Callable[[float], str]) -> Goal:
    """A goal that is met by what does not exceed ``bound``."""
    met = None if value is None else value <= bound
    return Goal(figure, f"≤ {form(bound)}", None if value is None else form(value), met)


def at_least(figure: str, bound: float, value: float | None, form: Callable[[float], str]) -> Goal:
    """A goal that is met by what does not fall short of ``bound``."""
    met = None if value is None else value >= bound
    return Goal(figure, f"≥ {form(bound)}", None if value is None else form(value), met)


def goal_lines(goals: Iterable[Goal]) -> Iterator[str]:
    """All goals in one table."""
    table = Table(("figure", "goal", "reached", "met"))
    for goal in goals:
        met = "not measured" if goal.met is None else "yes" if goal.met else "NO"
        table.add(goal.figure, goal.goal, goal.reached or "–", met)
    yield from ("## Goals", "")
    yield from table.lines()


def seconds(value: float) -> str:
    """``1.23 s``."""
    return f"{value:.2f} s"


def milliseconds(value: float) -> str:
    """Seconds as ``12.3 ms``."""
    return f"{value * 1000:.1f} ms"


def megabytes(value: float) -> str:
    """Bytes as ``1.23 MB`` (10^6)."""
    return f"{value / 1e6:.2f} MB"


def times(value: float) -> str:
    """``1.23×``."""
    return f"{value:.2f}×"


def percent(value: float) -> str:
    """A part of 1 as ``12.3 %``."""
    return f"{value * 100:.1f} %"


def per_second(value: float) -> str:
    """``12,345/s``."""
    return f"{value:,.0f}/s"


def spread(series: Series | Ratio, form: Callable[[float], str]) -> str:
    """The median, followed by the least and the most."""
    middle = series.median if isinstance(series, Series) else series.value
    return f"{form(middle)} ({form(series.low)} – {form(series.high)})"


def raw(series: dict[str, Series]) -> dict[str, Sequence[float]]:
    """Series for programs."""
    return {name: one.values for name, one in series.items()}
