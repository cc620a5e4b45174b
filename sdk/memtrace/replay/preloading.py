"""Packages that the process of the replays loads once for all runs, which begin as copies of the process.

Importing mem0 or LangChain takes many times longer than a run of most programs. A package may be preloaded if its
import has the same effect at any time: it starts no thread or connection, writes nothing, and reads no setting that a
program may change before. mem0 itself is left out: its import reads the place of its files.
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
"""On other systems a copy of a process can't always use libraries that were loaded before the copy."""


def loaded() -> list[str]:
    """The loaded modules of these packages, in the order of loading."""
    return [name for name in list(sys.modules) if name.partition(".")[0] in PACKAGES]


def load(names: Iterable[str]) -> None:
    """Load modules that a run has loaded, except modules of other packages."""
    for name in names:
        if name not in sys.modules and name.partition(".")[0] in PACKAGES:
            # A module that can't be found here is loaded again by each run that needs it.
            with suppress(Exception):
                import_module(name)
