"""How a report's numbers and texts are written, in every form the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from attribution.report.case import CitedStep, RankedUnit, Ranking, ReportedCase, Revision
from attribution.report.compare import CaseRef, Change, Comparison
from attribution.report.model import Asked, Harm, Harmful, Lever, OverTime, Scope, Share

SHOWN = 10
"""Cases of a family that are shown whole; the others are named."""

QUOTED = 600
"""The longest text of a case that is shown; the JSON has all of it."""


_SIGNIFICANT = 0.05
_DAY = 86_400

_DIGEST = re.compile(r"[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4,}){2,}")

_MARKS = re.compile(r"(?<=[._:/-])(?=.)")

_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def percent(rate: float | None) -> str:
    """A share in percent: ``12.3 %``."""
    return "n/a" if rate is None else f"{100 * rate:.1f} %"


def between(low: float, high: float) -> str:
    """An interval of a share: ``8.1 to 16.2 %``."""
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def interval(part: Share) -> str:
    """The interval of a part's rate."""
    return between(part.low, part.high)


def points(change: Change) -> str:
    """A difference of two rates in percentage points, with its interval: ``+3.1 (-1.0 to +7.2)``."""
    return f"{100 * change.difference:+.1f} ({100 * change.low:+.1f} to {100 * change.high:+.1f})"


def decimal(value: float | None) -> str:
    """A number between 0 and 1."""
    return "n/a" if value is None else f"{value:.2f}"


def counted(number: int, noun: str) -> str:
    """``1 failure``, ``1,234 failures``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def cut(text: str, length: int = QUOTED) -> str:
    """A text of at most this many characters."""
    return text if len(text) <= length else text[: length - 1] + "…"


def middle(text: str, length: int) -> str:
    """A text of at most this many characters, cut in its middle: names differ at their ends."""
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return f"{text[: length - 1 - tail]}…{text[len(text) - tail :]}"


def plain(external_id: str) -> str:
    """An id of the source without the digests in it, which say nothing to people: ``extracted_facts:list:…@1``."""
    return _DIGEST.sub("…", external_id)


def wrappable(name: str) -> list[str]:
    """A name in parts, between which a line may break, rather than within a word."""
    return _MARKS.split(name)


def ids(external_id: str | None, id_: str | None) -> str:
    """The ids of something, for who asks for it: that of the source, and ours."""
    return ", ".join(part for part in (external_id, id_ and f"id {id_}") if part)


def printable(text: str) -> str:
    """A text without what no document should hold: controls, halves of characters, marks that turn the writing."""
    return _UNFIT.sub("\ufffd", text)


def settings(lever: Lever) -> str:
    """The values of a lever's settings: ``top_k = 5 or 10; rerank = true``."""
    return "; ".join(f"{name} = {' or '.join(map(_value, values))}" for name, values in lever.settings.items())


def kinds(lever: Lever) -> str:
    """A lever's failures by error type: ``8 ExtractionError, 2 UpdateError``."""
    return ", ".join(f"{count:,} {kind}" for kind, count in lever.error_types.items())


def asked(found: Asked) -> str:
    """How many questions there were, and how many answers are known to be wrong, in a sentence or two."""
    wrong = found.wrong
    held = f"The traces hold {counted(found.answers, 'answer')}"
    if not found.answers:
        return f"{held}, so of how many questions {counted(wrong.count, 'failure')} came can't be told."
    beside = wrong.total - found.answers
    more = f", and {counted(beside, 'failure')} whose answer was not recorded as one" if beside else ""
    known = f"{wrong.count:,} of {wrong.total:,} are known to be wrong: {percent(wrong.rate)} ({interval(wrong)})"
    if not (found.right and found.right.count and found.not_judged):
        return f"{held}{more}. {known}. Nobody may have judged the others."
    rest = f"{_part(found.right)} were judged right, and {_part(found.not_judged)} nobody has judged"
    return f"{held}{more}. {known}. {rest}."


def _part(part: Share) -> str:
    return f"{part.count:,} ({percent(part.rate)})"


def outcome(found: Comparison) -> str:
    """How many questions are fixed, broken and still wrong."""
    still = len(found.still_wrong)
    said = (
        f"{counted(len(found.fixed), 'question')} fixed, {len(found.broken):,} broken, {still:,} still wrong "
        f"({len(found.moved):,} of them of another error type)."
    )
    if found.not_asked:
        said += f" Failed in one run and not asked in the other: {len(found.not_asked):,}."
    return said


def paired(found: Comparison) -> str:
    """What the test of fixed against broken says, in plain sentences."""
    test = found.paired
    if not test.fixed + test.broken:
        return "No question was answered well in one run only, so the runs do not differ and there is nothing to test."
    said = (
        f"Fixed against broken: p {_p_value(test.p_value)} (exact McNemar test). If both runs were equally good, "
        f"chance alone would give a split at least as uneven in {_often(test.p_value)} comparisons like this one; "
    )
    if test.p_value >= _SIGNIFICANT:
        said += "so this does not show that either run is better."
    else:
        said += f"so the second run is {'better' if test.fixed > test.broken else 'worse'}, and hardly by chance."
    if not test.is_known:
        said += (
            " Not both reports say which questions were asked: one that is not among a run's failures counts as "
            "answered well by it."
        )
    return said


