"""Searches that find nothing: what an answer was made without belongs to its past.

Nothing of an empty result stands in a prompt. So the search makes an empty list, and the call of a model that gets the
search's question uses this list. Only the newest question of the call counts, because a conversation repeats earlier
ones.

A search without a question, such as a look at all notes of a user, is followed by time: the next call of a model in the
session uses its empty list. If a unit is stored before that call, the look was part of the storing.
"""

from __future__ import annotations

from memtrace.identity import Variable
from memtrace.raw_events import RawEvent
from memtrace.recent import Recent
from memtrace.record import declare
from memtrace.steps import Step, TraceState

NOTHING = "[]"
ROLE = "found nothing"
MAX_QUESTIONS = 2_000
MAX_SEARCHES = 16
"""Number of kept empty searches for one question."""

_KEPT = "empty searches"
"""The name of the empty results in the notes of a trace."""

_LISTED = "empty listings"
"""The name of the empty results without a question in the notes of a trace."""

_QUESTIONS = frozenset({"Query", "RefinedQuery"})

_Searches = Recent[str, tuple[int, list[Variable]]]
"""For each question that was searched for, its place in the order of variables, and the empty results."""


def found_nothing(step: Step) -> None:
    """Record the empty result of a retrieval without outputs, before its end."""
    events: list[RawEvent] = []
    made = declare(events, step, NOTHING, ROLE, "RetrievalResult", step=step)
    step.pending += events
    remember(step, [made])


def remember(step: Step, empty: list[Variable]) -> None:
    """Note the empty results of a search, if any, for the calls that get its question, or that come next."""
    if not any(asked.kind in _QUESTIONS for asked in step.inputs):
        if empty:
            listed: dict[str, list[Variable]] = step.trace.notes.setdefault(_LISTED, {})
            listed[step.session or ""] = [*listed.get(step.session or "", []), *empty][-MAX_SEARCHES:]
        return
    kept = _kept(step.trace)
    for asked in step.inputs:
        if asked.kind != "Query":
            continue
        before = kept.get(asked.id)
        results = [*([] if before is None else before[1]), *empty][-MAX_SEARCHES:]
        kept.set(asked.id, (asked.order, results))


def stored(step: Step) -> None:
    """Forget the empty looks of the session if an update stored a unit after them."""
    listed = step.trace.notes.get(_LISTED)
    if listed and step.maker[1] == "Update" and any(made.kind == "MemoryUnit" for made, _, _ in step.outputs):
        listed.pop(step.session or "", None)


def use(step: Step, events: list[RawEvent]) -> None:
    """Let a call of a model use the empty results of the newest question that it got, and of listings just before."""
    listed: dict[str, list[Variable]] = step.trace.notes.get(_LISTED, {})
    found = listed.pop(step.session or "", [])
    if step.asked and _KEPT in step.trace.notes:
        kept = _kept(step.trace)
        asked = [of_one for question in step.asked if (of_one := kept.get(question)) is not None]
        found = [*max(asked, key=lambda one: one[0], default=(0, []))[1], *found]
    for empty in found:
        if not step.has_input(empty):
            step.use(events, empty, ROLE)


def _kept(trace: TraceState) -> _Searches:
    kept = trace.notes.get(_KEPT)
    if kept is None:
        kept = trace.notes.setdefault(_KEPT, Recent(MAX_QUESTIONS))
    return kept  # type: ignore[no-any-return]
