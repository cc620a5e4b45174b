"""Records langmem: its managers of memory, which let a model decide what is inserted, changed and removed."""

from __future__ import annotations

from memtrace.instruments.langmem.instrument import LangMemInstrument

__all__ = ["LangMemInstrument"]
