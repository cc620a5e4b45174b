"""Each test begins with nothing that instruments remember, and leaves nothing patched."""

from __future__ import annotations

from collections.abc import Iterator

import memtrace
import pytest
from memtrace.exporters.memory import MemoryExporter
from memtrace.instruments import handed_out, model_calls, placing
from memtrace.instruments.mem0 import calls as mem0_calls

from tests.sdk.conftest import recorded

__all__ = ["recorded"]


@pytest.fixture(autouse=True)
def _afresh(recorded: MemoryExporter) -> Iterator[None]:
    handed_out.forget()
    mem0_calls.forget()
    model_calls.forget()
    placing.forget()
    yield
    memtrace.uninstrument()
