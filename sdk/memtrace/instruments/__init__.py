"""Records packages that an application uses, without a change of the application.

``memtrace.instrument()`` in the application, ``MEMTRACE_INSTRUMENT=mem0,openai`` in its environment, or
``memtrace run -- python app.py`` switches instruments on. An instrument patches its package when the application
imports the package.
"""

from __future__ import annotations

import threading
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from memtrace.config import enabled
from memtrace.faults import report, warn
from memtrace.instruments.imports import forget, when_imported
from memtrace.instruments.registry import WATCHED, Instrument, advice, load
from memtrace.mistakes import meant

_lock = threading.RLock()
_instruments: dict[str, _Installed] = {}


class _Installed:
    """An instrument that is switched on; its package may not be imported yet."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._instrument: Instrument | None = None

    def wait(self) -> None:
        for module in WATCHED[self._name]:
            when_imported(module, self.install)

    def install(self) -> None:
        """Load the instrument and patch its package, once."""
        with _lock:
            if self._instrument is not None or _instruments.get(self._name) is not self:
                return
            forget(self.install)
            # Otherwise the exporter's thread imports httpx later, while another package may see it half imported.
            import_module("httpx")
            instrument = load(self._name)
            found = _version(instrument.distribution)
            told = advice(instrument.distribution, found, instrument.tested)
            if told:
                warn(f"version of {self._name}", told)
            try:
                instrument.install()
            except Exception as error:
                report(f"instrument of {self._name}", error)
            self._instrument = instrument  # also if a part failed: the other parts must be removed

    def remove(self) -> None:
        forget(self.install)
        instrument, self._instrument = self._instrument, None
        if instrument is None:
            return
        try:
            instrument.remove()
        except Exception as error:
            report(f"removal of the instrument of {self._name}", error)


def instrument(*names: str) -> None:
    """Record packages without a change of the code that uses them. A second call changes nothing.

    Args:
        names: of instruments: ``openai``, ``mem0``, ``langchain``, ``langgraph``, ``langmem``, ``llamaindex``,
            ``everos``. Without names, all instruments whose package the application imports, now or later.

    Raises:
        ValueError: No instrument has the name; the message names the nearest one.
    """
    wanted = [meant("instrument", name, WATCHED) for name in names] or list(WATCHED)
    if not enabled():
        return
    for name in wanted:
        if names and not any(_exists(module) for module in WATCHED[name]):
            warn(f"absent {name}", "the package of the instrument %r is not installed: it records nothing", name)
        with _lock:
            if name in _instruments:
                continue
            waiting = _instruments[name] = _Installed(name)
        waiting.wait()


def uninstrument(*names: str) -> None:
    """Undo ``instrument``; without names, for all packages. Calls that have begun are recorded to their end.

    Raises:
        ValueError: No instrument has the name; the message names the nearest one.
    """
    for name in [meant("instrument", name, WATCHED) for name in names] or list(WATCHED):
        with _lock:
            installed = _instruments.pop(name, None)
            if installed is not None:
                installed.remove()


def _exists(module: str) -> bool:
    """Whether the top package of a module is installed; finding the module itself would import its packages."""
    try:
        return find_spec(module.partition(".")[0]) is not None
    except (ImportError, ValueError):
        return False


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
