"""The errors that callers have to expect; each message says what is wrong and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class MemTraceError(Exception):
    """Base of the expected errors. A child process can pickle an expected error and raise it in the parent."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self.args, self.__dict__)


def _unpickled(kind: type[MemTraceError], args: tuple[Any, ...], said: dict[str, Any]) -> MemTraceError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(said)
    return error


class InputError(MemTraceError):
    """Input that is refused.

    Attributes:
        source: name of the input, such as a file, a stream or ``queue``.
        place: the place within the source, such as ``data.edges[17]``; empty for the whole source.
        problem: what is wrong.
    """

    def __init__(self, source: str, place: str, problem: str) -> None:
        self.source = source
        self.place = place
        self.problem = problem
        super().__init__(": ".join(part for part in (source, place, problem) if part))


class ConflictError(MemTraceError):
    """An element with this id is already stored with other content.

    Attributes:
        label: Trace, Session, Operation, Variable, Derivation, Failure or Attribution.
        external_id: the id in the source.
        field: the first property that differs.
    """

    def __init__(self, label: str, external_id: str, field: str) -> None:
        self.label = label
        self.external_id = external_id
        self.field = field
        super().__init__(f"{label} {external_id!r} is stored already with another {field}")


class NotFoundError(MemTraceError):
    """Nothing in this project has the id."""

    def __init__(self, reference: str, label: str = "") -> None:
        self.reference = reference
        what = f"{label.lower()} " if label else ""
        super().__init__(f"no {what}{_shown(reference)} in this project")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An element that a reference may mean.

    Attributes:
        label: Trace, Session, Operation, Variable, Derivation, Failure or Attribution.
        name: the name in the source; empty if the element has none.
        trace_id: the element's trace; a trace's own id.
    """

    id: str
    label: str
    name: str
    trace_id: str

    def __str__(self) -> str:
        named = f" {_shown(self.name, 60)}" if self.name else ""
        place = "" if self.trace_id == self.id else f" of trace {self.trace_id}"
        return f"{self.id} ({self.label.lower()}{named}{place})"


class AmbiguousError(MemTraceError):
    """A reference fits several elements, as an external id or as the beginning of an id.

    Attributes:
        candidates: ids of some of these elements.
        described: the same elements with labels, names and traces; empty if unknown.
    """

    def __init__(
        self,
        reference: str,
        candidates: list[str],
        described: Sequence[Candidate] = (),
        way_out: str = "name the trace or give the whole id",
    ) -> None:
        self.reference = reference
        self.candidates = candidates
        self.described = list(described)
        listed = ", ".join(map(str, described or candidates))
        super().__init__(f"{_shown(reference)} is ambiguous: {listed}; {way_out}")


class StoreError(MemTraceError):
    """The store can't be reached or used."""


class DiskFullError(StoreError):
    """The store's disk is full."""


class DamagedError(StoreError):
    """The store's file is damaged and has to be restored from a copy."""


class QueueFullError(StoreError):
    """Too many events are waiting in the queue."""

    def __init__(self) -> None:
        super().__init__("the queue of events is full: send them again later")


class CorruptValueError(StoreError):
    """A stored value doesn't match its hash."""

    def __init__(self, value_hash: str) -> None:
        self.value_hash = value_hash
        super().__init__(f"the stored value {value_hash} is damaged: its bytes do not match its hash")


def _shown(text: str, most: int = 200) -> str:
    """A reference or a name for a message, cut where it is long."""
    return repr(text if len(text) <= most else text[:most] + "…")
