"""Blind annotation: hides verdicts on a case from the annotator until the annotator has judged the case.

``blind_store`` and ``blind_records`` wrap a project's store and records for one person, below all interfaces. Reads
through the wrappers, by GraphQL, HTTP, a job or a report, lack the verdicts of methods and of other people on the cases
that ``Annotations.withheld`` names. The wrappers pass on only the methods that are listed here, so a new method tells
no verdict before somebody has thought about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

import msgspec

from schema.annotation import AnnotationQueue, VerdictChange
from schema.control import AuditEntry, Job, JobKind, JobState
from schema.errors import NotFoundError
from schema.models import Attribution, Batch, Element, Failure, Operation
from store.contract.annotations import Annotations
from store.contract.answers import (
    ALL_FAILURES,
    FailureFilter,
    FailureOrder,
    Label,
    Page,
    Period,
    Stats,
    Stored,
    VerdictGroup,
    WriteResult,
    in_order_of_size,
)
from store.contract.protocol import GraphStore
from store.contract.records import ProjectRecords
from store.contract.verdict_changes import is_adjudicated, is_human, read_said
from store.values.packs import PackWriter

T = TypeVar("T")

_LABELS = "annotations"
"""The attribute of a failure with the data set's own labels of the error."""

WITHHELD = "this is withheld: it speaks of verdicts on cases that you are still to annotate"

STORE_PASSES = frozenset(
    {
        "project_id",
        "traces",
        "operation",
        "operations",
        "activity",
        "derivations_of",
        "users_of",
        "edges",
        "usages",
        "invalidations",
        "named",
        "search",
        "scan",
        "closure",
        "closures",
        "paths",
        "path",
        "versions",
        "versions_of",
        "value",
        "values",
        "known_values",
        "stored",
        "idle_traces",
        "delete_attributions",
        "delete_failure",
        "delete_trace",
        "undo_verdict",
    }
)
"""Methods that return nothing about verdicts."""

RECORDS_PASS = frozenset(
    {
        "project_id",
        "add_key",
        "keys",
        "revoke_key",
        "log",
        "settle",
        "retention",
        "set_retention",
        "clear_retention",
        "add_queue",
        "queue_page",
        "annotation_queue",
        "close_queue",
        "delete_queue",
        "clock",
        "assignments",
        "assign",
        "to_judge",
        "withheld",
    }
)
"""Methods that return nothing about verdicts."""


def blind_store(store: GraphStore, queues: Annotations, person: str) -> GraphStore:
    """A project's traces without the verdicts that are hidden from a person."""
    return cast("GraphStore", _BlindStore(store, queues, person))


def blind_records(records: ProjectRecords, store: GraphStore, person: str) -> ProjectRecords:
    """A project's records without what tells verdicts that are hidden from a person.

    Hidden are results of jobs, and the audit log's entries of other people's verdicts.

    Args:
        records: the records.
        store: the project's traces, with all verdicts.
        person: the author of the person's verdicts.
    """
    return cast("ProjectRecords", _BlindRecords(records, store, person))


