"""Finds the line of the application that called a package."""

from __future__ import annotations

import sys
from pathlib import Path

from memtrace.modules import module_name

_PACKAGES = {
    *("memtrace", "openai", "mem0", "langchain", "langgraph", "langmem", "workflows"),
    *("llama_index", "llama_index_instrumentation"),
    *("evermemos", "everos", "everos_cloud"),
    *("anyio", "asyncio", "concurrent", "contextlib", "contextvars", "functools", "threading"),
    *("httpx", "httpx2", "pydantic", "tenacity", "trustcall", "wrapt"),
    *("multiprocessing", "runpy"),
}
"""Packages that are no application: their lines are passed over."""

_FAMILIES = ("langchain_", "langgraph_")
"""Beginnings of names of more packages; outside of ``site-packages``, such a module belongs to the application."""

_RECORDER = str(Path(__file__).parents[1])
"""The recorder's folder, whose own programs run as ``__main__``."""

_MAX_FRAMES = 200
_MAX_MODULES = 10_000

_known: dict[str, bool] = {}
"""Whether a module belongs to the application."""


def line() -> str | None:
    """The line of the application, such as ``app.answers:12 reply`` or ``app.py:12 reply``.

    None in a thread that a package has started. A line of an installed package is taken only if no other is there: many
    packages call each other through helpers, such as LangChain through ``langsmith``.
    """
    frame = sys._getframe(1)
    installed: str | None = None
    for _ in range(_MAX_FRAMES):
        module = frame.f_globals.get("__name__", "")
        is_own = _known.get(module)
        if is_own is None:
            is_own = is_application(module, frame.f_code.co_filename)
        if is_own:
            here = f"{module_name(module)}:{frame.f_lineno} {frame.f_code.co_qualname}"
            if not _is_installed(frame.f_code.co_filename):
                return here
            installed = installed or here
        if frame.f_back is None:
            break
        frame = frame.f_back
    return installed


def _is_installed(file: str) -> bool:
    """Whether a file came from a package, or starts one: rather a helper of the called package than the application."""
    return "site-packages" in file or "dist-packages" in file or Path(file).parent.name in {"bin", "Scripts"}


def is_application(module: str, file: str) -> bool:
    """Whether a module belongs to the application, and not to a package."""
    package = module.partition(".")[0]
    found = package not in _PACKAGES and not (package.startswith(_FAMILIES) and "site-packages" in file)
    found = found and not (module == "__main__" and file.startswith(_RECORDER))
    if len(_known) < _MAX_MODULES:
        _known[module] = found
    return found
