"""Writes a report in Markdown (CommonMark with tables).

Quoted texts are untrusted: they are escaped, and each is kept on one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from attribution.naming import plain
from attribution.report import words
from attribution.report.case import Ranking, ReportedCase, Revision
from attribution.report.chart import heat_map
from attribution.report.compare import CaseRef, Change, Comparison
from attribution.report.model import Family, Harm, Lever, OperationErrors, OverTime, Pieces, ReportData, Share
from attribution.report.picture import Box, whole_path
from attribution.text.fit import printable
from attribution.why_not.lines import pieces
from attribution.why_not.model import WhyNot

_ACTIVE = re.compile(r"[\\`*_{}\[\]<>|~&#$]|(?<=:)//|(?<=www)\.|@")
_BACKTICKS = re.compile("`+")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}

Row = Sequence[str]


def escape(text: str) -> str:
    """A text on one line, in which nothing is markup."""
    line = " ".join(printable(text).split())
    return _ACTIVE.sub(lambda found: _ENTITIES.get(found[0]) or f"\\{found[0]}", line)


def render(data: ReportData) -> str:
    """The report as a Markdown document."""
    return "\n".join(_lines(data)) + "\n"


def render_comparison(comparison: Comparison) -> str:
    """A comparison of two reports as a Markdown document."""
    return "\n".join(_comparison_lines(comparison)) + "\n"


def _lines(data: ReportData) -> Iterator[str]:
    totals = data.totals
    yield "# Why answers were wrong"
    yield ""
    yield f"{escape(words.covered(data.scope))}. Created {data.created_at:%Y-%m-%d %H:%M} UTC."
    yield ""
    yield from _table(
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
    yield from _table(
        ("what to change", "failures affected", "rate", "95 % interval", "error types", "current settings"),
        [
            (
                escape(lever.share.label),
                f"{lever.share.count:,}",
                words.percent(lever.share.rate),
                words.interval(lever.share),
                words.kinds(lever),
                escape(words.settings(lever)),
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
    yield from _table(
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
        yield from _table(
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
    yield from _table(
        ("operation", *drawn.kinds, "total"),
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
    yield from _table(
        ("first", "second", "cases", "same error type", "Cohen's kappa", "same operation", "both", "their kappa"),
        [
            (
                one.first,
                one.second,
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


def _family(family: Family, cases: dict[int, ReportedCase]) -> Iterator[str]:
    part = family.share
    yield f"## {escape(part.label)}"
    yield ""
    yield f"{words.counted(part.count, 'failure')}, {words.percent(part.rate)} ({words.interval(part)})."
    yield ""
    for number in family.cases[: words.SHOWN]:
        yield from _case(cases[number])
    rest = family.cases[words.SHOWN :]
    if rest:
        named = ", ".join(f"#{number} (`{cases[number].failure_id}`)" for number in rest)
        yield f"{words.rest(len(rest))}: {named}."
        yield ""


def _case(case: ReportedCase) -> Iterator[str]:
    yield f"### #{case.number} {escape(words.cut(case.question, 200))}"
    yield ""
    yield f"- failure: `{case.failure_id}`"
    yield f"- trace: {escape(words.place(case))}"
    yield f"- answer: {escape(words.cut(case.prediction or ''))}"
    yield f"- gold answer: {' / '.join(escape(words.cut(gold)) for gold in case.gold_answers)}"
    if case.operation:
        yield f"- blamed operation: {escape(case.operation.label)}"
    yield f"- verdict: {escape(words.verdict(case))}"
    if case.reason:
        yield f"- reason: {escape(words.cut(case.reason))}"
    if case.proof:
        yield f"- replay: {escape(words.cut(words.proof(case.proof)))}"
    for loss in case.losses:
        yield f"- piece “{escape(words.cut(loss.piece))}”: {escape(words.piece_end(loss))}"
    for other in case.others:
        kind = other.error_type or "abstained"
        at = f" at {escape(other.operation)}" if other.operation else ""
        earlier = words.EARLIER_GOLD if other.on_earlier_gold else ""
        yield f"- {escape(other.author or other.method)} says: {kind}{at}{earlier}"
    yield ""
    yield from _path(case)
    if case.revision:
        yield from _revision(case.revision)
    if case.ranking:
        yield from _ranking(case.ranking)
    yield from _why_not(case.why_not)


def _why_not(found: Sequence[WhyNot]) -> Iterator[str]:
    if not found:
        return
    yield "What was there and not chosen:"
    yield ""
    for piece in pieces(found):
        yield f"- {piece.title}: “{escape(words.cut(piece.of.piece))}”: {escape(piece.outcome)}"
        for part in piece.parts:
            yield f"  - {escape(part.title)}"
            for line in part.lines:
                quotes = " → ".join(f"“{escape(quote)}”" for quote in line.quotes)
                said = " ".join(filter(None, (escape(line.name), escape(line.said))))
                yield f"    - {': '.join(filter(None, (said, quotes)))}"
    yield ""


def _path(case: ReportedCase) -> Iterator[str]:
    """The steps from the evidence to the answer; a text that several steps quote is quoted once."""
    boxes = whole_path(case)
    quoted = {"", case.prediction, " / ".join(case.gold_answers)}
    for place, box in enumerate(boxes, 1):
        quote = "" if box.quote in quoted else f": “{escape(words.cut(box.quote))}”"
        quoted.add(box.quote)
        yield f"{place}. {_box(box)}{quote}"
    if boxes:
        yield ""


def _box(box: Box) -> str:
    named = " ".join(part for part in (box.kind, escape(box.name)) if part)
    by = f" by {escape(box.by)}" if box.by else ""
    return f"**{named}{by}: {box.state}**" if box.is_break else f"{named}{by}: {box.state}"


def _revision(found: Revision) -> Iterator[str]:
    yield f"From {escape(found.before)} to {escape(found.after)}: {words.revised(found)}."
    yield ""
    if not found.lines:
        return
    lines = [printable(line) for line in found.lines]
    # The fence is longer than any row of backticks in the lines, so that no line can end it.
    fence = "`" * max(3, *(len(row) + 1 for line in lines for row in _BACKTICKS.findall(line)), 3)
    yield from (f"{fence}diff", *lines, fence, "")


def _ranking(found: Ranking) -> Iterator[str]:
    yield words.ranked(found)
    yield ""
    yield from _table(
        ("rank", "score", "unit", "returned", "text"),
        [
            (
                str(unit.rank),
                words.score(unit),
                escape(unit.label),
                words.returned(unit),
                escape(unit.text),
            )
            for unit in found.units
        ],
    )


def _comparison_lines(found: Comparison) -> Iterator[str]:
    before, after = found.before, found.after
    yield "# Two runs compared"
    yield ""
    yield from _table(
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
    yield from _table(
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


def _references(title: str, references: Sequence[CaseRef]) -> Iterator[str]:
    if not references:
        return
    yield f"## {title}"
    yield ""
    yield from _table(
        ("before", "after", "question", "trace", "error type before", "error type after"),
        [
            (
                f"#{one.before}" if one.before else "",
                f"#{one.after}" if one.after else "",
                escape(words.cut(one.question, 200)),
                escape(words.place(one)),
                one.error_type_before or "",
                one.error_type_after or "",
            )
            for one in references
        ],
    )


def _table(columns: Row, rows: Iterable[Row]) -> Iterator[str]:
    for row in (columns, ["---"] * len(columns), *rows):
        yield f"| {' | '.join(row)} |"
    yield ""
