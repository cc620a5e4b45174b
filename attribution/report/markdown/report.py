"""A report in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attribution.report import words
from attribution.report.chart import heat_map
from attribution.report.failure_report import FailureReport
from attribution.report.markdown.failure import case_lines
from attribution.report.markdown.text import escape, table
from attribution.report.model import Family, Harm, Lever, OperationErrors, OverTime, Pieces, ReportData, Share
from attribution.verdicts.naming import plain
from schema.error_type_names import error_type_name


def render(data: ReportData) -> str:
    """The report as a Markdown document."""
    return "\n".join(_lines(data)) + "\n"


def _lines(data: ReportData) -> Iterator[str]:
    totals = data.totals
    yield "# Why answers were wrong"
    yield ""
    yield f"{escape(words.covered(data.scope))}. Created {data.created_at:%Y-%m-%d %H:%M} UTC."
    yield ""
    yield from table(
        ("", "failures"),
        [
            ("total", f"{totals.failures:,}"),
            ("attributed", f"{totals.attributed:,}"),
            ("abstained", f"{totals.abstained:,}"),
            ("without verdict", f"{totals.without_verdict:,}"),
        ],
    )
    if data.asked:
        yield words.asked(data.asked)
        yield ""
    yield "Rates are shares of the failures that have a verdict, with 95 % intervals (Wilson)."
    yield ""
    if data.summary:
        yield f"## Summary by {escape(data.summary.model)}"
        yield ""
        for sentence in data.summary.sentences:
            yield f"- {escape(sentence.text)} ({words.numbers(sentence.cases)})"
        yield ""
    yield from _levers(data.levers)
    if data.asked:
        yield from _shares("Of all questions asked", "error type", data.asked.by_error_type, "of all questions")
    yield from _shares("By error type", "error type", data.by_error_type)
    yield from _heat("Error types by operation", data.errors_by_operation, "failures")
    yield from _pieces(data.pieces)
    yield from _times(data.over_time)
    yield from _shares("By prompt", "prompt", data.by_prompt)
    yield from _shares("By session", "session", data.by_session)
    yield from _harm(data.harm)
    yield from _agreements(data)
    cases = {case.number: case for case in data.cases}
    for family in data.families:
        yield from _family(family, cases)


def _levers(levers: Sequence[Lever]) -> Iterator[str]:
    yield "## What to change first"
    yield ""
    if not levers:
        yield words.NO_LEVERS
        yield ""
        return
    yield f"{words.LEVERS}."
    yield ""
    yield from table(
        ("what to change", "failures affected", "rate", "95 % interval", "error types", "current settings"),
        [
            (
                escape(words.changed_thing(lever)),
                f"{lever.share.count:,}",
                words.percent(lever.share.rate),
                words.interval(lever.share),
                words.kinds(lever),
                escape(words.now(lever)),
            )
            for lever in levers
        ],
    )


def _shares(title: str, what: str, parts: Sequence[Share], rate: str = "rate") -> Iterator[str]:
    shown = words.some(parts)
    if not shown:
        return
    yield f"## {title}"
    yield ""
    yield from table(
        (what, "failures", rate, "95 % interval"),
        [(escape(part.label), f"{part.count:,}", words.percent(part.rate), words.interval(part)) for part in shown],
    )


def _harm(found: Sequence[Harm]) -> Iterator[str]:
    if not found:
        return
    yield "## What did harm"
    yield ""
    yield escape(words.HARM)
    yield ""
    for ranking in found:
        yield from table(
            (ranking.by, "failed", "passed", "score"),
            [(escape(plain(one.label)), *words.harmed(one)) for one in ranking.worst],
        )
        if ranking.total > len(ranking.worst):
            yield words.of_all_blamed(ranking)
            yield ""


def _heat(title: str, found: Sequence[OperationErrors], counted: str) -> Iterator[str]:
    if not found:
        return
    yield f"## {title}"
    yield ""
    yield from _heat_table(found, counted)


def _heat_table(found: Sequence[OperationErrors], counted: str) -> Iterator[str]:
    drawn = heat_map(found)
    yield from table(
        ("operation", *map(error_type_name, drawn.kinds), "total"),
        [(escape(row.label), *(cell.number for cell in row.cells), row.count) for row in drawn.rows],
    )
    if drawn.hidden:
        yield words.hidden_operations(drawn.hidden, counted)
        yield ""


def _pieces(found: Pieces | None) -> Iterator[str]:
    if found is None:
        return
    yield "## Pieces of what the answers needed"
    yield ""
    yield words.pieces(found)
    yield ""
    if found.total > found.failures and found.by_operation:
        yield from _heat_table(found.by_operation, "lost pieces")


def _times(found: OverTime | None) -> Iterator[str]:
    if found is None:
        return
    yield "## Over time"
    yield ""
    yield words.when(found)
    yield ""
    if len(found.stretches) > 1:
        for one in found.stretches:
            if one.failures:
                yield f"- {words.moment(one.start, found.seconds)}: {one.failures:,}"
        yield ""


def _agreements(data: ReportData) -> Iterator[str]:
    if not data.agreements:
        return
    yield "## Agreement of methods and people"
    yield ""
    yield from table(
        ("first", "second", "cases", "same error type", "Cohen's kappa", "same operation", "both", "their kappa"),
        [
            (
                escape(one.first),
                escape(one.second),
                f"{one.cases:,}",
                words.percent(one.type_accuracy),
                words.decimal(one.type_kappa),
                words.percent(one.operation_accuracy),
                words.percent(one.joint_accuracy),
                words.decimal(one.joint_kappa),
            )
            for one in data.agreements[: words.SHOWN]
        ],
    )


def _family(family: Family, cases: dict[int, FailureReport]) -> Iterator[str]:
    part = family.share
    yield f"## {escape(part.label)}"
    yield ""
    yield f"{words.counted(part.count, 'failure')}, {words.percent(part.rate)} ({words.interval(part)})."
    yield ""
    for number in family.cases[: words.SHOWN]:
        yield from case_lines(cases[number])
    rest = family.cases[words.SHOWN :]
    if rest:
        named = ", ".join(f"#{number} (`{cases[number].failure_id}`)" for number in rest)
        yield f"{words.rest(len(rest))}: {named}."
        yield ""
