"""Imports labels from a file as verdicts of people, and exports people's verdicts as labels."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from attribution.review.annotation.disputes import LABEL_DETAILS, adjudicated
from attribution.review.labels import Blame, Label, NumberedLabel
from attribution.review.people import Judgement, Named, problem_of, verdict_of
from attribution.verdicts.gold import gold_mark_of
from attribution.verdicts.stored import by_id, every_failure
from attribution.verdicts.verdict import from_attribution
from ingest.events.feedback import EntryOf
from ingest.files.smartcomment.leftover import file_of
from schema.errors import InputError
from schema.kinds import HUMAN_METHOD, NOT_THE_MEMORY
from schema.models import Attribution, Batch, Failure, Operation, Trace, Variable
from schema.people import check_person
from store.contract.protocol import GraphStore
from store.contract.verdict_changes import is_adjudicated
from store.shared.paging import elements, every

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A label that was not imported, because the project lacks an element that it names.

    Attributes:
        line: the line number in the file, from 1.
        missing: ``trace``, ``question``, ``prediction`` or ``operation``.
        reason: the missing element, and why.
    """

    line: int
    missing: str
    reason: str


@dataclass(frozen=True, slots=True)
class LabelsImported:
    """The result of an import of labels.

    Attributes:
        imported: the number of labels that are in the project now.
        unchanged: the number of imported labels that were there before.
        unmatched: all other labels.
    """

    imported: int
    unchanged: int
    unmatched: list[Unmatched]


async def import_labels(
    store: GraphStore, labels: Sequence[NumberedLabel], author: str, file: str, entry_of: EntryOf | None = None
) -> LabelsImported:
    """Store labels as verdicts of people. Labels that can't be imported completely are listed.

    A person's verdict on a failure replaces the person's earlier verdict. Equal stored verdicts are not written again.

    Args:
        store: holds the failures.
        labels: of any number of traces.
        author: of labels without an author.
        file: name of the file in messages.
        entry_of: makes the entry of the audit log for a trace's id.

    Raises:
        InputError: an author's name is invalid, or a person has two labels of a failure; nothing was written.
    """
    graphs = _Graphs(store, await _traces(store))
    found: dict[tuple[str, str | None], tuple[int, Attribution]] = {}
    unmatched: list[Unmatched] = []
    for one in labels:
        by = author if one.label.author is None else one.label.author
        try:
            check_person(by, "verdict", "author")
        except InputError as error:
            raise InputError(file, f"line {one.number}", error.problem) from error
        match = await graphs.match(one)
        if isinstance(match, Unmatched):
            unmatched.append(match)
            continue
        verdict = verdict_of(match.failure, _judgement(one.label, match), by)
        if one.label.is_final:
            verdict = adjudicated(verdict, one.label.more)
        whose = None if one.label.is_final else by
        other, _ = found.setdefault((match.failure.id, whose), (one.number, verdict))
        if other != one.number:
            said = (
                "is the final word on the same failure too"
                if whose is None
                else f"is about the same failure, by {by!r} too"
            )
            raise InputError(file, f"line {one.number}", f"line {other} {said}")
    new = await _new(store, [verdict for _, verdict in found.values()])
    by_trace: dict[str, list[Attribution]] = defaultdict(list)
    for verdict in new:
        by_trace[verdict.trace_id].append(verdict)
    for trace_id, verdicts in by_trace.items():
        entry = entry_of(trace_id) if entry_of else None
        await store.write(Batch(graphs.traces[trace_id], attributions=verdicts), entry=entry)
    return LabelsImported(len(found), len(found) - len(new), unmatched)


def check_own(labels: Iterable[NumberedLabel], person: str, file: str) -> None:
    """Refuse labels by other people than ``person``, and final words.

    Raises:
        InputError: with the line number of the first such label.
    """
    for one in labels:
        if one.label.author not in {None, person}:
            problem = f"is by {one.label.author!r}: only admins import what other people say"
            raise InputError(file, f"line {one.number}", problem)
        if one.label.is_final:
            raise InputError(file, f"line {one.number}", "is a final word: only admins import these")


