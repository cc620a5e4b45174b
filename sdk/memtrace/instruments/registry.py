"""All instruments by name, imported on first use, and the protocol of an instrument."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast


class Instrument(Protocol):
    """Records one package without a change of the package's code or the application's code.

    Results, exceptions, types and the timing of streams are the same as without the instrument. A failure to record is
    reported by ``memtrace.faults`` and never raised.
    """

    distribution: str
    """The name of the installed distribution, whose metadata tell the version."""

    modules: Sequence[str]
    """The modules to patch; ``install`` is called after the import of the first one."""

    tested: tuple[str, str]
    """The oldest and the newest tested version."""

    def install(self) -> None:
        """Begin to record; called once until ``remove``. Parts that this version of the package lacks are left out."""

    def remove(self) -> None:
        """Restore the package. Calls that have begun are recorded to their end."""


_RELEASE = re.compile(r"\d+(?:\.\d+)*")

INSTRUMENTS: dict[str, str] = {
    "openai": "memtrace.instruments.openai.instrument:OpenAIInstrument",
    "mem0": "memtrace.instruments.mem0.instrument:Mem0Instrument",
    "langchain": "memtrace.instruments.langchain.instrument:LangChainInstrument",
    "langgraph": "memtrace.instruments.langgraph.instrument:LangGraphInstrument",
    "langmem": "memtrace.instruments.langmem.instrument:LangMemInstrument",
    "llamaindex": "memtrace.instruments.llamaindex.instrument:LlamaIndexInstrument",
    "everos": "memtrace.instruments.everos.instrument:EverOSInstrument",
}
"""The class of each instrument, as ``module:name``."""

WATCHED: dict[str, tuple[str, ...]] = {
    "openai": ("openai",),
    "mem0": ("mem0",),
    "langchain": ("langchain_core",),
    "langgraph": ("langgraph.store.base",),
    "langmem": ("langmem.knowledge.extraction",),
    "llamaindex": ("llama_index.core",),
    "everos": ("evermemos", "everos", "everos_cloud"),
}
"""The modules whose import installs each instrument; known without loading the instrument."""


def load(name: str) -> Instrument:
    """Make the instrument of a name."""
    module, _, attribute = INSTRUMENTS[name].partition(":")
    return cast("Instrument", getattr(import_module(module), attribute)())


def advice(name: str, version: str | None, tested: tuple[str, str]) -> str | None:
    """A warning for an untested version; None if the version is in the tested range or unknown.

    Args:
        name: of the package.
        version: the installed version; None if unknown.
        tested: the oldest and the newest tested version.
    """
    oldest, newest = tested
    here = None if version is None else _release(version)
    if here is None or _release(oldest) <= here <= _release(newest):
        return None
    return (
        f"{name} {version} is recorded as far as it is like the versions that were tested, {oldest} to {newest}; "
        "what has changed is left out"
    )


def _release(version: str) -> tuple[int, ...]:
    found = _RELEASE.match(version)
    numbers = [int(part) for part in found[0].split(".")] if found else [0]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
