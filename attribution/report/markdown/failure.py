"""A case of a report in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attribution.report import words
from attribution.report.failure_report import FailureReport, Ranking, Revision
from attribution.report.markdown.text import escape, fenced, table
from attribution.report.picture import Box, whole_path
from attribution.why_not.lines import pieces
from attribution.why_not.model import WhyNot
from schema.error_type_names import error_type_name


def case_lines(case: FailureReport) -> Iterator[str]:
    """A case that is shown whole: what happened, the path of the fact, and what was not chosen."""
    yield f"### #{case.number} {escape(words.cut(case.question, 200))}"
    yield ""
    yield f"- failure: `{case.failure_id}`"
    yield f"- trace: {escape(words.place(case))}"
    yield f"- answer: {escape(words.cut(case.prediction or ''))}"
    yield f"- gold answer: {' / '.join(escape(words.cut(gold)) for gold in case.gold_answers)}"
    for title, text in words.listed(case):
        yield f"- {title.lower()}: {escape(words.cut(text))}"
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
        kind = error_type_name(other.error_type)
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
    yield "What became of each needed fact:"
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


"""The steps from the evidence to the answer; a text that several steps quote is quoted once."""


def _path(case: FailureReport) -> Iterator[str]:
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
    yield from fenced("diff", found.lines)


def _ranking(found: Ranking) -> Iterator[str]:
    yield words.ranked(found)
    yield ""
    yield from table(
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