async def export_labels(store: GraphStore, failure_ids: Sequence[str] | None = None) -> list[Label]:
    """People's verdicts on failures as labels, by trace, question and author; ``primary`` is None for abstentions.

    Of each person's verdicts on a failure the newest is exported. The final word on a disputed failure comes before the
    annotators' verdicts.

    Args:
        store: holds the failures.
        failure_ids: to export; None for all of the project.
    """
    traces = {trace.id: trace for trace in await _traces(store)}
    called = Counter(name for trace in traces.values() for name in _names(trace))
    if failure_ids is None:
        failures = {failure.id: failure for failure in await every_failure(store, None)}
    else:
        failures = await by_id(store, Failure, failure_ids)
    given = _newest(await store.attributions(list(failures)))
    judged = [failures[one.failure_id] for one in given]
    names = await by_id(store, Variable, (id_ for one in judged for id_ in (one.question_id, one.answer_id)))
    operations = await by_id(store, Operation, (id_ for one in given for _, id_ in _said(one)))
    labels = []
    for verdict, failure in zip(given, judged, strict=True):
        trace = traces[failure.trace_id]
        file = file_of(trace.attributes)
        answer = names.get(failure.answer_id or "")
        blamed = [
            Blame(type=error_type, op=operations[id_].external_id if id_ and error_type not in NOT_THE_MEMORY else None)
            for error_type, id_ in _said(verdict)
        ]
        labels.append(
            Label(
                trace=file if file is not None and called[file] == 1 else trace.external_id,
                query_id=names[failure.question_id].external_id,
                prediction_id=answer.external_id if answer else None,
                primary=None if verdict.error_type is None else blamed.pop(0),
                also=tuple(blamed),
                sure=verdict.confidence,
                why=verdict.reason,
                author=verdict.author,
                **msgspec.json.decode(verdict.attributes).get(LABEL_DETAILS, {}),
            )
        )
    return sorted(
        labels,
        key=lambda one: (one.trace or "", one.query_id, one.prediction_id or "", not one.is_final, one.author or ""),
    )


_AT_A_TIME = 500
"""How many labels are compared with a trace before others get a turn."""


@dataclass(frozen=True, slots=True)
class _Match:
    failure: Failure
    primary: Named | None
    also: tuple[Named, ...]


@dataclass(slots=True)
class _Graph:
    """The elements of a trace that labels may name, by external id."""

    trace: Trace
    failures: dict[str, list[tuple[str | None, Failure]]] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)

    def match(self, number: int, label: Label) -> _Match | Unmatched:
        name = self.trace.name or self.trace.external_id
        asked = self.failures.get(label.query_id)
        if not asked:
            return Unmatched(
                number,
                "failure",
                f"no failure of trace {name!r} asks {label.query_id!r}; memtrace fail ANSWER makes one",
            )
        answered = [one for said, one in asked if label.prediction_id in {None, said}]
        if len(answered) != 1:
            said = "the answer" if label.prediction_id is None else repr(label.prediction_id)
            many = f"{len(answered)} failures answer" if answered else "no failure answers"
            return Unmatched(number, "prediction", f"{many} {label.query_id!r} of trace {name!r} with {said}")
        named: list[Named] = []
        for one in (*([label.primary] if label.primary else []), *label.also):
            operation = None if one.op is None else self.operations.get(one.op)
            if one.op is not None and operation is None:
                return Unmatched(number, "operation", f"trace {name!r} has no operation {one.op!r}")
            problem = problem_of(one.type, operation)
            if problem is not None:
                return Unmatched(number, "operation", problem)
            named.append((one.type, operation.id if operation else None))
        return _Match(answered[0], named.pop(0) if label.primary else None, tuple(named))


