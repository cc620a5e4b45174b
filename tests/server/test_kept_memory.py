"""A server returns freed memory to the system after it has grown."""

from __future__ import annotations

import asyncio
import sys

import pytest

from api.processes import memory
from api.processes.memory import keeping_little

_MIB = 1 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such figure")
@pytest.mark.parametrize(
    ("sizes", "returned_at"),
    [
        pytest.param([100, 116, 116], [], id="16 MiB more is not yet grown"),
        pytest.param([100, 117, 105, 121], [1], id="after a return, growth counts from what is left"),
        pytest.param([100, 117, 105, 122, 110], [1, 3], id="twice"),
        pytest.param([100, 90, 107, 95], [2], id="growth counts from the least size"),
    ],
)
async def test_memory_is_returned_after_growth(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int], returned_at: list[int]
) -> None:
    looks, returned, ended, left = 0, list[int](), asyncio.Event(), iter(sizes)

    def resident() -> int:
        nonlocal looks
        looks += 1
        if (size := next(left, None)) is None:
            ended.set()
            raise asyncio.CancelledError
        return size * _MIB

    monkeypatch.setattr(memory, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(memory, "_resident_bytes", resident)
    monkeypatch.setattr(memory, "give_back", lambda: returned.append(looks - 1))
    async with keeping_little(), asyncio.timeout(5):
        await ended.wait()
    assert returned == returned_at


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such figure")
def test_the_size_is_in_bytes() -> None:
    before = memory._resident_bytes()
    block = bytearray(b"x") * (64 * _MIB)
    assert 60 * _MIB < memory._resident_bytes() - before < 80 * _MIB
    del block
