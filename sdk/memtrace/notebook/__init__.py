"""Reads the graph in notebooks: as data frames (extra ``notebook``), or as py2neo's objects (``notebook-objects``).

``Project`` reads any store through the command ``memtrace``. ``MemTraceGraph`` reads a Neo4j store directly, without
the platform. Neither writes, and neither needs the recorder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtrace.notebook.graph import MemTraceGraph
    from memtrace.notebook.models import Operation, Variable

try:
    from memtrace.notebook.frames import Past, Project, Step
except ModuleNotFoundError as error:
    if error.name != "pandas":
        raise
    raise ImportError("pandas is missing: install the extra notebook (memtrace-recorder[notebook])") from error

_OBJECTS = {"MemTraceGraph": "graph", "Operation": "models", "Variable": "models"}

__all__ = ["MemTraceGraph", "Operation", "Past", "Project", "Step", "Variable"]


def __getattr__(name: str) -> Any:
    """py2neo's objects, which are imported only if they are asked for."""
    if name not in _OBJECTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    try:
        return getattr(import_module(f"{__name__}.{_OBJECTS[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "py2neo":
            raise
        missing = "py2neo is missing: install the extra notebook-objects (memtrace-recorder[notebook-objects])"
        raise ImportError(missing) from error
