"""One run of an operation, and the chunks of a run that is a stream."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections import deque
from contextvars import Token
from typing import Any, TypeVar

from memtrace import empty_searches
from memtrace.context import scope
from memtrace.equal_texts import mark, recognised, unit
from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.kinds import OperationKind, VariableKind
from memtrace.mistakes import MistakeError, meant
from memtrace.observe import consider, give, give_one
from memtrace.raw_events import RawEvent
from memtrace.steps import Scope, Step, TraceState
from memtrace.unconnected import searched, silent
from memtrace.values import CONTAINERS

T = TypeVar("T")

_OPERATION_KINDS = {str(kind): str(kind) for kind in OperationKind}
_VARIABLE_KINDS = {str(kind): str(kind) for kind in VariableKind}
MAX_RETRIEVALS = 4
"""The results of so many retrievals are looked for in prompts."""
_RETRIEVED = "retrieved"
MAX_KEPT_CHARACTERS = 8_000_000
"""Further chunks of a stream are passed on to the application, but not kept."""

CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError, GeneratorExit, KeyboardInterrupt)


def operation_kind(kind: str) -> str:
    """The operation kind that a word means; an unknown word is reported, and counts as ``Other``."""
    return _OPERATION_KINDS.get(kind) or _meant("operation", kind, OperationKind)


def variable_kind(kind: str) -> str:
    """The variable kind that a word means; an unknown word is reported, and counts as ``Other``."""
    return _VARIABLE_KINDS.get(kind) or _meant("variable", kind, VariableKind)


def _meant(what: str, kind: str, kinds: type[OperationKind | VariableKind]) -> str:
    try:
        return meant(f"kind of {what}", kind, kinds, " and counts as 'Other'")
    except MistakeError as mistake:
        report(f"a kind of {what}", mistake)
        return "Other"


class Plan:
    """What is known about an operation before it runs."""

    maker: tuple[str, str]
    """The name and the kind of the operation."""
    records_output: bool
    output_kind: str | None
    output_name: str
    is_each: bool
    """Whether each element of the result is a variable."""
    is_told: bool = False
    """Whether a text of several words among its arguments is a message, though no argument is called so."""


class Call(Step):
    """One run of the operation that ``plan`` describes."""

    __slots__ = ("plan",)

    def __init__(self, plan: Plan, here: Scope) -> None:
        Step.__init__(self, here, plan.maker)
        self.plan = plan

    def done(self, result: T) -> T:
        """Record the result and a normal end; returns what the application gets."""
        plan = self.plan
        if plan.records_output:
            try:
                name, kind = plan.output_name, plan.output_kind
                if type(result) is str:
                    result = give_one(self.pending, self, self, result, name=name, kind=kind)
                else:
                    is_each = plan.is_each
                    result = give(self.pending, self, self, result, name=name, kind=kind, is_each=is_each)
            except Exception as error:
                report("output of an operation", error)
        try:
            self.end("ok")
        except Exception as error:
            report("end of an operation", error)
        return result

    def fail(self, error: BaseException) -> None:
        """Record an end with an error, or a cancellation."""
        try:
            is_cancelled = isinstance(error, CANCELLED)
            self.end("cancelled" if is_cancelled else "error", None if is_cancelled else error)
        except Exception as wrong:
            report("end of an operation", wrong)

    def conclude(self, error: BaseException | None) -> None:
        """Record the end; the outputs are recorded already. ``error`` is None after a normal end."""
        if error is not None:
            self.fail(error)
            return
        try:
            self.end("ok")
        except Exception as wrong:
            report("end of an operation", wrong)

    def end(self, status: str, error: BaseException | None = None) -> None:
        """Record the remaining events, and the end."""
        empty_searches.stored(self)
        self.finish(status, error)

    def heard(self, events: list[RawEvent]) -> None:
        """Look at events that were written before the end."""

    def recognise(self, value: object) -> None:
        """Look at a value that is going to be an output."""


class Search(Call):
    """One run of a retrieval."""

    __slots__ = ("inferred", "is_empty", "nothing")

    def __init__(self, plan: Plan, here: Scope) -> None:
        Call.__init__(self, plan, here)
        self.nothing: set[str] = set()
        """Ids of empty results."""
        self.inferred: dict[int, dict[str, Any]] = {}
        """Attributes of results that were recognised by their text, by the ``id`` of the object."""
        self.is_empty = False
        """Whether the function returned nothing, or a list with nothing inside."""

    def done(self, result: T) -> T:
        """Recognise units in the result, then record it."""
        self.recognise(result)
        self.is_empty = self.plan.records_output and _is_nothing(result)
        return Call.done(self, result)

    def recognise(self, value: object) -> None:
        """Recognise units by their text in a value that is going to be an output: each becomes a read of the unit."""
        try:
            for item, known in list(recognised(self, value)):
                self.inferred[id(item)] = mark(known)
                self.trace.identities.bind(item, unit(known))
        except Exception as error:
            report("recognition of units", error)

    def end(self, status: str, error: BaseException | None = None) -> None:
        """Record the candidates, then the end."""
        try:
            if self.candidates:
                consider(self.pending, self)
            self.heard(self.pending)
            if status == "ok":
                if self.is_empty and not self.outputs:
                    empty_searches.found_nothing(self)
                else:
                    empty = [made for made, _, _ in self.outputs if made.id in self.nothing]
                    empty_searches.remember(self, empty)
                searched(self, self.nothing)
                retrieved: deque[list[Variable]] = self.trace.notes.setdefault(_RETRIEVED, deque(maxlen=MAX_RETRIEVALS))
                retrieved.append([made for made, _, _ in self.outputs])
        finally:
            self.finish(status, error)

    def heard(self, events: list[RawEvent]) -> None:
        """Note which of the new variables are empty results."""
        self.nothing |= silent(events)


def just_retrieved(trace: TraceState) -> list[Variable]:
    """What the newest retrievals of a trace returned: a program writes their texts into a prompt."""
    return [made for outputs in trace.notes.get(_RETRIEVED, ()) for made in outputs]


class Chunks:
    """The chunks that a stream has given so far."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._kept: list[Any] = []
        self._left = MAX_KEPT_CHARACTERS
        self._token: Token[Scope | None] | None = None

    def __enter__(self) -> None:
        self._token = scope.set(self._call)

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            scope.reset(self._token)

    def add(self, chunk: Any) -> None:
        """Keep a chunk, as long as there is room."""
        if self._left > 0 and chunk is not None:
            self._kept.append(chunk)
            self._left -= len(chunk) + 1 if issubclass(type(chunk), str | bytes) else 100  # whatever it raises

    def end(self, error: BaseException | None = None) -> None:
        """Record the output, and the end of the operation."""
        call = self._call
        try:
            if self._kept and call.plan.records_output:
                is_text = all(isinstance(chunk, str) for chunk in self._kept)
                whole: Any = "".join(self._kept) if is_text and not call.plan.is_each else self._kept
                call.recognise(whole)
                result = give(
                    call.pending,
                    call,
                    call,
                    whole,
                    name=call.plan.output_name,
                    kind=call.plan.output_kind,
                    is_each=call.plan.is_each,
                )
                identities = call.trace.identities
                if result is not whole and whole is self._kept[0] and (known := identities.find(result)):
                    identities.bind(whole, known[0])  # the consumer has received it already
        except Exception as wrong:
            report("output of a stream", wrong)
        call.conclude(error)


def _is_nothing(result: object) -> bool:
    """Whether a search found nothing: None, or an empty container. An object that breaks counts as something."""
    try:
        return result is None or (isinstance(result, CONTAINERS) and not result)
    except Exception as error:
        report("what a search found", error)
        return False