class _BlindStore:
    def __init__(self, store: GraphStore, queues: Annotations, person: str) -> None:
        self._store = store
        self._queues = queues
        self._person = person

    def __getattr__(self, name: str) -> Any:
        if name not in STORE_PASSES:
            raise AttributeError(f"{name} is not among what annotators may ask of a store")
        return getattr(self._store, name)

    async def withheld(self, failure_ids: Sequence[str]) -> frozenset[str]:
        return (await self._hidden()) & frozenset(failure_ids)

    async def withheld_by(self, failure_ids: Sequence[str]) -> dict[str, list[AnnotationQueue]]:
        waiting = await self._queues.to_judge(self._person)
        return {id_: [one.queue for one in waiting if id_ in one.failure_ids] for id_ in failure_ids}

    async def write(
        self,
        batch: Batch,
        values: PackWriter | None = None,
        stored: Stored | None = None,
        entry: AuditEntry | None = None,
    ) -> WriteResult:
        """Write a batch; hidden labels of a failure are kept when the person writes the failure without them."""
        hidden = await self._hidden() if batch.failures else frozenset()
        ids = [one.id for one in batch.failures if one.id in hidden]
        known = {one.id: one for one in await self._store.get(Label.FAILURE, ids)} if ids else {}
        failures = [_with_labels(one, known.get(one.id)) for one in batch.failures]
        return await self._store.write(replace(batch, failures=failures), values, stored, entry)

    async def get(self, label: Label, ids: Sequence[str]) -> list[Element]:
        found = await self._store.get(label, ids)
        return await self._shown(found) if label in {Label.ATTRIBUTION, Label.FAILURE} else found

    async def resolve(self, reference: str, label: Label | None = None, trace_id: str | None = None) -> Element:
        found = await self._store.resolve(reference, label, trace_id)
        for shown in await self._shown([found]):
            return shown
        raise NotFoundError(reference, label.value if label else "")

    async def page(self, label: Label, trace_id: str, *args: Any, **kwargs: Any) -> Page[Element]:
        page = await self._store.page(label, trace_id, *args, **kwargs)
        return Page(await self._shown(page.items), page.next) if label is Label.FAILURE else page

    async def pages(
        self, label: Label, trace_ids: Sequence[str], *args: Any, **kwargs: Any
    ) -> dict[str, Page[Element]]:
        pages = await self._store.pages(label, trace_ids, *args, **kwargs)
        if label is not Label.FAILURE:
            return pages
        return {id_: Page(await self._shown(page.items), page.next) for id_, page in pages.items()}

    async def failures(
        self,
        trace_id: str | None = None,
        first: int = 100,
        after: str | None = None,
        wanted: FailureFilter = ALL_FAILURES,
        order: FailureOrder | None = None,
    ) -> Page[Failure]:
        if wanted.asks_verdicts or wanted.labelled is not None or (order is not None and order.by.is_of_verdicts):
            # A hit for a filter by verdicts, and a place in an order by verdicts, would tell a hidden verdict. So would
            # a page with one item less, or a cursor with the failure's id.
            wanted = replace(wanted, without=wanted.without | await self._hidden())
        page = await self._store.failures(trace_id, first, after, wanted, order)
        return Page(await self._shown(page.items), page.next)

    async def count_failures(self, trace_id: str | None = None, wanted: FailureFilter = ALL_FAILURES) -> int:
        if wanted.asks_verdicts or wanted.labelled is not None:
            wanted = replace(wanted, without=wanted.without | await self._hidden())
        return await self._store.count_failures(trace_id, wanted)

    async def verdict_groups(self, trace_id: str | None = None) -> list[VerdictGroup]:
        groups = await self._store.verdict_groups(trace_id)
        unseen = [one for one in await self._unseen() if trace_id in {None, one.trace_id}]
        blamed = sorted({one.operation_id for one in unseen if one.operation_id is not None})
        named = {
            one.id: one.name or one.category or one.kind
            for one in (await self._store.get(Label.OPERATION, blamed) if blamed else [])
            if isinstance(one, Operation)
        }
        # A failure counts once in a group, also if several verdicts of a method are alike.
        told = {(one.failure_id, one.method, one.error_type, named.get(one.operation_id or "")) for one in unseen}
        less: Counter[tuple[str, str | None, str | None]] = Counter(one[1:] for one in told)
        left = [replace(one, failures=one.failures - less[one.method, one.error_type, one.operation]) for one in groups]
        return in_order_of_size(one for one in left if one.failures > 0)

    async def attributions(self, failure_ids: Sequence[str]) -> list[Attribution]:
        return await self._shown(await self._store.attributions(failure_ids))

    async def verdict_changes(self, failure_ids: Sequence[str]) -> list[VerdictChange]:
        found = await self._store.verdict_changes(failure_ids)
        hidden = await self._hidden() if found else frozenset()
        own = {one.attribution_id for one in found if one.said is not None and self._is_own(read_said(one.said))}
        return [one for one in found if one.failure_id not in hidden or one.attribution_id in own]

    async def stats(self, trace_id: str | None = None) -> Stats:
        found = await self._store.stats(trace_id)
        less = sum(trace_id in {None, one.trace_id} for one in await self._unseen())
        labels = found.labels | {Label.ATTRIBUTION.value: found.labels.get(Label.ATTRIBUTION.value, 0) - less}
        return replace(found, labels=labels)

    async def counts(self, trace_ids: Sequence[str]) -> dict[str, dict[str, int]]:
        found = await self._store.counts(trace_ids)
        less = Counter(one.trace_id for one in await self._unseen())
        name = Label.ATTRIBUTION.value
        return {id_: one | ({name: one.get(name, 0) - less[id_]} if less[id_] else {}) for id_, one in found.items()}

    async def timeline(self, since: datetime, until: datetime, seconds: int) -> list[Period]:
        periods = await self._store.timeline(since, until, seconds)
        less: dict[int, Counter[str]] = {}
        for one in await self._unseen():
            if one.created_at is not None and since <= one.created_at < until:
                number = (one.created_at - since) // timedelta(seconds=seconds)
                less.setdefault(number, Counter())[one.error_type or ""] += 1
        for number, counts in less.items():
            verdicts = Counter(periods[number].verdicts)
            verdicts.subtract(counts)
            periods[number] = replace(periods[number], verdicts={name: n for name, n in verdicts.items() if n > 0})
        return periods

    async def _hidden(self) -> frozenset[str]:
        return await self._queues.withheld(self._person)

    async def _unseen(self) -> list[Attribution]:
        """The hidden verdicts."""
        hidden = await self._hidden()
        found = await self._store.attributions(sorted(hidden)) if hidden else []
        return [one for one in found if not self._is_own(one)]

    async def _shown(self, found: Sequence[T]) -> list[T]:
        """Elements without hidden verdicts, and failures without hidden labels of the data set."""
        hidden = await self._hidden() if found else frozenset()
        if not hidden:
            return list(found)
        kept: list[Any] = []
        for one in found:
            if isinstance(one, Attribution) and one.failure_id in hidden and not self._is_own(one):
                continue
            kept.append(_without_labels(one) if isinstance(one, Failure) and one.id in hidden else one)
        return kept

    def _is_own(self, verdict: Attribution) -> bool:
        return _is_own(verdict, self._person)


