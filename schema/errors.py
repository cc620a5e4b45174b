"""The errors that callers are expected to meet, each with what is wrong and where."""

from __future__ import annotations


class MemTraceError(Exception):
    """Base of the expected errors."""


class InputError(MemTraceError):
    """Input that can't be taken.

    Attributes:
        source: the file or stream.
        place: the place inside it, such as ``data.edges[17]``; empty where the whole is meant.
        problem: what is wrong.
    """

    def __init__(self, source: str, place: str, problem: str) -> None:
        self.source = source
        self.place = place
        self.problem = problem
        super().__init__(": ".join(part for part in (source, place, problem) if part))


class ConflictError(MemTraceError):
    """An id is stored already, with other content.

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


class AmbiguousError(MemTraceError):
    """Several things have the id, or start with the prefix.

    Attributes:
        candidates: ids of some of them.
    """

    def __init__(self, reference: str, candidates: list[str]) -> None:
        self.reference = reference
        self.candidates = candidates
        listed = ", ".join(candidates)
        super().__init__(f"{_shown(reference)} is ambiguous: {listed}; name the trace or give the whole id")


class StoreError(MemTraceError):
    """The store can't be reached or used."""


class QueueFullError(StoreError):
    """Events wait for the graph, and there is no room for more."""

    def __init__(self) -> None:
        super().__init__("the queue of events is full: send them again later")


class CorruptValueError(StoreError):
    """A stored value doesn't match its hash."""

    def __init__(self, value_hash: str) -> None:
        self.value_hash = value_hash
        super().__init__(f"the stored value {value_hash} is damaged: its bytes do not match its hash")


def _shown(reference: str) -> str:
    """A reference as messages show it: it may be of any length."""
    return repr(reference if len(reference) <= 200 else reference[:200] + "…")
