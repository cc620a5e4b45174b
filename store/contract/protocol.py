"""The protocols ``Database`` and ``GraphStore``. Both engines give equal results from equal data.

A ``Database`` is a SQLite file or a Neo4j server. A ``GraphStore`` is one project in a database: every read and every
write of traces is bound to a project.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from schema.control import AuditEntry
from schema.errors import NotFoundError
from schema.models import (
    Attribution,
    Batch,
    Derivation,
    Element,
    Failure,
    Invalidation,
    Operation,
    Trace,
    Usage,
    Variable,
)
from store.contract.answers import (
    ALL_FAILURES,
    ALWAYS,
    Activity,
    Direction,
    Edge,
    FailureFilter,
    FailureOrder,
    Health,
    Label,
    OperationDetail,
    Page,
    Period,
    Span,
    Stats,
    Stored,
    VerdictGroup,
    WriteResult,
)
from store.contract.idle import IdleTrace
from store.contract.searches import Searches
from store.contract.verdict_changes import VerdictHistory
from store.contract.walks import Walks
from store.values.packs import PackWriter

if TYPE_CHECKING:
    from store.contract.records import ProjectRecords, Registry


class GraphStore(Walks, Searches, VerdictHistory, Protocol):
    """One project's traces. Methods that need only other methods are implemented here, for both engines."""

    @property
    def project_id(self) -> str:
        """The project of all calls."""
        ...

    async def write(
        self,
        batch: Batch,
        values: PackWriter | None = None,
        stored: Stored | None = None,
        entry: AuditEntry | None = None,
    ) -> WriteResult:
        """Add the new elements of a batch, with the values of its variables.

        Stored elements stay unchanged except for: the attributes of a trace, and its name if it has none; the
        attributes, origin, evidence and gold answers of a failure; all of an attribution. A running operation may end
        (``Batch.endings``), variables may change places (``Batch.placings``), and a variable without a maker may get
        its maker, once (``Batch.completions``). A stored answer may be judged: right by ``Batch.right_answers``, wrong
        by a failure, which wins.

        Args:
            batch: the elements and relationships, all of one trace.
            values: the values that are too long for their variables (``WHOLE_VALUE_BYTES``).
            stored: the result of a recent ``stored`` for the batch, which saves reading again. If two callers write
                one trace at a time, a conflict is still found, but possibly after a part of a large batch is written.
            entry: for the audit log; see ``store.shared.auditing``.

        Raises:
            ConflictError: an id is stored with other content; nothing was written.
        """
        ...

    async def get(self, label: Label, ids: Sequence[str]) -> list[Element]:
        """The elements with these ids, in the order of the ids; unknown ids are left out."""
        ...

    async def resolve(self, reference: str, label: Label | None = None, trace_id: str | None = None) -> Element:
        """The element that a reference means: an id, an id's first 8 or more characters, or an external id.

        A whole id never means an external id that looks alike (``store.shared.resolving``). External ids are looked
        up among recorded variables only (occurrence 0).

        Raises:
            NotFoundError: no element fits, or the element is of another label or trace.
            AmbiguousError: several elements fit.
        """
        ...

    async def traces(self, first: int = 100, after: str | None = None) -> Page[Trace]:
        """A page of traces, by time of creation and id."""
        ...

    async def page(
        self,
        label: Label,
        trace_id: str,
        first: int = 1000,
        after: str | None = None,
        kinds: Collection[str] = (),
        statuses: Collection[str] = (),
        since: int = 0,
        when: Span = ALWAYS,
    ) -> Page[Element]:
        """Sessions, operations, variables or derivations of a trace, in the order of the trace.

        Args:
            label: SESSION, OPERATION, VARIABLE or DERIVATION.
            trace_id: the trace.
            first: the size of the page.
            after: the cursor of the page; None for the first page.
            kinds: only elements of these kinds; empty for all.
            statuses: for operations, only operations with these statuses; empty for all.
            since: the place (``sequence``) at which the first page begins.
            when: for variables, only variables made in this time; for operations, only operations started in it.
        """
        ...

    async def pages(
        self,
        label: Label,
        trace_ids: Sequence[str],
        first: int = 100,
        after: str | None = None,
        kinds: Collection[str] = (),
        statuses: Collection[str] = (),
        since: int = 0,
        when: Span = ALWAYS,
    ) -> dict[str, Page[Element]]:
        """A page of each trace (see ``page``), by trace id; also pages of failures. Unknown traces are left out."""
        ...

    async def failures(
        self,
        trace_id: str | None = None,
        first: int = 100,
        after: str | None = None,
        wanted: FailureFilter = ALL_FAILURES,
        order: FailureOrder | None = None,
    ) -> Page[Failure]:
        """A page of the ``wanted`` failures, of one trace or of all; without an ``order``, by trace and id."""
        ...

    async def count_failures(self, trace_id: str | None = None, wanted: FailureFilter = ALL_FAILURES) -> int:
        """The number of ``wanted`` failures, of one trace or of all."""
        ...

    async def verdict_groups(self, trace_id: str | None = None) -> list[VerdictGroup]:
        """Failures counted by method, error type and blamed operation of their verdicts, the largest number first.

        Verdicts that a newer one replaced don't count.
        """
        ...

    async def attributions(self, failure_ids: Sequence[str]) -> list[Attribution]:
        """All verdicts on these failures, oldest first; the ids may be thousands."""
        ...

    async def operation(self, operation_id: str) -> OperationDetail:
        """An operation with its inputs and outputs.

        Raises:
            NotFoundError: the project has no operation with this id.
        """
        for detail in (await self.operations([operation_id])).values():
            return detail
        raise NotFoundError(operation_id, Label.OPERATION)

    async def operations(self, operation_ids: Sequence[str]) -> dict[str, OperationDetail]:
        """Several operations with their inputs and outputs, by id; unknown ids are left out."""
        ...

    async def derivations_of(
        self, variable_ids: Sequence[str], direction: Direction = Direction.BACKWARD, first: int = 100
    ) -> dict[str, list[Derivation]]:
        """At most ``first`` derivations of each variable, by the variable's id, in the order of the trace.

        Backward: derivations with the variable as target. Forward: derivations with the variable as source.
        """
        ...

    async def users_of(self, variable_ids: Sequence[str], first: int = 100) -> dict[str, list[Operation]]:
        """At most ``first`` operations that used each variable, by the variable's id, in the order of the trace.

        The operations include those without an output that is derived from the variable.
        """
        ...

    async def activity(self, trace_id: str, width: int) -> list[Activity]:
        """Operations of a trace counted by kind and status, in stretches of ``width`` places; empty if unknown."""
        ...

    async def edges(self, trace_id: str) -> list[Edge]:
        """All derivations of a trace as edges, in the order of the trace; empty for an unknown trace."""
        ...

    async def usages(self, trace_id: str) -> list[Usage]:
        """All usages of a trace, by the operation's sequence and the position; empty for an unknown trace."""
        ...

    async def invalidations(self, trace_id: str) -> list[Invalidation]:
        """All invalidations of a trace, by sequence of operation and variable; empty for an unknown trace."""
        ...

    async def value(self, variable: Variable) -> bytes:
        """The whole value of a variable, checked against its hash.

        Raises:
            CorruptValueError: the stored value is damaged or gone.
        """
        return (await self.values([variable]))[variable.value_hash]

    async def values(self, variables: Sequence[Variable]) -> dict[str, bytes]:
        """The whole values of many variables, by hash, each checked; all values are in memory at once.

        Raises:
            CorruptValueError: a stored value is damaged or gone.
        """
        ...

    async def stored(self, trace_id: str, ids: Mapping[Label, Sequence[str]]) -> Stored:
        """The stored part of a trace that a writer has to know, in one read: the elements with these ids, by label."""
        ...

    async def known_values(self, trace_id: str) -> set[str]:
        """Hashes of the values of a trace that are stored beside the graph."""
        ...

    async def idle_traces(
        self,
        until: datetime,
        before: datetime | None = None,
        keep: int | None = None,
        first: int = 100,
        after: str | None = None,
    ) -> Page[IdleTrace]:
        """A page of traces that nobody has written to for long, the longest idle first. Times are the store's.

        Args:
            until: leave out traces that were written to since this time.
            before: list traces that were last written to before this time.
            keep: list traces that are not among this many (1 or more) most recently written traces.
            first: the size of the page.
            after: the cursor of the page; None for the first page.
        """
        ...

    async def delete_failure(self, failure_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        """Delete a failure with all verdicts on the failure, in one transaction; returns counts by label.

        The answer becomes unjudged (``Variable.right`` is None), unless another failure has the same answer.

        Args:
            failure_id: the failure.
            entry: for the audit log; see ``store.shared.auditing``.

        Raises:
            NotFoundError: the project has no failure with this id.
        """
        ...

    async def delete_trace(self, trace_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        """Delete a trace with all its elements and values; returns counts by label.

        Args:
            trace_id: the trace.
            entry: for the audit log; see ``store.shared.auditing``.

        Raises:
            NotFoundError: the project has no trace with this id.
        """
        ...

    async def stats(self, trace_id: str | None = None) -> Stats:
        """Counts of the project or of one trace; the sizes are always of the whole database."""
        ...

    async def counts(self, trace_ids: Sequence[str]) -> dict[str, dict[str, int]]:
        """Counts by label, by trace id; unknown traces are left out."""
        ...

    async def timeline(self, since: datetime, until: datetime, seconds: int) -> list[Period]:
        """Counts of new elements between two moments, in stretches of ``seconds``; empty stretches are included.

        Raises:
            InputError: more than 10,000 stretches, or stretches of less than one second.
        """
        ...


class Database(Protocol):
    """A place where traces live."""

    def bound_waits(self, seconds: float) -> None:
        """Have reads fail if a server of the database can't be reached for so many seconds."""
        del seconds  # a file has no server

    def project(self, project_id: str, log: ProjectRecords | None = None) -> GraphStore:
        """The traces of one project.

        Args:
            project_id: the project.
            log: records of the project in another database, if the audit log is stored there; else None.
        """
        ...

    def records(self, project_id: str) -> ProjectRecords:
        """The keys, jobs, audit log and retention policy of one project."""
        ...

    def registry(self) -> Registry:
        """Look-ups before the project is known, such as the owner of a key or the next job."""
        ...

    async def migrate(self) -> list[str]:
        """Bring the layout up to date; returns the names of the migrations that this call applied."""
        ...

    async def has_current_layout(self) -> bool:
        """Whether the layout is neither older nor newer than this program's; quick."""
        ...

    async def check(self) -> None:
        """Check that the database accepts writes, as far as this machine can tell; quick, for frequent probes.

        Raises:
            DiskFullError: the disk with the file, or with the values, is full.
            DamagedError: the file is damaged.
            StoreError: writing is impossible for another reason.
        """
        ...

    async def health(self) -> Health:
        """Engine, version, layout, query plans and free space, with all problems found."""
        ...

    async def close(self) -> None:
        """Close files and connections."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
