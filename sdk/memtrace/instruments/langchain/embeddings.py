"""Leaves out embedding models outside of any trace: each search of a store would leave a trace with its query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memtrace.context import scope
from memtrace.instruments.both_forms import Called, Told, both, unheard
from memtrace.instruments.covering import covering
from memtrace.instruments.frameworks.runs import runs
from memtrace.instruments.patches import Wrapper


def wrappers() -> dict[str, Wrapper]:
    """The wrapper of each method, by name."""
    names = ("embed_query", "embed_documents")
    return dict.fromkeys((*names, *(f"a{name}" for name in names)), both(_embedded))


@contextmanager
def _embedded(call: Called) -> Iterator[Told]:
    if scope.get() is not None or runs.around() is not None:
        yield unheard
        return
    with covering():
        yield unheard
