"""What is reachable is the same with marks and caches as by a plain walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.trace import reach
from attribution.trace.reach import Reach

CHAIN = [f"v{number}" for number in range(12)]


def plain(edges: Mapping[str, Sequence[str]], roots: Sequence[str]) -> set[str]:
    found, waiting = set(roots), list(roots)
    while waiting:
        for other in edges.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    """A chain of versions, and messages and units beside it."""
    edges = {one: [after] for one, after in pairwise(CHAIN)}
    for number in range(draw(st.integers(0, 14))):
        source = f"m{number}"
        later = [f"m{other}" for other in range(number + 1, 14)] + CHAIN
        edges.setdefault(source, []).extend(draw(st.lists(st.sampled_from(later), max_size=3, unique=True)))
        into = draw(st.sampled_from(CHAIN))
        if draw(st.booleans()) and not plain(edges, [source]) & {into}:
            edges.setdefault(into, []).append(source)
    return edges


@pytest.mark.parametrize(("apart", "most"), [(1, 10**6), (3, 10**6), (5, 10**6), (3, 1), (3, 8), (50, 20)])
@given(st.data())
def test_marks_and_caches_change_no_result(apart: int, most: int, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reach, "_APART", apart)
        patched.setattr(reach, "_MOST_KEPT", most)
        edges = data.draw(graphs())
        names = sorted({*CHAIN, *edges, *(one for others in edges.values() for one in others)})
        found = Reach(edges, [CHAIN, ["m0"], []])
        for roots in data.draw(st.lists(st.lists(st.sampled_from(names), max_size=3), min_size=1, max_size=8)):
            expected = plain(edges, roots)
            assert found.of(roots) == expected
            assert found.of(iter(reversed(roots))) == expected


def test_a_repeated_question_is_answered_from_the_cache_and_the_oldest_leave_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reach, "_MOST_KEPT", 5)
    found = Reach({"a": ["b", "c"], "d": ["e", "f"], "g": ["h", "i"]}, [])
    first = found.of(["a"])
    assert found.of(["a"]) is first
    assert found.of(["d"]) is not None
    again = found.of(["a"])
    assert (again == first, again is first) == (True, False)
    assert found.of([]) == frozenset()
    assert found.of(["unknown"]) == {"unknown"}


def test_the_cache_keeps_what_was_asked_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "_MOST_KEPT", 6)
    found = Reach({"a": ["b", "c"], "d": ["e", "f"], "g": ["h", "i"]}, [])
    first, second = found.of(["a"]), found.of(["d"])
    assert found.of(["a"]) is first
    found.of(["g"])
    assert found.of(["a"]) is first
    assert found.of(["d"]) is not second
