"""All instruments, by name. None of them is imported before it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast


class Instrument(Protocol):
    """Records one package, whose code and users' code stay as they are.

    While it is installed, results, exceptions, types and the timing of streams are what they would be without it. What
    it can't record is reported by ``memtrace.faults`` and never raised.
    """

    distribution: str
    """The package's name in a registry; its metadata tell the version."""

    modules: Sequence[str]
    """The importable packages that it patches; it is installed when the first of them has been imported."""

    tested: tuple[str, str]
    """The oldest and the newest version with which it was tested."""

    def install(self) -> None:
        """Begin to record. It is called once until ``remove``, when one of ``modules`` is imported.

        Where a part of the package does not exist in this version, the other parts are recorded.
        """

    def remove(self) -> None:
        """Leave the package as it was. Calls that are under way end as they began."""


INSTRUMENTS: dict[str, str] = {
    "openai": "memtrace.instruments.openai.instrument:OpenAIInstrument",
    "mem0": "memtrace.instruments.mem0.instrument:Mem0Instrument",
    "langchain": "memtrace.instruments.langchain.instrument:LangChainInstrument",
    "langgraph": "memtrace.instruments.langgraph.instrument:LangGraphInstrument",
    "langmem": "memtrace.instruments.langmem.instrument:LangMemInstrument",
    "llamaindex": "memtrace.instruments.llamaindex.instrument:LlamaIndexInstrument",
    "everos": "memtrace.instruments.everos.instrument:EverOSInstrument",
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
