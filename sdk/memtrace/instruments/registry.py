"""All instruments, by name. None of them is imported before it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from memtrace.instruments.protocol import Instrument

INSTRUMENTS: dict[str, str] = {
    "openai": "memtrace.instruments.openai:OpenAIInstrument",
    "mem0": "memtrace.instruments.mem0:Mem0Instrument",
    "langchain": "memtrace.instruments.langchain:LangChainInstrument",
    "langgraph": "memtrace.instruments.langgraph:LangGraphInstrument",
    "langmem": "memtrace.instruments.langmem:LangMemInstrument",
    "llamaindex": "memtrace.instruments.llamaindex:LlamaIndexInstrument",
    "everos": "memtrace.instruments.everos:EverOSInstrument",
}
"""Where the class of each instrument is: module and name."""

WATCHED: dict[str, tuple[str, ...]] = {
    "openai": ("openai",),
    "mem0": ("mem0",),
    "langchain": ("langchain_core",),
    "langgraph": ("langgraph.store.base",),
    "langmem": ("langmem.knowledge.extraction",),
    "llamaindex": ("llama_index.core",),
    "everos": ("evermemos", "everos", "everos_cloud"),
}
"""The modules whose import installs each instrument, so that the instrument need not be loaded to know them."""


def load(name: str) -> Instrument:
    """The instrument of this name."""
    module, _, attribute = INSTRUMENTS[name].partition(":")
    return cast("Instrument", getattr(import_module(module), attribute)())