def _is_own(verdict: Attribution, person: str) -> bool:
    return is_human(verdict) and verdict.author == person and not is_adjudicated(verdict)


_MOST_PAGES = 20
"""Pages of the audit log that are read to fill one page; after that, a page is shorter than was asked for."""


class _BlindRecords:
    def __init__(self, records: ProjectRecords, store: GraphStore, person: str) -> None:
        self._records = records
        self._store = store
        self._person = person

    def __getattr__(self, name: str) -> Any:
        if name not in RECORDS_PASS:
            raise AttributeError(f"{name} is not among what annotators may ask of records")
        return getattr(self._records, name)

    async def jobs(self, ids: Sequence[str]) -> list[Job]:
        return await self._shown(await self._records.jobs(ids))

    async def job_page(
        self, first: int = 100, after: str | None = None, kind: JobKind | None = None, state: JobState | None = None
    ) -> Page[Job]:
        page = await self._records.job_page(first, after, kind, state)
        return Page(await self._shown(page.items), page.next)

    async def add_job(self, job: Job, entry: AuditEntry | None = None) -> Job:
        (shown,) = await self._shown([await self._records.add_job(job, entry)])
        return shown

    async def cancel_job(self, job_id: str, at: datetime, entry: AuditEntry | None = None) -> Job:
        (shown,) = await self._shown([await self._records.cancel_job(job_id, at, entry)])
        return shown

    async def audit(self, first: int = 100, after: str | None = None) -> Page[AuditEntry]:
        """The audit log without entries that tell who has judged a hidden failure; later entries fill the page."""
        hidden = await self._hidden_verdicts()
        found: list[AuditEntry] = []
        page = await self._records.audit(first, after)
        for _ in range(_MOST_PAGES):
            found += [entry for entry in page.items if entry.target not in hidden]
            if page.next is None or len(found) >= first:
                break
            page = await self._records.audit(first - len(found), page.next)
        return Page(found, page.next)

    async def _hidden_verdicts(self) -> frozenset[str]:
        """The ids of other people's verdicts on hidden failures, also of withdrawn ones."""
        hidden = sorted(await self._records.withheld(self._person))
        if not hidden:
            return frozenset()
        stored = await self._store.attributions(hidden)
        changes = await self._store.verdict_changes(hidden)
        said = [(one.attribution_id, read_said(one.said)) for one in changes if one.said is not None]
        own = {one.id for one in stored if _is_own(one, self._person)}
        own |= {id_ for id_, verdict in said if _is_own(verdict, self._person)}
        return frozenset({one.id for one in stored} | {one.attribution_id for one in changes}) - own

    async def _shown(self, jobs: Sequence[Job]) -> list[Job]:
        if not any(job.result for job in jobs if job.kind is not JobKind.IMPORT):
            return list(jobs)
        hidden = await self._records.withheld(self._person)
        return [replace(job, result=None, error=WITHHELD) if _tells(job, hidden) else job for job in jobs]


@dataclass(frozen=True, slots=True)
class _Arguments:
    failure_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Result:
    withheld: tuple[str, ...] = ()


def _tells(job: Job, hidden: Collection[str]) -> bool:
    """Whether the result of a job may tell verdicts on hidden failures."""
    if not hidden or job.result is None or job.kind is JobKind.IMPORT:
        return False
    named = msgspec.json.decode(job.arguments, type=_Arguments).failure_ids
    if named and set(named).isdisjoint(hidden):
        return False
    if job.kind is JobKind.ATTRIBUTE:
        return True
    # A report made for a person with the same hidden failures does not tell their verdicts.
    return not set(hidden) <= set(msgspec.json.decode(job.result, type=_Result).withheld)


def _without_labels(failure: Failure) -> Failure:
    """A failure without the data set's labels of the error."""
    attributes = msgspec.json.decode(failure.attributes)
    if _LABELS not in attributes:
        return failure
    del attributes[_LABELS]
    return replace(failure, attributes=msgspec.json.encode(attributes).decode())


def _with_labels(failure: Failure, stored: Element | None) -> Failure:
    """A failure to write, with the data set's labels of the stored failure."""
    known = msgspec.json.decode(stored.attributes) if isinstance(stored, Failure) else {}
    attributes = msgspec.json.decode(failure.attributes)
    if _LABELS not in known or _LABELS in attributes:
        return failure
    return replace(failure, attributes=msgspec.json.encode({_LABELS: known[_LABELS], **attributes}).decode())
