"""The graph in notebooks: data frames, subgraphs and objects, through py2neo, to be read only (extra ``notebook``)."""

from __future__ import annotations

try:
    from api.notebook.graph import MemTraceGraph
    from api.notebook.models import Operation, Variable
except ModuleNotFoundError as error:
    if error.name not in {"py2neo", "pandas"}:
        raise
    raise ImportError(f"{error.name} is missing: install the extra notebook (memtrace-platform[notebook])") from error

__all__ = ["MemTraceGraph", "Operation", "Variable"]
