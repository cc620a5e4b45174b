"""What an application imports to record its memory system. It does not import anything of the platform."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memtrace import redact
from memtrace.config import configure, enabled, flush
from memtrace.faults import counts as fault_counts
from memtrace.identity import Variable
from memtrace.ids import trace_id
from memtrace.kinds import OperationKind, VariableKind
from memtrace.propagation import extract, inject
from memtrace.smartcomment import from_smartcomment

if TYPE_CHECKING:
    from memtrace import replay

if TYPE_CHECKING or enabled():
    from memtrace.answers import feedback
    from memtrace.context import carry, executor
    from memtrace.mutations import mutation
    from memtrace.operations import operation
    from memtrace.scopes import session, trace
    from memtrace.stored_units import newest_unit, store_unit, stored_unit
    from memtrace.variables import bind, deleted, find, link, named, retrieved, variable
else:
    from memtrace.off import (
        bind,
        carry,
        deleted,
        executor,
        feedback,
        find,
        link,
        mutation,
        named,
        newest_unit,
        operation,
        retrieved,
        session,
        store_unit,
        stored_unit,
        trace,
        variable,
    )

__version__ = "0.1.0"


def instrument(*names: str) -> None:
    """Record packages without a change of the code that uses them: see ``memtrace.instruments``."""
    from memtrace import instruments

    instruments.instrument(*names)


def uninstrument(*names: str) -> None:
    """Leave packages as they were before ``instrument``: see ``memtrace.instruments``."""
    from memtrace import instruments

    instruments.uninstrument(*names)


__all__ = [
    "OperationKind",
    "Variable",
    "VariableKind",
    "bind",
    "carry",
    "configure",
    "deleted",
    "enabled",
    "executor",
    "extract",
    "fault_counts",
    "feedback",
    "find",
    "flush",
    "from_smartcomment",
    "inject",
    "instrument",
    "link",
    "mutation",
    "named",
    "newest_unit",
    "operation",
    "redact",
    "replay",
    "retrieved",
    "session",
    "store_unit",
    "stored_unit",
    "trace",
    "trace_id",
    "uninstrument",
    "variable",
]


def __getattr__(name: str) -> Any:
    """``memtrace.replay`` is loaded when it is first used: most programs never do."""
    if name == "replay":
        return import_module("memtrace.replay")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
