"""Calls a function when the application has imported a module; the recorder itself need not import the module."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from memtrace.faults import report

_waiting: dict[str, list[Callable[[], None]]] = {}
_lock = threading.RLock()


def when_imported(module: str, call: Callable[[], None]) -> None:
    """Call ``call`` right after the first import of ``module``, or now if the module is imported already."""
    with _lock:
        if module not in sys.modules:
            _waiting.setdefault(module, []).append(call)
            if _finder not in sys.meta_path:
                sys.meta_path.insert(0, _finder)
            return
    _run(call)


def forget(call: Callable[[], None]) -> None:
    """Do not call ``call`` any more, whichever module is imported."""
    with _lock:
        for module, calls in list(_waiting.items()):
            calls[:] = [waiting for waiting in calls if waiting != call]
            if not calls:
                del _waiting[module]
        if not _waiting and _finder in sys.meta_path:
            sys.meta_path.remove(_finder)


def _run(call: Callable[[], None]) -> None:
    try:
        call()
    except Exception as error:
        report("instrument", error)


def _imported(module: str) -> None:
    with _lock:
        calls = _waiting.pop(module, [])
        if not _waiting and _finder in sys.meta_path:
            sys.meta_path.remove(_finder)
    for call in calls:
        _run(call)


class _Finder(MetaPathFinder):
    """Returns the spec of the finders behind it, with a loader that tells of the import."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _waiting:
            return None
        for finder in sys.meta_path:
            if finder is self:
                continue
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if find is None else find(fullname, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Telling(spec.loader)
                return spec
        return None


class _Telling(Loader):
    """A loader that tells when the module has run. The module keeps its own loader."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        _imported(module.__name__)

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)


_finder = _Finder()
