"""Packages that the process of the replays loads once, because each run, which begins as a copy of it, needs them.

Loading mem0 or LangChain with all that they need takes many times longer than a run of most programs. What is loaded
here must be the same whenever it is loaded: it starts no thread or connection, writes nothing, and reads no setting
that a program may change before it loads it. mem0 itself is no such package: it reads where its files are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module

PACKAGES = frozenset(
    {
        "anthropic",
        "grpc",
        "httpx",
        "langchain_core",
        "langchain_openai",
        "langgraph",
        "llama_index",
        "numpy",
        "openai",
        "pydantic",
        "qdrant_client",
        "sqlalchemy",
        "tiktoken",
    }
)
IS_SAFE = sys.platform == "linux"
"""Elsewhere a copy of a process can't always use what was loaded before it was copied."""


def loaded() -> list[str]:
    """Modules of these packages that this process has loaded, in the order in which they were."""
    return [name for name in list(sys.modules) if name.partition(".")[0] in PACKAGES]


def load(names: Iterable[str]) -> None:
    """Load modules that a run has loaded."""
    for name in names:
        if name not in sys.modules and name.partition(".")[0] in PACKAGES:
            # What can't be loaded here, as its place is known to the run alone, the next run loads itself again.
            with suppress(Exception):
                import_module(name)
