"""Rebuilds values from events that contain only the new part, and reads the stored beginnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memtrace import events as wire

from ingest.events.attributes import parts_of
from ingest.events.known import EventRefusedError, Known
from ingest.events.names import Names
from ingest.events.values import Whole, check_base, rebuilt
from schema.errors import CorruptValueError
from schema.models import Variable
from store.contract.answers import Label, Stored
from store.contract.protocol import GraphStore

Beginnings = Mapping[str, bytes | CorruptValueError]
"""Bytes of the stored values that new values begin with, by hash; the error for a damaged value."""


class Rebuilder:
    """Computes the whole values of events of one trace."""

    def __init__(self, known: Known, values: Mapping[str, bytes], beginnings: Beginnings) -> None:
        """Take the sources of beginnings.

        Args:
            known: the elements of the trace.
            values: values of new variables that are too long for the variable itself, by hash.
            beginnings: the same for stored variables, as far as events refer to them.
        """
        self._known = known
        self._values = values
        self._beginnings = beginnings
        self._cut: dict[str, bool] = {}

    def whole(self, event: wire.VariableEvent) -> Whole:
        """The whole value of an event.

        Raises:
            EventRefusedError: the event's base does not exist, or does not fit.
            UnicodeEncodeError: the value is not valid Unicode.
        """
        base = event.base
        if base is None:
            return Whole(event.value.encode(), event.media_type, event.truncated, event.size, event.value)
        before: Variable = self._known.get(Label.VARIABLE, base.variable, "base")
        try:
            check_base(base, before.size)
            return rebuilt(event, base, self._value_of(before), self._is_cut(before))
        except UnicodeEncodeError:
            raise
        except ValueError as error:
            raise EventRefusedError(str(error)) from None

    def _value_of(self, variable: Variable) -> bytes:
        if variable.value is not None:
            return variable.value.encode()
        value = self._values.get(variable.value_hash) or self._beginnings[variable.value_hash]
        if isinstance(value, CorruptValueError):
            raise EventRefusedError(f"base: {value}")
        return value

    def _is_cut(self, variable: Variable) -> bool:
        found = self._cut.get(variable.id)
        if found is None:
            found = self._cut[variable.id] = "truncatedFrom" in parts_of(variable.attributes)
        return found


async def read_beginnings(
    store: GraphStore, names: Names, stored: Stored, events: Iterable[wire.Event]
) -> dict[str, bytes | CorruptValueError]:
    """Read the stored values that some events' values begin with, each once."""
    known: Mapping[str, Variable] = stored.elements.get(Label.VARIABLE, {})
    found: dict[str, bytes | CorruptValueError] = {}
    for event in events:
        if not isinstance(event, wire.VariableEvent) or event.base is None:
            continue
        before = known.get(names.id(Label.VARIABLE, event.base.variable))
        if before is None or before.value is not None or before.value_hash in found:
            continue
        try:
            check_base(event.base, before.size)
        except ValueError:
            continue  # the event is refused when it is processed
        try:
            found[before.value_hash] = await store.value(before)
        except CorruptValueError as error:
            found[before.value_hash] = error
    return found
