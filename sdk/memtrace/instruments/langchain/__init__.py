"""Records LangChain: retrievers, vector stores, rerankers, prompts, models and tools."""

from __future__ import annotations

from memtrace.instruments.langchain.instrument import LangChainInstrument

__all__ = ["LangChainInstrument"]
