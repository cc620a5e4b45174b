"""How recorded operations are compared with those of a replay."""

from __future__ import annotations

from uuid import uuid4

from optimization.replay.recorded import compared


def test_ids_that_are_drawn_by_chance_are_compared_by_which_are_the_same() -> None:
    one, other, third = (str(uuid4()) for _ in range(3))
    assert compared({"candidates": [one, other]}) == compared({"candidates": [other, third]})
    assert compared({"candidates": [one, one]}) != compared({"candidates": [one, other]})
    assert compared({"candidates": [one]}) != compared({"candidates": [one, other]})
    assert compared({"candidates": ["unit-1"]}) != compared({"candidates": ["unit-2"]})
    assert compared({"b": 1, "a": one}) == compared({"a": other, "b": 1})
