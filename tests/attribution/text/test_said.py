"""What recorded values say, and how two texts differ."""

from __future__ import annotations

import pytest

from attribution.text.said import said, text_of
from attribution.text.word_diff import merged_changes, word_changes


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain", "plain"),
        ('"quoted"', "quoted"),
        ("'single'", "single"),
        ("it's 'so'", "it's 'so'"),
        ('{"id": "12", "memory": "Mara: I have a dog."}', "Mara: I have a dog."),
        ("['a', 'a longer one']", "a longer one"),
        ('```json\n{"facts": ["I have a dog."]}\n```', "I have a dog."),
        ('\'```json\\n{"facts": ["I have a dog."]}\\n```\'', "I have a dog."),
        ('{"cut off": "in the mid', "in the mid"),
        ("[" * 500, "[" * 500),
        ("12", "12"),
        ("", ""),
    ],
)
def test_what_a_value_says(value: str, shown: str) -> None:
    assert text_of(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("I have a dog.", "I have a dog."),
        ('{"id": "b306a8e5-bde9-40ef-87c3-ad12307ce812", "memory": "Name is Deb"}', "Name is Deb"),
        ('{"content": "Hi", "name": "Caroline", "timestamp": "2023-05-08T13:56:00"}', "Hi"),
        ("'{\"facts\": []}'", "facts: none"),
        ("[]", "none"),
        ('{"facts": ["I have a dog.", "I live in Leeds."]}', "I have a dog.; I live in Leeds."),
        ('{"memory": [{"id": "0", "text": "Name is Jolene"}, {"id": "1", "text": "Name is', "Name is Jolene; Name is"),
        ("['it\\'s a', 'dog", "it's a; dog"),
        ("'a repr that ends in the mid", "a repr that ends in the mid"),
        ("two\nlines", "two lines"),
        ("[7, 8.5]", "7; 8.5"),
        ("[See below] the rest", "[See below] the rest"),
        ("", ""),
    ],
)
def test_what_a_value_says_is_its_name(value: str, shown: str) -> None:
    assert said(value) == shown


def test_a_long_name_is_cut_in_its_middle() -> None:
    name = said("Mara: " + "long " * 100 + "the end", 30)
    assert len(name) == 30
    assert name.startswith("Mara: long")
    assert name.endswith("the end")


def test_a_change_is_shown_in_its_place() -> None:
    old, new = "class on Thursday evenings", "class on Monday evenings now"
    left, right = word_changes(old, new)
    assert "".join(text for text, _ in left) == old
    assert "".join(text for text, _ in right) == new
    merged = merged_changes(old, new)
    assert merged == [
        ("class on ", "same"),
        ("Thursday", "gone"),
        ("Monday", "new"),
        (" evenings", "same"),
        (" now", "new"),
    ]
    assert merged_changes("", "a") == [("a", "new")]
    assert merged_changes("a", "") == [("a", "gone")]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("['one'] # two", "one"),
        ("'one' \"two\"", "onetwo"),
        ('["one", "tw', "one; tw"),
        ('{"text": "one"} ', "one"),
        ("[", "["),
    ],
)
def test_only_a_value_whose_end_is_missing_is_read_in_pieces(value: str, name: str) -> None:
    assert said(value) == name
