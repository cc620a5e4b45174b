"""A comparison of two reports in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attribution.report import words
from attribution.report.compare import Change, Comparison, FailureRef
from attribution.report.markdown.text import escape, table
from schema.error_type_names import error_type_name


def render_comparison(comparison: Comparison) -> str:
    """A comparison of two reports as a Markdown document."""
    return "\n".join(_comparison_lines(comparison)) + "\n"


def _comparison_lines(found: Comparison) -> Iterator[str]:
    before, after = found.before, found.after
    yield "# Two runs compared"
    yield ""
    yield from table(
        ("", "before", "after"),
        [
            ("scope", escape(words.covered(before.scope)), escape(words.covered(after.scope))),
            ("created", f"{before.created_at:%Y-%m-%d %H:%M} UTC", f"{after.created_at:%Y-%m-%d %H:%M} UTC"),
            ("failures", f"{before.totals.failures:,}", f"{after.totals.failures:,}"),
            ("attributed", f"{before.totals.attributed:,}", f"{after.totals.attributed:,}"),
            ("abstained", f"{before.totals.abstained:,}", f"{after.totals.abstained:,}"),
            ("without verdict", f"{before.totals.without_verdict:,}", f"{after.totals.without_verdict:,}"),
            ("known to be wrong, of all questions asked", words.of_all(before.wrong), words.of_all(after.wrong)),
            ("judged right, of all questions asked", words.of_all(before.right), words.of_all(after.right)),
        ],
    )
    yield f"**{words.outcome(found)}** {words.paired(found)}"
    yield ""
    yield (
        "Differences are in percentage points, with 95 % intervals (Newcombe). Rates are shares of all questions asked "
        "where the heading says so, otherwise of the failures that have a verdict."
    )
    yield ""
    yield from _references("Fixed", found.fixed)
    yield from _references("Broken", found.broken)
    yield from _references("Still wrong", found.still_wrong)
    yield from _references("Failed in one run, not judged in the other", found.not_judged)
    yield from _references("Failed in one run, not asked in the other", found.not_asked)
    yield from _changes("Of all questions asked", "error type", found.of_all)
    yield from _changes("By error type", "error type", found.by_error_type)
    yield from _changes("By operation", "operation", found.by_operation)
    yield from _changes("By prompt", "prompt", found.by_prompt)


def _changes(title: str, what: str, every: Sequence[Change]) -> Iterator[str]:
    changes = words.changed(every)
    if not changes:
        return
    yield f"## {title}"
    yield ""
    yield from table(
        (what, "before", "after", "rate before", "rate after", "difference"),
        [
            (
                escape(change.label),
                f"{change.before:,}",
                f"{change.after:,}",
                words.percent(change.rate_before),
                words.percent(change.rate_after),
                words.points(change),
            )
            for change in changes
        ],
    )


def _references(title: str, references: Sequence[FailureRef]) -> Iterator[str]:
    if not references:
        return
    yield f"## {title}"
    yield ""
    yield from table(
        ("before", "after", "question", "trace", "error type before", "error type after"),
        [
            (
                f"#{one.before}" if one.before else "",
                f"#{one.after}" if one.after else "",
                escape(words.cut(one.question, 200)),
                escape(words.place(one)),
                error_type_name(one.error_type_before) if one.before else "",
                error_type_name(one.error_type_after) if one.after else "",
            )
            for one in references
        ],
    )
