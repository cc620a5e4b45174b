"""Attaches the recorder to the clients."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from memtrace.instruments.everos import calls
from memtrace.instruments.imports import forget, when_imported
from memtrace.instruments.patches import Patches

_CLASSES: dict[str, tuple[str, ...]] = {
    "evermemos.resources.v0.memories.memories": ("MemoriesResource", "AsyncMemoriesResource"),
    "everos.resources.v1.memories.memories": ("MemoriesResource", "AsyncMemoriesResource"),
    "everos.resources.v1.memories.agent": ("AgentResource", "AsyncAgentResource"),
    "everos.resources.v1.memories.group": ("GroupResource", "AsyncGroupResource"),
    "everos_cloud.client": ("EverOS",),
}
"""The classes with the recorded methods, by module. The clients import most of these modules on first use."""


class EverOSInstrument:
    """Records messages to EverMind's memory, and the memories that are found.

    The server extracts memories after the call; its OpenTelemetry export tells the platform about them at
    ``/v1/traces``.
    """

    distribution = "everos"
    modules = ("evermemos", "everos", "everos_cloud")
    tested = ("0.4.0", "0.4.0")

    def __init__(self) -> None:
        self._patches = Patches("everos")
        self._waiting: list[Callable[[], None]] = []

    def install(self) -> None:
        """Attach the recorder to each client when the client is imported."""
        for module, classes in _CLASSES.items():
            waiting = partial(self._attach, module, classes)
            self._waiting.append(waiting)
            when_imported(module, waiting)

    def remove(self) -> None:
        """Detach it."""
        for waiting in self._waiting:
            forget(waiting)
        self._waiting = []
        self._patches.restore()

    def _attach(self, module: str, classes: tuple[str, ...]) -> None:
        package = module.partition(".")[0]
        for name in classes:
            kind = getattr(sys.modules[module], name, None)
            if kind is None:
                self._patches.missing(sys.modules[module], name)
                continue
            for method in calls.METHODS:
                if method in vars(kind):
                    self._patches.wrap(kind, method, partial(calls.recorded, package))
