"""The place of a change of a history is the function of the application that the node around it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from memtrace.instruments.frameworks.histories import _function


class RunnableSeq:
    """Stands for LangGraph's class of this name: what runs a node has the node's functions as steps."""

    def __init__(self, function: Callable[[], None]) -> None:
        self.steps = [SimpleNamespace(func=None, afunc=None), SimpleNamespace(func=function)]

    def invoke(self) -> str | None:
        return record()


def record() -> str | None:
    return _function()


@pytest.mark.parametrize(("module", "named"), [("agent", "agent"), ("__main__", "tours.py")])
def test_the_function_of_a_script_is_named_by_its_file(
    module: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shorten() -> None: ...

    shorten.__module__ = module
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(__spec__=None, __file__="/somewhere/tours.py"))
    place = RunnableSeq(shorten).invoke()
    assert place is not None
    assert place.startswith(f"{named}:{shorten.__code__.co_firstlineno} ")
    assert place.endswith("shorten")
