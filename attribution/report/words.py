"""Wording of a report's numbers and texts, the same in HTML and Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from attribution.report.compare import Change, Comparison, FailureRef
from attribution.report.failure_report import (
    CitedCandidate,
    CitedLoss,
    CitedStep,
    FailureReport,
    RankedUnit,
    Ranking,
    ReportedProof,
    Revision,
)
from attribution.report.model import Asked, Harm, Harmful, Lever, OverTime, Pieces, Reach, Scope, Share
from attribution.verdicts import failure_columns
from attribution.verdicts.naming import plain
from schema.error_type_names import error_type_name

SHOWN = 10
"""The number of cases of a family that are shown in full; the others are only named."""

QUOTED = 600
"""The maximal length of a quoted text, in characters; the JSON report has the whole text."""

LEVERS = (
    "A change affects the failures whose blamed operation uses this prompt or these settings; only a new run shows "
    "whether it repairs them"
)
EARLIER_GOLD = ", on an earlier gold answer"
NO_LEVERS = "There is nothing to change yet, because no failure is attributed."

_SIGNIFICANT = 0.05
_POSSIBLE = 0.05
"""Candidates that are less likely are not told."""
_DAY = 86_400

_MARKS = re.compile(r"(?<=[._:/-])(?=.)")


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


def listed(case: FailureReport) -> list[tuple[str, str]]:
    """Title and text of the failure's columns that are listed for people."""
    return failure_columns.listed(case.columns)


def wrappable(name: str) -> list[str]:
    """The parts of a name between which a line may break."""
    return _MARKS.split(name)


def ids(external_id: str | None, id_: str | None) -> str:
    """The ids of an element in the source and in the store."""
    return ", ".join(part for part in (external_id, id_ and f"id {id_}") if part)


def settings(found: Mapping[str, Iterable[Any]]) -> str:
    """The values of a lever's settings: ``top_k = 5 or 10; rerank = true``."""
    return "; ".join(f"{name} = {' or '.join(map(_value, values))}" for name, values in found.items())


def changed_thing(lever: Lever) -> str:
    """The prompt or setting that a lever would change, with the places in the code."""
    places = ", ".join(lever.locations)
    return f"{lever.share.label} ({places})" if places else lever.share.label


def now(lever: Lever) -> str:
    """The present settings of a lever, and what another number of results would have done."""
    found = lever.reach
    if found is None:
        return settings(lever.settings)
    rest = {name: values for name, values in lever.settings.items() if name != found.setting}
    return "; ".join(part for part in (reach(found), settings(rest)) if part)


def reach(found: Reach) -> str:
    """What another number of results would have done: ``top_k = 2: 5 would have returned 31 of 84``."""
    before = f"{found.setting} = {found.now}" if found.setting else f"it returned {found.now:,}"
    return f"{before}: {found.k:,} would have returned {found.finds:,} of {found.of:,}"


def kinds(lever: Lever) -> str:
    """A lever's failures by error type: ``8 Extraction error, 2 Update error``."""
    return ", ".join(f"{count:,} {error_type_name(kind)}" for kind, count in lever.error_types.items())


def asked(found: Asked) -> str:
    """The numbers of questions and of known wrong answers, in two or three sentences."""
    wrong = found.wrong
    contain = f"The traces contain {counted(found.answers, 'answer')}"
    if not found.answers:
        return f"{contain}, so it is not known how many questions were asked."
    beside = wrong.total - found.answers
    more = f", and {counted(beside, 'failure')} whose answer was not recorded as an answer" if beside else ""
    are = "is" if wrong.count == 1 else "are"
    known = f"{wrong.count:,} of {wrong.total:,} {are} known to be wrong: {percent(wrong.rate)} ({interval(wrong)})"
    if not (found.right and found.right.count and found.not_judged):
        others = " It is not recorded whether anybody judged the others." if wrong.count < wrong.total else ""
        return f"{contain}{more}. {known}.{others}"
    rest = f"{_part(found.right)} {_were(found.right)} judged right"
    if found.not_judged.count:
        rest += f", and {_part(found.not_judged)} {_were(found.not_judged)} not judged"
    return f"{contain}{more}. {known}. {rest}."


