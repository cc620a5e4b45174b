"""Attaches the recorder to LangGraph's stores."""

from __future__ import annotations

from importlib import import_module

from memtrace.instruments.langgraph import calls
from memtrace.instruments.patches import Patches, wrap_all


class LangGraphInstrument:
    """Records ``put``, ``search``, ``get``, ``delete`` and ``batch`` of every class of store.

    The instrument ``langchain`` records runs of graphs; a graph's thread is a session.
    """

    distribution = "langgraph-checkpoint"
    modules = ("langgraph.store.base",)
    tested = ("3.0.1", "4.3.2")

    def __init__(self) -> None:
        self._patches = Patches("langgraph")

    def install(self) -> None:
        """Attach it."""
        store = import_module("langgraph.store.base").BaseStore
        wrap_all(self._patches, store, calls.wrappers())

    def remove(self) -> None:
        """Detach it."""
        self._patches.restore()