class _Graphs:
    """The traces of a project; each is read when a label may be about it."""

    def __init__(self, store: GraphStore, traces: Sequence[Trace]) -> None:
        self.traces = {trace.id: trace for trace in traces}
        self._store = store
        self._read: dict[str, _Graph] = {}
        self._compared = 0
        self._called: dict[str, list[Trace]] = defaultdict(list)
        for trace in traces:
            for name in _names(trace):
                self._called[name].append(trace)
        # A trace without a file name, such as one sent by a recorder, is recognised by its elements.
        self._unnamed = [trace for trace in traces if file_of(trace.attributes) is None]

    async def match(self, one: NumberedLabel) -> _Match | Unmatched:
        """Match a label with the only trace that has all named elements."""
        called = None if one.label.trace is None else self._called.get(one.label.trace)
        meant = called or (self._unnamed if one.label.trace is not None else list(self.traces.values()))
        found: list[_Match | Unmatched] = []
        for trace in meant:
            found.append((await self._graph(trace)).match(one.number, one.label))
            self._compared += 1
            if self._compared % _AT_A_TIME == 0:
                await asyncio.sleep(0)  # a file may have thousands of labels, and a project thousands of traces
        matches = [match for match in found if isinstance(match, _Match)]
        if len(matches) == 1:
            return matches[0]
        if called and len(found) == 1:
            return found[0]
        if matches:
            ids = ", ".join(self.traces[match.failure.trace_id].external_id for match in matches[:5])
            reason = f"it may be about several traces: {ids}; name one of them"
        elif one.label.trace is None:
            reason = "no trace has the question, the answer and the operations that it names"
        elif called:
            reason = f"none of {len(called)} traces called {one.label.trace!r} has all that it names"
        else:
            reason = f"no trace is called {one.label.trace!r}, by its file, name, id or external id"
        return Unmatched(one.number, "trace", reason)

    async def _graph(self, trace: Trace) -> _Graph:
        graph = self._read.get(trace.id)
        if graph is None:
            graph = self._read[trace.id] = _Graph(trace)
            failures = await every_failure(self._store, trace.id)
            ids = (id_ for one in failures for id_ in (one.question_id, one.answer_id))
            named = await by_id(self._store, Variable, ids)
            for one in failures:
                answer = named.get(one.answer_id or "")
                said = answer.external_id if answer else None
                graph.failures.setdefault(named[one.question_id].external_id, []).append((said, one))
            if failures:
                found = await elements(self._store, Operation, trace.id)
                graph.operations = {operation.external_id: operation for operation in found}
        return graph


async def _new(store: GraphStore, verdicts: Sequence[Attribution]) -> list[Attribution]:
    """The verdicts that differ from their author's stored verdict, with the stored id."""
    stored = await store.attributions([one.failure_id for one in verdicts])
    before = {(one.failure_id, _whose(one)): one for one in _newest(stored)}
    found = []
    for verdict in verdicts:
        known = before.get((verdict.failure_id, _whose(verdict)))
        if known is None:
            found.append(verdict)
            continue
        # Labels have no evidence.
        same = replace(verdict, id=known.id, created_at=known.created_at, evidence=known.evidence)
        if mark := gold_mark_of(known):
            # Labels don't say on which gold answers they are based.
            attributes = msgspec.json.decode(same.attributes) | mark
            same = replace(same, attributes=msgspec.json.encode(attributes).decode())
        if verdict.error_type in NOT_THE_MEMORY:
            # An annotation in a graph file may name the judge's operation; labels don't.
            same = replace(same, operation_id=known.operation_id)
        if same != known:
            found.append(replace(verdict, id=known.id))
    return found


def _newest(verdicts: Iterable[Attribution]) -> list[Attribution]:
    """The newest verdict of each person on each failure; ``verdicts`` are oldest first."""
    people = [one for one in verdicts if one.method == HUMAN_METHOD]
    return list({(one.failure_id, _whose(one)): one for one in people}.values())


def _whose(verdict: Attribution) -> str | None:
    """The verdict's author; None for a final word, because a failure has only one final word."""
    return None if is_adjudicated(verdict) else verdict.author or ""


def _judgement(label: Label, match: _Match) -> Judgement:
    details: dict[str, Any] = {LABEL_DETAILS: label.more} if label.more else {}
    error_type, operation = match.primary or (None, None)
    return Judgement(match.failure.id, error_type, operation, label.why, label.sure, match.also, details=details)


def _said(verdict: Attribution) -> list[Named]:
    """A person's verdict unless it is an abstention, then the other verdicts that the person accepts."""
    said = [] if verdict.error_type is None else [(verdict.error_type, verdict.operation_id)]
    return said + [(one.error_type, one.operation_id) for one in from_attribution(verdict).candidates]


async def _traces(store: GraphStore) -> list[Trace]:
    return [trace async for trace in every(lambda after: store.traces(_PAGE, after))]


def _names(trace: Trace) -> set[str]:
    """All names and ids of a trace that a label may use."""
    return {name for name in (trace.id, trace.external_id, trace.name, file_of(trace.attributes)) if name is not None}
