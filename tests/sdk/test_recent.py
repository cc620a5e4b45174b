"""A bounded dictionary: what is in use is never missed, whoever else fills it, and what is not goes away."""

from __future__ import annotations

import sys
import threading

from memtrace.recent import Recent


def test_what_is_used_stays_and_the_rest_goes() -> None:
    recent: Recent[int, str] = Recent(100)
    recent.set(-1, "used")
    for number in range(1_000):
        recent.set(number, "new")
        assert recent.get(-1) == "used"
        assert len(recent) <= 101
    assert recent.get(0) is None
    assert [recent.get(number) for number in range(950, 1_000)] == ["new"] * 50


def test_bytes_are_bounded_too() -> None:
    recent: Recent[int, str] = Recent(1_000, 100, lambda value: 10)
    for number in range(50):
        recent.set(number, "new")
    assert len(recent) <= 11
    assert recent.get(49) == "new"


def test_what_is_in_use_is_never_missed_by_any_thread() -> None:
    recent: Recent[tuple[int, int], str] = Recent(400)
    missed: list[int] = []
    recent.set((-1, -1), "used")

    def work(thread: int) -> None:
        for number in range(20_000):
            recent.set((thread, number), "new")
            if recent.get((-1, -1)) is None:
                missed.append(number)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert missed == []
