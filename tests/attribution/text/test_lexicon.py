"""Stems with the same meaning, with nearly the same meaning, and stems that exclude each other."""

from __future__ import annotations

import itertools

import pytest

from attribution.text.lexicon import (
    NEAR,
    SAME,
    Alike,
    are_rivals,
    best_likeness,
    is_common_word,
    is_rival_of_any,
    is_same,
    is_same_as_any,
    likeness,
)


@pytest.mark.parametrize(
    ("left", "right", "like", "same", "rivals"),
    [
        ("car", "car", 1.0, True, False),
        ("xyzzi", "xyzzi", 1.0, True, False),
        ("car", "automobil", SAME, True, False),
        ("buy", "purchas", SAME, True, False),
        ("dog", "frank", SAME, False, False),
        ("happi", "glad", SAME, False, False),
        ("teacher", "teach", NEAR, True, False),
        ("music", "musician", NEAR, True, False),
        ("red", "blue", NEAR, False, True),
        ("mother", "father", SAME, False, True),
        ("big", "small", 0.0, False, True),
        ("hot", "cold", 0.0, False, True),
        ("car", "vehicl", 0.0, False, False),
        ("dog", "xyzzi", 0.0, False, False),
        ("xyzzi", "plugh", 0.0, False, False),
    ],
)
def test_two_stems(left: str, right: str, like: float, same: bool, rivals: bool) -> None:
    for one, other in ((left, right), (right, left)):
        assert likeness(one, other) == like
        assert is_same(one, other) is same
        assert are_rivals(one, other) is rivals
        for others in ((other,), ("unknown stem", other)):
            assert best_likeness(one, others) == like
            assert is_same_as_any(one, others) is same
            assert is_rival_of_any(one, others) is rivals


STEMS = ("car", "automobil", "red", "blue", "teach", "teacher", "dog", "frank", "music", "musician", "xyzzi", "buy")


def test_the_best_of_several() -> None:
    assert best_likeness("car", ()) == 0.0
    assert best_likeness("car", ("red", "automobil", "blue")) == SAME
    assert best_likeness("red", ("dog", "blue")) == NEAR
    for stem in STEMS:
        for others in itertools.combinations([one for one in STEMS if one != stem], 2):
            assert best_likeness(stem, others) == max(likeness(stem, other) for other in others)


@pytest.mark.parametrize("is_asked_first", [True, False])
def test_known_stems_that_are_like_another(is_asked_first: bool) -> None:
    known = Alike()
    rows = {stem: known.to(stem) for stem in STEMS} if is_asked_first else {}
    for stem in STEMS:
        known.add([stem, stem])
    rows = rows or {stem: known.to(stem) for stem in STEMS}
    assert known.size == len(STEMS)
    for stem in STEMS:
        assert rows[stem] == {other: like for other in STEMS if (like := likeness(stem, other))}
        assert known.to(stem) is rows[stem]


def test_a_text_is_learned_once() -> None:
    known = Alike()
    known.learn("a text", [["car"], ["red", "car"]])
    known.learn("a text", [["dog"]])
    assert (known.size, dict(known.to("dog"))) == (2, {})
    known.learn("another text", [["dog"], ["car"]])
    assert dict(known.to("dog")) == {"dog": 1.0}


def test_words_of_english() -> None:
    assert [is_common_word(stem) for stem in ("car", "xyzzi", "")] == [True, False, False]
