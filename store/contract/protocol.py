"""What a store of traces can do. Both engines do all of it, with the same results from the same data.

A ``Database`` is a place: a SQLite file or a Neo4j server. A ``GraphStore`` is one project's part of it: there is no
read and no write that is not bound to a project.
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
    ScanResult,
    SearchHit,
    Stats,
    Stored,
    VerdictGroup,
    WriteResult,
)
from store.contract.idle import IdleTrace
from store.contract.verdict_changes import VerdictHistory
from store.contract.walks import Walks
from store.values.packs import PackWriter

if TYPE_CHECKING:
    from store.contract.records import ProjectRecords, Registry


class GraphStore(Walks, VerdictHistory, Protocol):
    """One project's traces.

    Methods that follow from others are implemented here, once for both engines.
    """

    @property
    def project_id(self) -> str:
        """The project that every call is bound to."""
        ...

    async def write(
        self,
        batch: Batch,
        values: PackWriter | None = None,
        stored: Stored | None = None,
        entry: AuditEntry | None = None,
    ) -> WriteResult:
        """Add what is new of a batch, with the values of its variables.

        What is stored already stays as it is, except for what may change: the attributes of a trace, and its name where
        it has none; the attributes, origin, evidence and gold answers of a failure; all of an attribution. An operation
        that is running may end (``Batch.endings``), variables may change places (``Batch.placings``), and a variable
        that no operation has made may get its maker, once (``Batch.completions``). An answer is judged later than it is
        written: right by ``Batch.right_answers``, wrong by its failure, which wins over that.

        Args:
            batch: elements of one trace, and what joins them.
            values: the values that are too long to be kept whole on their variables.
            stored: what was stored a moment ago of all that the batch contains and refers to, so that it need not be
                read again. If two write one trace at a time, a conflict is still found, but a part of a large batch may
                be written by then.
            entry: for the audit log; see ``store.shared.auditing``.

        Raises:
            ConflictError: an id is stored with other content; nothing was written.
        """
        ...

    async def get(self, label: Label, ids: Sequence[str]) -> list[Element]:
        """The elements with these ids that exist, in the order asked for."""
        ...

    async def resolve(self, reference: str, label: Label | None = None, trace_id: str | None = None) -> Element:
        """The element with an id, a unique prefix of 8 or more characters of one, or an external id (occurrence 0).

        A whole id always means the element with that id, whatever other elements are called
        (``store.shared.resolving``).

        Raises:
            NotFoundError: there is none, or the whole id is of another label or trace.
            AmbiguousError: there are several, such as one with this external id and one whose id begins like it.
        """
        ...

    async def traces(self, first: int = 100, after: str | None = None) -> Page[Trace]:
        """Traces by time of creation and id."""
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
    ) -> Page[Element]:
        """Sessions, operations, variables or derivations of a trace, in the order of the trace.

        Only of some kinds where any are given; of operations, only those that ended so where ``statuses`` are given.
        The first page begins at the place ``since`` of the trace.
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
    ) -> dict[str, Page[Element]]:
        """A page of each of several traces (see ``page``; failures too), by id; unknown traces are left out."""
        ...

    async def failures(
        self,
        trace_id: str | None = None,
        first: int = 100,
        after: str | None = None,
        wanted: FailureFilter = ALL_FAILURES,
        order: FailureOrder | None = None,
    ) -> Page[Failure]:
        """Failures, by trace and id unless in another order; those that are wanted, of one trace or of all."""
        ...

    async def count_failures(self, trace_id: str | None = None, wanted: FailureFilter = ALL_FAILURES) -> int:
        """How many failures are wanted, of one trace or of all."""
        ...

    async def verdict_groups(self, trace_id: str | None = None) -> list[VerdictGroup]:
        """How many failures have a verdict of each method, error type and operation, the largest number first."""
        ...

    async def attributions(self, failure_ids: Sequence[str]) -> list[Attribution]:
        """All verdicts on these failures, which may be thousands, oldest first."""
        ...

    async def operation(self, operation_id: str) -> OperationDetail:
        """An operation with its inputs and outputs.

        Raises:
            NotFoundError: there is no such operation.
        """
        for detail in (await self.operations([operation_id])).values():
            return detail
        raise NotFoundError(operation_id, Label.OPERATION)

    async def operations(self, operation_ids: Sequence[str]) -> dict[str, OperationDetail]:
        """Several operations with their inputs and outputs, by id; those that don't exist are left out."""
        ...

    async def derivations_of(
        self, variable_ids: Sequence[str], direction: Direction = Direction.BACKWARD, first: int = 100
    ) -> dict[str, list[Derivation]]:
        """The derivations of each of several variables, by its id, at most ``first`` of each, in order of the trace.

        Backward: those whose target it is; forward: those whose source it is.
        """
        ...

    async def users_of(self, variable_ids: Sequence[str], first: int = 100) -> dict[str, list[Operation]]:
        """The operations that used each of several variables, by its id, at most ``first``, in order of the trace.

        They are among these also where nothing that they made derives from it.
        """
        ...

    async def activity(self, trace_id: str, width: int) -> list[Activity]:
        """What the operations of a trace did, in stretches of ``width`` places, by kind and end; empty if unknown."""
        ...

    async def edges(self, trace_id: str) -> list[Edge]:
        """All derivations of a trace, in its order, as what they join: all that a walk needs; empty if unknown."""
        ...

    async def usages(self, trace_id: str) -> list[Usage]:
        """All that the operations of a trace used, by the operation's sequence and the position; empty if unknown."""
        ...

    async def invalidations(self, trace_id: str) -> list[Invalidation]:
        """All that the operations of a trace ended, by sequence of operation and variable; empty if it is unknown."""
        ...

    async def named(self, name: str, version: int | None, trace_id: str | None, limit: int) -> list[Variable]:
        """Recorded variables (occurrence 0) with a name that has a word, by trace id and place."""
        ...

    async def search(self, text: str, trace_id: str | None = None, limit: int = 20) -> list[SearchHit]:
        """Recorded variables whose name, comment and preview contain all words of the text (see ``schema.words``)."""
        ...

    async def scan(
        self,
        text: str,
        trace_id: str | None = None,
        limit: int = 20,
        max_bytes: int = 1 << 30,
        seconds: float = 30.0,
    ) -> ScanResult:
        """Recorded variables whose whole value contains the text, in any case; the values are read, within bounds."""
        ...

    async def value(self, variable: Variable) -> bytes:
        """The whole value, checked against its hash.

        Raises:
            CorruptValueError: what is stored is damaged or gone.
        """
        return (await self.values([variable]))[variable.value_hash]

    async def values(self, variables: Sequence[Variable]) -> dict[str, bytes]:
        """The whole values of many variables by hash, each checked; faster than one by one, and all in memory.

        Raises:
            CorruptValueError: one that is stored is damaged or gone.
        """
        ...

    async def stored(self, trace_id: str, ids: Mapping[Label, Sequence[str]]) -> Stored:
        """What is stored of a trace and of the elements with these ids: all that a writer has to know, in one read."""
        ...

    async def known_values(self, trace_id: str) -> set[str]:
        """Hashes of the values that are kept for a trace beside the graph."""
        ...

    async def idle_traces(
        self,
        until: datetime,
        before: datetime | None = None,
        keep: int | None = None,
        first: int = 100,
        after: str | None = None,
    ) -> Page[IdleTrace]:
        """Traces to which nothing has been written for long, the longest first.

        They were last written to before ``before``, or are not among the ``keep`` (1 or more) traces that were written
        to last. A trace that was written to since ``until`` is never among them. The times are those of the store's
        clock.
        """
        ...

    async def delete_failure(self, failure_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        """Delete a failure with all verdicts on it, in one transaction; counts by label.

        Nobody has judged its answer then (``Variable.right`` is None), unless another failure has the same answer.

        Args:
            failure_id: which one.
            entry: for the audit log; see ``store.shared.auditing``.

        Raises:
            NotFoundError: there is no such failure.
        """
        ...

    async def delete_trace(self, trace_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        """Delete a trace with all that belongs to it; counts by label.

        Args:
            trace_id: which one.
            entry: for the audit log; see ``store.shared.auditing``.

        Raises:
            NotFoundError: there is no such trace.
        """
        ...

    async def stats(self, trace_id: str | None = None) -> Stats:
        """Counts of the project or of one trace; sizes are always those of the whole database."""
        ...

    async def counts(self, trace_ids: Sequence[str]) -> dict[str, dict[str, int]]:
        """Counts by label of several traces, by the trace's id; unknown traces are left out."""
        ...

    async def timeline(self, since: datetime, until: datetime, seconds: int) -> list[Period]:
        """What came in between two moments, in stretches of so many seconds, including the empty ones.

        Raises:
            InputError: the stretches would be more than 10,000, or less than one second.
        """
        ...


class Database(Protocol):
    """A place where traces live."""

    def project(self, project_id: str, log: ProjectRecords | None = None) -> GraphStore:
        """The traces of one project.

        Args:
            project_id: which one.
            log: its audit log, if that is in another database than this one.
        """
        ...

    def records(self, project_id: str) -> ProjectRecords:
        """The keys, jobs, audit log and retention of one project."""
        ...

    def registry(self) -> Registry:
        """What is looked up before the project is known: whose key it is, which job is next."""
        ...

    async def migrate(self) -> list[str]:
        """Bring the layout up to date; the names of the migrations that were applied now."""
        ...

    async def has_current_layout(self) -> bool:
        """Whether the layout is the one that this program knows, neither an older nor a newer one; quick."""
        ...

    async def check(self) -> None:
        """Check that it can take more, as far as this machine can tell; quick, and may be asked as often as one likes.

        Raises:
            DiskFullError: the disk with the file, or with the values, is full.
            DamagedError: a part of it is damaged.
            StoreError: it can't be written for another reason.
        """
        ...

    async def health(self) -> Health:
        """Engine, version, layout, plans and space."""
        ...

    async def close(self) -> None:
        """Release what is held open."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
