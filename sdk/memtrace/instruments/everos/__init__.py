"""Records the clients of EverMind's memory: ``evermemos``, ``everos`` and ``everos-cloud``."""

from __future__ import annotations

from memtrace.instruments.everos.instrument import EverOSInstrument

__all__ = ["EverOSInstrument"]
