"""Memory units that outlive a process: their readers and their maker send events of the unit, in any order.

All senders use the same id for a unit. A reader first sends the unit ("mentions" it) and then refers to it, so the read
is in the graph at once, even if the maker was never recorded. A mentioned variable comes from outside and carries a
mark; the maker's event completes the variable, once. A mention is the same whoever sends it and whenever, so the order
of the events doesn't change the graph.
"""

from __future__ import annotations

from dataclasses import replace

from memtrace.events import VariableEvent

from ingest.events.attributes import parts_of
from ingest.events.names import EventRefusedError
from schema.models import Completion, Variable

WRITTEN, MENTIONED = "written", "mentioned"
"""Values of an event's ``stored`` field: the event's operation wrote the unit, or a reader mentions the unit."""

MARK = {"mentioned": True}
"""The attribute of a variable that was mentioned and whose maker is still unknown."""


def check(event: VariableEvent) -> None:
    """Check the fields of a stored unit's event.

    Raises:
        EventRefusedError: a field does not fit the others.
    """
    if event.stored == MENTIONED and event.operation is not None:
        raise EventRefusedError("operation: what is only mentioned has none; its maker says stored: written")
    if event.stored is not None and event.revision_of == event.variable:
        raise EventRefusedError("revisionOf: a variable is no version of itself")
    if event.stored == WRITTEN and event.operation is None:
        raise EventRefusedError("operation: what is written has one; a reader says stored: mentioned")


def is_mentioned(variable: Variable) -> bool:
    """Whether a variable was mentioned and its maker is still unknown."""
    return variable.operation_id is None and "mentioned" in parts_of(variable.attributes)


def completed(mentioned: Variable, made: Variable) -> Variable:
    """A mentioned variable with the fields from its maker's event, and its old sequence number."""
    return replace(made, sequence=mentioned.sequence, right=mentioned.right)


def completion(variable: Variable) -> Completion:
    """The change to the store when a mentioned variable gets its maker."""
    assert variable.operation_id is not None
    return Completion(
        variable.id,
        variable.session_id,
        variable.version,
        variable.category,
        variable.created_at,
        variable.location,
        variable.attributes,
        variable.operation_id,
        variable.revision_of,
    )
