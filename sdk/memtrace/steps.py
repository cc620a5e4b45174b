"""Traces, places in traces, and running operations, which write their events."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from memtrace import sink
from memtrace.identity import NO_QUESTIONS, IdentityMap, KnownUnits, Questions, Variable, joined
from memtrace.ids import new_id
from memtrace.mistakes import MistakeError, shown
from memtrace.raw_events import CONSIDERED, DERIVED, ENDED, INVALIDATED, OF_STORED, STARTED, USED, RawEvent

Entered = tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any], dict[str, Any]]
"""The function to call, its arguments, and attributes of the operation."""


class PackageCall(Protocol):
    """A call inside a package during a replay. The replay may change the texts of the call."""

    @property
    def noted(self) -> dict[str, str]:
        """Attributes of the operation, with the name of the call."""
        ...

    def given(self, texts: Mapping[str, str]) -> dict[str, str]:
        """The texts that a model is given, by role, after the changes."""
        ...

    def reply(self, text: str, adding: Callable[[str, str], str | None] = ...) -> str:
        """The reply of a model after the changes; ``adding`` puts a text into a reply, or returns None if it can't."""
        ...

    def found(self, texts: Sequence[str]) -> list[str]:
        """The results of a search after the changes."""
        ...

    def refuse(self, reason: str) -> None:
        """Say why a change can't be made."""
        ...


