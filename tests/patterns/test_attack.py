"""The lint finds patterns that take more than linear time, and accepts the linear form of each."""

from __future__ import annotations

import re

import pytest

from tests.patterns.attack import attack
from tests.patterns.collect import Use, uses


@pytest.mark.parametrize(
    ("pattern", "methods", "is_linear"),
    [
        (r"\s*,\s*", {"split"}, False),
        (r",", {"split"}, True),
        (r'"[^"\\]*(?:\\.[^"\\]*)*"', {"sub"}, False),
        (r'"(?:[^"\\]++|\\.)*+"?', {"sub"}, True),
        (r"(?:a+)+b", {"fullmatch"}, False),
        (r"(?:a++)+b", {"fullmatch"}, True),
        (r"[0-9a-f]{32,}$", {"search"}, False),
        (r"[0-9a-f]{32}$", {"search"}, True),
        (r"\s*,?\s*\d", {"match"}, False),
        (r"(?:\w+: )*x: .+ is", {"fullmatch"}, False),
    ],
)
def test_what_is_linear(pattern: str, methods: set[str], is_linear: bool) -> None:
    assert (attack(Use("here:1", re.compile(pattern), frozenset(methods))) is None) is is_linear


def test_the_patterns_of_the_product_are_found() -> None:
    found = {use.place.partition(":")[0]: use for use in uses()}
    assert len(found) > 50
    assert found["api/graphql/requests.py"].pattern.pattern
    assert found["attribution/text/segments.py"].methods
