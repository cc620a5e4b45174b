"""Texts that say almost the same."""

from __future__ import annotations

import random

from attribution.text.alike import ALIKE, groups


def test_texts_of_almost_the_same_words_are_one_group() -> None:
    texts = [
        "Melanie signed up for a pottery class yesterday",
        "Melanie: signed up for a pottery class, yesterday!",
        "Caroline went to a support group",
        "Melanie signed up for a big pottery class yesterday",
        "",
        "",
        "Melanie signed up for a painting course",
    ]
    assert groups(texts) == [[0, 1, 3], [2], [4, 5], [6]]


def test_no_pair_is_missed() -> None:
    chance = random.Random(7)
    texts = [" ".join(chance.sample("abcdefghijkl", 9)) for _ in range(120)]
    bags = [frozenset(text.split()) for text in texts]
    firsts: list[int] = []
    for place, bag in enumerate(bags):
        if not any(len(bag & bags[one]) / len(bag | bags[one]) >= ALIKE for one in firsts):
            firsts.append(place)
    assert [group[0] for group in groups(texts)] == firsts
