"""Attaches the recorder to langmem's managers."""

from __future__ import annotations

from importlib import import_module

from memtrace.instruments.both_forms import both
from memtrace.instruments.langmem import managers
from memtrace.instruments.patches import Patches


class LangMemInstrument:
    """Records the managers; the model's calls and the store's are recorded by ``langchain`` and ``langgraph``."""

    distribution = "langmem"
    modules = ("langmem.knowledge.extraction",)
    tested = ("0.0.29", "0.0.30")

    def __init__(self) -> None:
        self._patches = Patches("langmem")

    def install(self) -> None:
        """Attach it."""
        module = import_module("langmem.knowledge.extraction")
        for name, around in (("MemoryManager", managers.without_store), ("MemoryStoreManager", managers.with_store)):
            kind = getattr(module, name, None)
            if kind is None:
                self._patches.missing(module, name)
                continue
            for method in ("invoke", "ainvoke"):
                self._patches.wrap(kind, method, both(around))

    def remove(self) -> None:
        """Detach it."""
        self._patches.restore()
