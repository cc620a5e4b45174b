"""``with mutation(...)``: values that are changed in place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from memtrace.calls import variable_kind
from memtrace.context import scope
from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.observe import take
from memtrace.raw_events import RawEvent
from memtrace.record import declare
from memtrace.sink import emit
from memtrace.steps import Scope, Step


class mutation:  # noqa: N801 (reads as a statement)
    """``with mutation(buffer): buffer.append(message)``: the object is recorded as a new version after the block.

    Args:
        value: a list, dictionary or object. The value before the change is recorded first if it is not known yet.
        name: the name of a value that is not known yet.
        kind: the kind of a value that is not known yet.
        inputs: the values from which the change was made.

    Raises:
        ValueError: The kind does not exist; the message names the nearest one.
    """

    def __init__(
        self, value: object, name: str | None = None, *, kind: str = "Buffer", inputs: Iterable[object] = ()
    ) -> None:
        self._value = value
        self._name = name
        self._kind = variable_kind(kind)
        self._inputs = inputs
        self._before: Variable | None = None
        self._here: Scope | None = None

    def __enter__(self) -> Self:
        here = scope.get()
        if here is None:
            return self
        try:
            self._before = self._known(here)
            self._here = here
        except Exception as error:
            report("mutation", error)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        here, before = self._here, self._before
        if here is None or before is None:
            return
        self._here = None
        if here.trace.replaying is not None:
            here.trace.replaying.mutated(self._value)
        try:
            with implied_step(here, "mutate", "Update", error) as (step, events):
                for item in self._inputs:
                    take(events, here, step, item, "input", None)
                step.use(events, before, "before", is_input=False)
                made = declare(events, here, self._value, before.name, before.kind, step=step, revises=before)
                here.trace.identities.bind(self._value, made)
        except Exception as wrong:
            report("mutation", wrong)

    def _known(self, here: Scope) -> Variable:
        identities = here.trace.identities
        known = identities.find(self._value)
        if known is not None:
            return known[0]
        events: list[RawEvent] = []
        made = declare(events, here, self._value, self._name or self._kind, self._kind)
        identities.bind(self._value, made)
        emit(events)
        return made


@contextmanager
def implied_step(
    here: Scope, name: str, kind: str, failed: BaseException | None = None
) -> Iterator[tuple[Step, list[RawEvent]]]:
    """The current operation, or a new one if there is none."""
    events: list[RawEvent] = []
    if here.step is not None:
        try:
            yield here.step, events
        finally:
            emit(events)  # also after a mistake: the events so far are right
        return
    step = Step(here, (name, kind))
    events.append(())
    try:
        yield step, events
    finally:
        if len(events) > 1 or step.outputs:
            step.begin(None, None, events)
            step.finish("ok" if failed is None else "error", failed)
