"""Reads the graph in notebooks: data frames, subgraphs and objects, through py2neo (extra ``notebook``).

It reads a Neo4j store directly, without the recorder or the platform, and never writes.
"""

from __future__ import annotations

try:
    from memtrace.notebook.graph import MemTraceGraph
    from memtrace.notebook.models import Operation, Variable
except ModuleNotFoundError as error:
    if error.name not in {"py2neo", "pandas"}:
        raise
    raise ImportError(f"{error.name} is missing: install the extra notebook (memtrace-recorder[notebook])") from error

__all__ = ["MemTraceGraph", "Operation", "Variable"]