def _were(part: Share) -> str:
    return "was" if part.count == 1 else "were"


def rest(number: int) -> str:
    """The number of a family's cases that are only named."""
    return f"{counted(number, 'more case')} with the same or lower confidence"


def hidden_operations(number: int, of_what: str) -> str:
    """A sentence on operations left out of a table; ``of_what`` names the things that the table counts."""
    return f"Only the JSON report has the {counted(number, 'operation')} with fewer {of_what}."


def pieces(found: Pieces) -> str:
    """The number of pieces that the answers needed, and where the pieces ended, in a sentence."""
    unknown = found.total - found.lost - found.reached
    ends = [f"{found.lost:,} lost", f"{found.reached:,} reached the answer"]
    rest = f", and of {unknown:,} no operation is known that lost it" if unknown else ""
    return (
        f"{counted(found.failures, 'failure')} needed {counted(found.total, 'piece')} of evidence: "
        f"{', '.join(ends)}{rest}."
    )


def piece_end(loss: CitedLoss) -> str:
    """Where a piece ended, with the confidence: ``lost at extract (Extraction error, confidence 0.83)``."""
    kind = f"{error_type_name(loss.error_type)}, " if loss.error_type else ""
    sure = f"({kind}confidence {loss.confidence:.2f})"
    if loss.reached:
        return f"reached the answer {sure}"
    if loss.operation_id:
        return f"lost at {loss.operation or 'an operation'} {sure}"
    return f"was not lost {sure}" if loss.error_type else f"unknown where: {cut(loss.reason)}"


def _part(part: Share) -> str:
    return f"{part.count:,} ({percent(part.rate)})"


def outcome(found: Comparison) -> str:
    """The numbers of fixed, broken and still wrong questions."""
    still = len(found.still_wrong)
    said = (
        f"{counted(len(found.fixed), 'question')} fixed, {len(found.broken):,} broken, {still:,} still wrong "
        f"({len(found.moved):,} of them with another error type)."
    )
    if found.not_judged:
        said += f" {counted(len(found.not_judged), 'question')} failed in one run and were not judged in the other."
    if found.not_asked:
        said += f" {counted(len(found.not_asked), 'question')} failed in one run and were not asked in the other."
    return said


def paired(found: Comparison) -> str:
    """The result of the test of fixed against broken questions, in words."""
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
        better = "better" if test.fixed > test.broken else "worse"
        said += f"so the second run is {better}, and it is unlikely that this is chance."
    if not test.is_known:
        said += (
            " At least one of the reports does not say which questions were asked. A question that is not among its "
            "failures counts as answered well."
        )
    return said


def of_all(part: Share | None) -> str:
    """A share of all questions of a run: ``3 of 8: 37.5 %``."""
    return "not known" if part is None else f"{part.count:,} of {part.total:,}: {percent(part.rate)}"


def changed(changes: Iterable[Change]) -> list[Change]:
    """The shares that are not 0 in both reports."""
    return [change for change in changes if change.before or change.after]


def place(one: FailureReport | FailureRef) -> str:
    """The trace of a case: the name, and the id in the source unless that is a digest."""
    external_id = one.trace_external_id
    if one.trace == external_id or external_id != plain(external_id):
        return plain(one.trace)
    return f"{one.trace} ({external_id})"


def _p_value(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}"


def _often(p_value: float) -> str:
    return "fewer than 1 of 1,000" if p_value < 0.001 else f"{percent(p_value)} of"


def moment(start: datetime, seconds: int) -> str:
    """The beginning of an interval; with hour and minute if the interval is shorter than a day."""
    return f"{start:%Y-%m-%d %H:%M}" if seconds < _DAY else f"{start:%Y-%m-%d}"


def over_time(found: OverTime) -> str:
    """The intervals with failures, in words."""
    said = "; ".join(f"{moment(one.start, found.seconds)}: {one.failures:,}" for one in found.stretches if one.failures)
    return f"{said}{undated(found)}"


def when(found: OverTime) -> str:
    """A sentence on the length of the intervals, or on the date of the only interval."""
    if len(found.stretches) == 1:
        start = moment(found.stretches[0].start, 0)
        return f"All wrong answers were given within {_length(found.seconds)} from {start} UTC{undated(found)}."
    length = _length(found.seconds)
    return f"Wrong answers by the time at which they were given (UTC), in intervals of {length}{undated(found)}."