class Replaying(Protocol):
    """A replay, which is asked at each call of an operation."""

    def enter(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Entered:
        """Decide on the call of a recorded function."""
        ...

    def package(self, function: str, arguments: Mapping[str, Any]) -> PackageCall:
        """Decide on a search, or a call of a model, inside a package."""
        ...

    def mutated(self, value: object) -> None:
        """Note that an operation changed a value in place."""
        ...


replaying: Replaying | None = None
"""The replay that runs in this process; None while recording."""


class TraceState:
    """The state of a trace in this process."""

    __slots__ = ("id", "identities", "is_told", "kept", "notes", "replaying", "stored_units")

    def __init__(self, id: str) -> None:  # noqa: A002 (the field's own word)
        self.id = id
        self.is_told = False
        self.kept: Path | None = None
        """The folder with the data for a replay."""
        self.replaying: Replaying | None = None
        self.identities = IdentityMap()
        self.stored_units = KnownUnits()
        self.notes: dict[str, Any] = {}
        """Data of instruments, by names of their choice."""

    def join(self, other: TraceState) -> None:
        """Become a part of another trace: both have one id, and know the same variables, from now on."""
        other.identities.take_in(self.identities)
        other.stored_units.take_in(self.stored_units)
        _add(other.notes, self.notes)
        self.id, self.is_told = other.id, other.is_told
        self.identities, self.stored_units, self.notes = other.identities, other.stored_units, other.notes


def _add(into: Any, more: Any) -> None:
    """Add the content of a collection to another of the same type; what is there already stays."""
    if isinstance(into, dict):
        for key, value in list(more.items()):
            if key in into:
                _add(into[key], value)
            else:
                into[key] = value
    elif isinstance(into, list | deque):
        into.extend(more)
    elif isinstance(into, set):
        into.update(more)
    elif hasattr(into, "take_in"):
        into.take_in(more)


class Scope:
    """A place: a trace, and a session and operation in the trace. ``ancestor`` is an operation of another process."""

    __slots__ = ("_step", "ancestor", "session", "trace")

    def __init__(
        self,
        trace: TraceState,
        session: str | None = None,
        step: Step | None = None,
        ancestor: str | None = None,
    ) -> None:
        self.trace = trace
        self.session = session
        self._step = step
        self.ancestor = ancestor

    @property
    def step(self) -> Step | None:
        """The operation around this place."""
        return self._step


class Step(Scope):
    """A running operation, and the place in which its code runs."""

    # fmt: off
    __slots__ = (
        "asked", "candidates", "has_begun", "has_message", "id", "inputs", "links", "maker",
        "now", "outputs", "parent", "path", "pending", "positions", "trace_id",
    )
    # fmt: on

    def __init__(self, scope: Scope, maker: tuple[str, str]) -> None:
        """Begin an operation here; ``maker`` is its name and kind."""
        self.id = id_ = new_id()
        self.trace = trace = scope.trace
        self.trace_id = trace.id
        self.session = scope.session
        self.parent = parent = scope.step
        if parent is None:
            self.ancestor = scope.ancestor
            self.path: tuple[str, ...] = (id_,)
            self.asked: Questions = NO_QUESTIONS
        else:
            self.ancestor = parent.id
            self.path = (*parent.path, id_)
            self.asked = parent.asked
        self.maker = maker
        self.has_message = False
        """Whether an input is a message or derives from one."""
        self.has_begun = False
        """Whether its beginning, with the first inputs, is complete."""
        self.inputs: dict[Variable, None] = {}
        """The inputs, each once, in the order of use."""
        self.outputs: list[tuple[Variable, int, Variable | None]] = []
        """The outputs, each with the number of earlier inputs and the variable that was read or revised."""
        self.links: dict[str, list[tuple[Variable, str | None]]] | None = None
        self.candidates: list[Variable] | None = None
        """Stored units that are candidates of a retrieval, best first."""
        self.pending: list[RawEvent] = []
        """Events that are written with the end."""
        self.positions = 0
        self.now = time.time_ns()
        """The time of the beginning and of the first inputs."""

    @property
    def step(self) -> Step:
        """This operation."""
        return self

    def begin(self, location: str | None, said: Mapping[str, Any] | None, events: list[RawEvent]) -> None:
        """Write the event of the beginning into the free first place of ``events``, and send all events.

        ``said`` is the category, comment and attributes.
        """
        name, kind = self.maker
        # fmt: off
        events[0] = (
            STARTED, said, self.trace_id, self.now, self.id, name, kind, self.session, self.ancestor, location
        )
        # fmt: on
        self.has_begun = True
        sink.send(events)

    def use(self, events: list[RawEvent], variable: Variable, role: str | None, *, is_input: bool = True) -> None:
        """Record that the operation uses a variable; an input is a source of later outputs."""
        now = time.time_ns() if self.has_begun else self.now
        events.append((USED, None, self.trace_id, now, self.id, variable.id, self.positions, role))
        self.positions += 1
        if is_input:
            self.inputs[variable] = None
            if variable.has_message:
                self.has_message = True
            if variable.questions and variable.questions is not self.asked:
                self.asked = joined(self.asked, variable.questions)

    def consider(self, variable: Variable) -> None:
        """Add a stored unit to the candidates, as the worst so far."""
        if self.candidates is None:
            self.candidates = []
        self.candidates.append(variable)

    def considered(
        self, query: Variable, variable: Variable, rank: int, *, is_returned: bool, score: float | None = None
    ) -> RawEvent:
        """The event of a candidate of a retrieval."""
        said = None if score is None else {"score": float(score)}
        return CONSIDERED, said, self.trace_id, time.time_ns(), self.id, query.id, variable.id, rank, is_returned

    def invalidated(self, variable: Variable) -> RawEvent:
        """The event of a deletion."""
        return INVALIDATED, None, self.trace_id, time.time_ns(), variable.id, self.id

    def has_input(self, variable: Variable) -> bool:
        """Whether the variable is an input."""
        return variable in self.inputs

    def made(self, variable: Variable) -> bool:
        """Whether this operation, or an operation inside, made the variable."""
        return self.id in variable.path

    def link(self, source: Variable, target: Variable, comment: str | None) -> None:
        """Add a source of the target. A target with links derives from these sources only, not from all inputs."""
        if source.order >= target.order:
            raise MistakeError(
                f"the source of a link, the {source.kind} named {shown(source.name)}, is younger than its target, "
                f"the {target.kind} named {shown(target.name)}"
            )
        if source.has_message:
            target.has_message = True
        if self.links is None:
            self.links = {}
        self.links.setdefault(target.id, []).append((source, comment))
        if all(output is not target for output, _, _ in self.outputs):
            self.outputs.append((target, 0, None))

    def finish(self, status: str, error: BaseException | None = None, said: Mapping[str, Any] | None = None) -> None:
        """Write the edges of the outputs, and the end."""
        events, links = self.pending, self.links
        now, trace, id_ = time.time_ns(), self.trace_id, self.id
        for target, inputs, origin in self.outputs:
            of_stored = OF_STORED if target.unit is not None and self.made(target) else None
            if links and target.id in links:
                for source, comment in links[target.id]:
                    about = of_stored if comment is None else {**(of_stored or {}), "comment": comment}
                    events.append((DERIVED, about, trace, now, source.id, target.id, id_, "Derivation"))
                continue
            target_id = target.id
            for source in self.inputs if inputs == len(self.inputs) else itertools.islice(self.inputs, inputs):
                if source is not origin:
                    events.append((DERIVED, of_stored, trace, now, source.id, target_id, id_, "Derivation"))
        more: dict[str, Any] | None = None
        if error is not None or said:
            more = {}
            if error is not None:
                more["error"] = {"type": type(error).__name__, "message": _message(error)}
            if said:
                more["attributes"] = dict(said)
        events.append((ENDED, more, trace, now, id_, status))
        sink.send(events)


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"<{type(broken).__name__}>"
