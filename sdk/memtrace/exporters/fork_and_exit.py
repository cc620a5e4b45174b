"""Pauses exporters when their process forks, and closes them when the process ends."""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from typing import Protocol

from memtrace import unconnected, undecided
from memtrace.faults import report


class Watched(Protocol):
    """An exporter with a thread of its own."""

    def before_fork(self) -> None:
        """The process is about to fork."""

    def after_fork_in_parent(self) -> None:
        """The process has forked, and this is the parent."""

    def after_fork(self) -> None:
        """The process has forked, and this is the child."""

    def close(self) -> None:
        """The process ends."""


_exporters: weakref.WeakSet[Watched] = weakref.WeakSet()
_armed: set[str] = set()


def watch(exporter: Watched) -> None:
    """Call the exporter's methods at each fork from now on."""
    _exporters.add(exporter)
    if "fork" not in _armed and hasattr(os, "register_at_fork"):
        _armed.add("fork")
        os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


def close_at_exit() -> None:
    """Close all exporters when this process ends."""
    if "exit" not in _armed:
        _armed.update({"exit", f"exit in {os.getpid()}"})
        atexit.register(_close_all)
    elif f"exit in {os.getpid()}" not in _armed:
        _armed.add(f"exit in {os.getpid()}")
        # A process of multiprocessing ends without atexit, but runs finalizers.
        if "multiprocessing.util" in sys.modules:
            from multiprocessing.util import Finalize

            Finalize(None, _close_all, exitpriority=0)


def _before() -> None:
    undecided.settle_all()
    for exporter in list(_exporters):
        try:
            exporter.before_fork()
        except Exception as error:
            report("pause before a fork", error)


def _after_in_parent() -> None:
    for exporter in list(_exporters):
        try:
            exporter.after_fork_in_parent()
        except Exception as error:
            report("going on after a fork", error)


def _after_in_child() -> None:
    unconnected.forget()
    undecided.after_fork()
    for exporter in list(_exporters):
        exporter.after_fork()


def _close_all() -> None:
    unconnected.tell()
    undecided.settle_all()
    for exporter in list(_exporters):
        exporter.close()
