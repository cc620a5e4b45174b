"""Records LangGraph: its stores of long-term memory. Graphs and their nodes are recorded as LangChain's runs."""

from __future__ import annotations

from memtrace.instruments.langgraph.instrument import LangGraphInstrument

__all__ = ["LangGraphInstrument"]
