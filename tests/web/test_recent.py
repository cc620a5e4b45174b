"""How long pages use a result that was slow to compute, and which results are dropped first."""

from __future__ import annotations

import pytest

from api.web.pages import recent
from api.web.pages.recent import Recent


class _Made:
    """Makes values, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self) -> int:
        self.count += 1
        return self.count


class _Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


async def test_a_value_is_valid_for_some_seconds_however_often_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, make, kept = _Clock(), _Made(), Recent[int](2, seconds=10.0)
    monkeypatch.setattr(recent, "time", clock)
    for clock.now, value in ((0.0, 1), (6.0, 1), (9.9, 1), (10.0, 2), (19.9, 2), (20.0, 3)):
        assert await kept.get("key", make) == value
    assert await kept.get("another key", make) == 4


async def test_the_value_that_was_not_used_for_longest_is_dropped() -> None:
    make, kept = _Made(), Recent[int](2, seconds=1000.0)
    assert [await kept.get(key, make) for key in "abacab"] == [1, 2, 1, 3, 1, 4]


async def test_an_error_is_not_kept() -> None:
    kept = Recent[int](2, seconds=1000.0)

    async def fail() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await kept.get("key", fail)
    assert await kept.get("key", _Made()) == 1
