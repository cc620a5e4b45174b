"""One run of an operation, from its beginning to how it ended."""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import TYPE_CHECKING, Any, TypeVar

from memtrace.compact import RawEvent
from memtrace.connections import searched, silent
from memtrace.context import Scope
from memtrace.faults import report
from memtrace.kinds import OperationKind, VariableKind
from memtrace.likeness import mark, recognised, unit
from memtrace.mistakes import MistakeError, meant
from memtrace.observe import consider, give, give_one
from memtrace.record import Step

if TYPE_CHECKING:
    from memtrace.operations import operation

T = TypeVar("T")

_OPERATION_KINDS = {str(kind): str(kind) for kind in OperationKind}
_VARIABLE_KINDS = {str(kind): str(kind) for kind in VariableKind}
_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError, GeneratorExit, KeyboardInterrupt)


def operation_kind(kind: str) -> str:
    """The kind of the closed list that is meant; another word is told, and counts as ``Other``."""
    return _OPERATION_KINDS.get(kind) or _meant("operation", kind, OperationKind)


def variable_kind(kind: str) -> str:
    """The kind of the closed list that is meant; another word is told, and counts as ``Other``."""
    return _VARIABLE_KINDS.get(kind) or _meant("variable", kind, VariableKind)


def _meant(what: str, kind: str, kinds: type[OperationKind | VariableKind]) -> str:
    try:
        return meant(what, kind, kinds)
    except MistakeError as mistake:
        report(f"a kind of {what}", mistake)
        return "Other"


class Call(Step):
    """One run of an operation, and what was planned for it."""

    __slots__ = ("plan",)

    def __init__(self, plan: operation, here: Scope) -> None:
        Step.__init__(self, here, plan.maker)
        self.plan = plan

    def done(self, result: T) -> T:
        """It came to its end, with this result."""
        try:
            plan = self.plan
            if plan.records_output:
                name, kind = plan.output_name, plan.output_kind
                if type(result) is str:
                    result = give_one(self.pending, self, self, result, name=name, kind=kind)
                else:
                    is_each = plan.is_each
                    result = give(self.pending, self, self, result, name=name, kind=kind, is_each=is_each)
            self.end("ok")
        except Exception as error:
            report("end of an operation", error)
        return result

    def fail(self, error: BaseException) -> None:
        """It ended with an error, or was cancelled."""
        try:
            is_cancelled = isinstance(error, _CANCELLED)
            self.end("cancelled" if is_cancelled else "error", None if is_cancelled else error)
        except Exception as wrong:
            report("end of an operation", wrong)

    def end(self, status: str, error: BaseException | None = None) -> None:
        """Tell what is left to tell, and that it is over."""
        self.finish(status, error)

    def heard(self, events: list[RawEvent]) -> None:
        """These were told of an output before the end."""

    def recognise(self, value: object) -> None:
        """This is going to be an output."""


class Search(Call):
    """One run of a retrieval."""

    __slots__ = ("inferred", "nothing")

    def __init__(self, plan: operation, here: Scope) -> None:
        Call.__init__(self, plan, here)
        self.nothing: set[str] = set()
        """Ids of results that say nothing."""
        self.inferred: dict[int, dict[str, Any]] = {}
        """What is said of results that were recognised by their text, by the identity of the object."""

    def done(self, result: T) -> T:
        """It came to its end, with this result."""
        self.recognise(result)
        return Call.done(self, result)

    def recognise(self, value: object) -> None:
        """This is going to be an output: what in it has the text of a unit is that unit, read."""
        try:
            for item, known in list(recognised(self, value)):
                self.inferred[id(item)] = mark(known)
                self.trace.identities.bind(item, unit(known))
        except Exception as error:
            report("recognition of units", error)

    def end(self, status: str, error: BaseException | None = None) -> None:
        """Tell what it had before it, too."""
        if self.candidates:
            consider(self.pending, self)
        self.heard(self.pending)
        if status == "ok":
            searched(self, self.nothing)
        self.finish(status, error)

    def heard(self, events: list[RawEvent]) -> None:
        """These were told of an output before the end."""
        self.nothing |= silent(events)
