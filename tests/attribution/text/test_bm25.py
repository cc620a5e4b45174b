"""Rankings of texts by shared words, and rankings that are joined."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from attribution.text.bm25 import Bm25, fused

TEXTS: dict[str, list[str]] = {
    "cat": ["cat", "sat", "mat"],
    "cats": ["cat", "cat", "sat", "mat", "and", "ran"],
    "dog": ["dog", "sat"],
    "none": ["bird"],
}


def anything(_key: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("query", "limit", "found"),
    [
        (["cat"], 9, ["cats", "cat"]),
        (["cat"], 1, ["cats"]),
        (["cat", "cat"], 9, ["cats", "cat"]),
        (["dog", "sat"], 9, ["dog", "cat", "cats"]),
        (["sat"], 9, ["dog", "cat", "cats"]),
        (["cat", "dog"], 9, ["dog", "cats", "cat"]),
        (["bird", "dog"], 9, ["none", "dog"]),
        (["horse"], 9, []),
        ([], 9, []),
        (["cat"], 0, []),
    ],
)
def test_the_best_text_comes_first(query: Sequence[str], limit: int, found: list[str]) -> None:
    index = Bm25(TEXTS)
    for _ in range(2):
        assert index.search(query, limit, anything) == found
    assert index.search(query, 9, lambda key: key != "cats") == [
        one for one in index.search(query, 9, anything) if one != "cats"
    ]


def test_the_score_is_that_of_okapi() -> None:
    index = Bm25(TEXTS)
    mean, rarity = 3.0, math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    expected = {0: (1, 3), 1: (2, 6)}
    assert index._scores(["cat"]) == pytest.approx(
        {
            number: rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean))
            for number, (count, length) in expected.items()
        }
    )


def test_equal_scores_keep_the_order_of_the_texts() -> None:
    texts = {name: ["same"] for name in "dcba"}
    assert Bm25(texts).search(["same"], 3, anything) == ["d", "c", "b"]


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        (0, ["b1", "a1", "alone"]),
        (1, ["b1", "a1", "alone"]),
        (2, ["b1", "a1", "alone", "a2"]),
        (3, ["b1", "a1", "a2", "alone"]),
    ],
)
def test_the_best_of_each_group_follow(limit: int, found: list[str]) -> None:
    texts = {"alone": ["x"] + ["y"] * 9, "a1": ["x", "y"], "a2": ["x", "y", "y"], "b1": ["x"]}
    groups = {"a1": "a", "a2": "a", "b1": "b"}
    got = Bm25(texts).search_apart(["x"], limit, anything, groups.get)
    best = Bm25(texts).search(["x"], limit, anything)
    assert got[: len(best)] == best
    assert set(got) == set(found) if limit else got == []


@pytest.mark.parametrize("texts", [{}, {"empty": []}])
def test_nothing_to_search(texts: dict[str, list[str]]) -> None:
    assert Bm25(texts).search(["x"], 9, anything) == []


@pytest.mark.parametrize(
    ("rankings", "limit", "joined"),
    [
        ([["a", "b", "c"], ["b", "a"]], 9, ["a", "b", "c"]),
        ([["a", "b", "c"], ["c", "b"]], 9, ["c", "b", "a"]),
        ([["a", "b"], ["c"]], 9, ["a", "c", "b"]),
        ([["a", "b", "c"], ["c", "b"]], 2, ["c", "b"]),
        ([[], ["a"]], 9, ["a"]),
        ([], 9, []),
    ],
)
def test_rankings_are_joined_by_their_ranks(rankings: list[list[str]], limit: int, joined: list[str]) -> None:
    assert fused(rankings, limit) == joined
