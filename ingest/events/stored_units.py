"""Units of a memory that outlive their process: told by their readers and by their maker, in any order.

All call such a unit by the same id. A reader mentions it before it refers to it: then the read is in the graph at once,
whether or not the maker was recorded. The variable is marked as mentioned then, and comes from outside. When its maker
says how it was made, it is completed, once. Nothing of a mention depends on who mentioned it, and when, so that the
graph is the same in whatever order the events come.
"""

from __future__ import annotations

from dataclasses import replace

from memtrace.events import VariableEvent

from ingest.events.attributes import parts_of
from ingest.events.known import EventRefusedError
from schema.models import Completion, Variable

WRITTEN, MENTIONED = "written", "mentioned"
"""What an event says of a stored unit: that its operation made it, or that somebody read it."""

MARK = {"mentioned": True}
"""The attribute of a variable that was read, but of which nobody has told who made it."""


def check(event: VariableEvent) -> None:
    """Check that an event says of a stored unit what it can say.

    Raises:
        EventRefusedError: it does not.
    """
    if event.stored == MENTIONED and event.operation is not None:
        raise EventRefusedError("operation: what is only mentioned has none; its maker says stored: written")
    if event.stored is not None and event.revision_of == event.variable:
        raise EventRefusedError("revisionOf: a variable is no version of itself")
    if event.stored == WRITTEN and event.operation is None:
        raise EventRefusedError("operation: what is written has one; a reader says stored: mentioned")


def is_mentioned(variable: Variable) -> bool:
    """Whether nobody has told yet who made a variable."""
    return variable.operation_id is None and "mentioned" in parts_of(variable.attributes)


def completed(mentioned: Variable, made: Variable) -> Variable:
    """A variable that was mentioned, with what its maker says; its place in the trace stays."""
    return replace(made, sequence=mentioned.sequence, right=mentioned.right)


def completion(variable: Variable) -> Completion:
    """What changes in the store when a variable that was mentioned gets its maker."""
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