def undated(found: OverTime) -> str:
    """The number of failures without a known time, in words; empty if there are none."""
    return f"; {counted(found.undated, 'failure')} without a time" if found.undated else ""


def _length(seconds: int) -> str:
    for size, name in ((7 * _DAY, "week"), (_DAY, "day"), (3600, "hour"), (60, "minute")):
        if seconds % size == 0:
            return counted(seconds // size, name)
    return counted(seconds, "second")


def harmed(one: Harmful) -> tuple[str, str, str]:
    """The blame of an element, the number of right answers that depend on the element, and the score."""
    return f"{one.failed:,.2f}", f"{one.passed:,}", f"{one.score:.3f}"


def of_all_blamed(found: Harm) -> str:
    """The number of elements that a ranking leaves out, in words."""
    return f"The worst {len(found.worst):,} of {found.total:,}; memtrace blame --by {found.by} lists all."


HARM = (
    "The score is Ochiai's coefficient, from 0 to 1: high where something is blamed for many failures (failed, "
    "weighted by the confidence of their verdicts) and few right answers rest on it (passed)."
)


def some(parts: Iterable[Share]) -> list[Share]:
    """The shares that are not 0."""
    return [part for part in parts if part.count]


def covered(scope: Scope) -> str:
    """The subject of a report, in words."""
    names = [trace.name or trace.external_id for trace in scope.traces]
    where = f"trace {names[0]}" if len(names) == 1 else counted(len(names), "trace")
    chosen = f", {counted(len(scope.selection), 'chosen failure')}" if scope.selection else ""
    by = f"verdicts of {scope.source}" if scope.source else "newest verdict of any method"
    return f"project {scope.project}, {where}{chosen}; {by}"


def ranked(found: Ranking) -> str:
    """The rank of the missed unit in a search, in a sentence."""
    said = f"The search rated {counted(found.considered, 'unit')} and returned {found.returned:,}"
    if found.missed is None:
        return f"{said}. The unit that has the fact was not among those that it rated."
    return f"{said}. The unit that has the fact was number {found.missed:,}."


def score(unit: RankedUnit) -> str:
    """The score that a search gave a unit, on the scale of that search."""
    return "" if unit.score is None else f"{unit.score:.4g}"


def returned(unit: RankedUnit) -> str:
    """Whether a search returned a unit, and whether it is the one with the fact."""
    said = "yes" if unit.is_returned else "no"
    return f"{said}; it has the fact" if unit.is_missed else said


def revised(found: Revision) -> str:
    """How much of a text an operation changed, in a sentence."""
    if not found.lines:
        return "nothing was changed"
    said = f"{counted(found.removed, 'line')} removed, {found.added:,} added (each sentence is on a line of its own)"
    return f"{said}; only the first {len(found.lines):,} lines of the difference are shown" if found.is_cut else said


def worth_saying(candidates: Iterable[CitedCandidate]) -> list[CitedCandidate]:
    """The candidates that a person should hear of; almost impossible candidates are left out."""
    return [one for one in candidates if is_possible(one.confidence)]


def is_possible(confidence: float | None) -> bool:
    """Whether a person should hear of a candidate with this confidence; None is not known."""
    return confidence is None or confidence >= _POSSIBLE


def named(step: CitedStep) -> str:
    """The name of the variable of a step, for people."""
    return step.label or plain(step.external_id or "")


def numbers(cases: Iterable[int]) -> str:
    """How cases are cited: ``#3, #17``."""
    return ", ".join(f"#{number}" for number in cases)


def verdict(case: FailureReport) -> str:
    """Who gave the verdict, its confidence, and whether it is out of date: ``flow, confidence 0.83``."""
    by = " ".join(part for part in (case.method, case.model, case.author) if part)
    sure = "" if case.confidence is None else f", confidence {case.confidence:.2f}"
    return f"{by}{sure}{EARLIER_GOLD if case.on_earlier_gold else ''}"


def proof(found: ReportedProof) -> str:
    """What replaying showed: ``proved: the correction rescues the answer``."""
    return f"{found.result}: {found.reason}"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