def of_all(part: Share | None) -> str:
    """A part of all questions that one run was asked: ``3 of 8: 37.5 %``."""
    return "not known" if part is None else f"{part.count:,} of {part.total:,}: {percent(part.rate)}"


def changed(changes: Iterable[Change]) -> list[Change]:
    """The parts that are not empty in both."""
    return [change for change in changes if change.before or change.after]


def place(one: ReportedCase | CaseRef) -> str:
    """The trace of a case: its name, and its id in the source, unless that is a digest."""
    external_id = one.trace_external_id
    if one.trace == external_id or external_id != plain(external_id):
        return plain(one.trace)
    return f"{one.trace} ({external_id})"


def _p_value(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}"


def _often(p_value: float) -> str:
    return "fewer than 1 of 1,000" if p_value < 0.001 else f"{percent(p_value)} of"


def moment(start: datetime, seconds: int) -> str:
    """When a stretch of so many seconds begins: with its hour where stretches are shorter than days."""
    return f"{start:%Y-%m-%d %H:%M}" if seconds < _DAY else f"{start:%Y-%m-%d}"


def over_time(found: OverTime) -> str:
    """The stretches with failures, in words."""
    said = "; ".join(f"{moment(one.start, found.seconds)}: {one.failures:,}" for one in found.stretches if one.failures)
    return f"{said}{undated(found)}"


def when(found: OverTime) -> str:
    """How long the stretches are, in a sentence; where there is one alone, when it was."""
    if len(found.stretches) == 1:
        return f"All in {_length(found.seconds)} from {moment(found.stretches[0].start, 0)} UTC{undated(found)}."
    return f"Wrong answers by when they were given (UTC), in stretches of {_length(found.seconds)}{undated(found)}."


def undated(found: OverTime) -> str:
    """How many failures have no time, if any."""
    return f"; {counted(found.undated, 'failure')} without a time" if found.undated else ""


def _length(seconds: int) -> str:
    for size, name in ((7 * _DAY, "week"), (_DAY, "day"), (3600, "hour"), (60, "minute")):
        if seconds % size == 0:
            return counted(seconds // size, name)
    return counted(seconds, "second")


def harmed(one: Harmful) -> tuple[str, str, str]:
    """What something is blamed for, what rests on it, and the score of both."""
    return f"{one.failed:,.2f}", f"{one.passed:,}", f"{one.score:.3f}"


def of_all_blamed(found: Harm) -> str:
    """How many there are beside those of a ranking that are shown."""
    return f"The worst {len(found.worst):,} of {found.total:,}; memtrace blame --by {found.by} lists all."


HARM = (
    "The score is Ochiai's coefficient, from 0 to 1: high where something is blamed for many failures (failed, "
    "weighted by the confidence of their verdicts) and few right answers rest on it (passed)."
)


def some(parts: Iterable[Share]) -> list[Share]:
    """The parts that are not empty."""
    return [part for part in parts if part.count]


def covered(scope: Scope) -> str:
    """What a report is about, in words."""
    names = [trace.name or trace.external_id for trace in scope.traces]
    where = f"trace {names[0]}" if len(names) == 1 else counted(len(names), "trace")
    chosen = f", {counted(len(scope.selection), 'chosen failure')}" if scope.selection else ""
    by = f"verdicts of {scope.source}" if scope.source else "newest verdict of any method"
    return f"project {scope.project}, {where}{chosen}; {by}"


def ranked(found: Ranking) -> str:
    """Where a search put the unit that was missed, in a sentence."""
    held = f"Rated: {counted(found.considered, 'unit')}; returned: {found.returned:,}"
    if found.missed is None:
        return f"{held}. The unit that has the fact was not among them."
    return f"{held}. The unit that has the fact came as number {found.missed:,}."


def score(unit: RankedUnit) -> str:
    """What a search said of a unit, on a scale of its own."""
    return "" if unit.score is None else f"{unit.score:.4g}"


def returned(unit: RankedUnit) -> str:
    """Whether a search returned a unit, and whether it is the one with the fact."""
    said = "yes" if unit.is_returned else "no"
    return f"{said}; it has the fact" if unit.is_missed else said


def revised(found: Revision) -> str:
    """How much of a text an operation changed, in a sentence."""
    if not found.lines:
        return "nothing was changed"
    said = f"{counted(found.removed, 'line')} gone, {found.added:,} new, with each sentence on a line of its own"
    return f"{said}; the first {len(found.lines):,} lines of the differences" if found.is_cut else said


def named(step: CitedStep) -> str:
    """What people know the variable of a step by."""
    return step.label or plain(step.external_id or "")


def numbers(cases: Iterable[int]) -> str:
    """How cases are cited: ``#3, #17``."""
    return ", ".join(f"#{number}" for number in cases)


def verdict(case: ReportedCase) -> str:
    """Who says so, and how surely: ``flow, confidence 0.83``."""
    by = " ".join(part for part in (case.method, case.model, case.author) if part)
    return by if case.confidence is None else f"{by}, confidence {case.confidence:.2f}"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
