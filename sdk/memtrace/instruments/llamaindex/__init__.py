"""Records LlamaIndex: what is put into indexes, retrieved, reranked, and what its models read and reply."""

from __future__ import annotations

from memtrace.instruments.llamaindex.instrument import LlamaIndexInstrument

__all__ = ["LlamaIndexInstrument"]
