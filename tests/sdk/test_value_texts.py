"""Values as text, and which values are data or have an identity: a row for each kind of value."""

from __future__ import annotations

import math
import uuid
from collections import ChainMap, deque
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from memtrace.values import (
    JSON,
    TEXT,
    clean_text,
    has_identity,
    is_copyable,
    is_data,
    is_number,
    own_copy,
    plain_tree,
    snapshot,
)
from pydantic import BaseModel


@dataclass
class Unit:
    text: str
    parts: list[Any]


class Model(BaseModel):
    at: date


class Colour(Enum):
    RED = "red"


class Word(str, Enum):  # noqa: UP042  # applications have this older form, whose str() is "Word.ONE"
    ONE = "one"


class Shouting(str):
    __slots__ = ()

    def __str__(self) -> str:
        return self.upper()


class Vector:
    def tolist(self) -> list[float]:
        return [0.5, 1.0]


class Client:
    pass


DAY = date(2024, 5, 1)
UNITS = {"text": "x", "parts": [{"text": "y", "parts": []}]}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("tea", "tea"),
        ("", ""),
        ("café", "café"),
        (Shouting("tea"), "tea"),
        (Word.ONE, "one"),
        (b"caf\xc3\xa9", "café"),
        (b"a\xff", "a\ufffd"),
        (bytearray(b"tea"), "tea"),
        (memoryview(b"tea"), "tea"),
    ],
)
def test_texts_stay_texts(value: object, text: str) -> None:
    assert snapshot(value) == (text, TEXT)
    assert type(snapshot(value)[0]) is str


@pytest.mark.parametrize(
    ("value", "text", "plain"),
    [
        ({"a": 1, 2: None}, '{"a":1,"2":null}', {"a": 1, "2": None}),
        ([1, (2, [])], "[1,[2,[]]]", [1, [2, []]]),
        (frozenset({"b"}), '["b"]', ["b"]),
        ({"c", "a", "b"}, '["a","b","c"]', ["a", "b", "c"]),
        (deque(["a", "b"], maxlen=2), '["a","b"]', ["a", "b"]),
        (Unit("x", [Unit("y", [])]), '{"text":"x","parts":[{"text":"y","parts":[]}]}', UNITS),
        (Model(at=DAY), '{"at":"2024-05-01"}', {"at": "2024-05-01"}),
        (Colour.RED, '"red"', "red"),
        ([Word.ONE], '["one"]', ["one"]),
        (Vector(), "[0.5,1.0]", [0.5, 1.0]),
        (Decimal("1.50"), '"1.50"', "1.50"),
        (uuid.UUID(int=7), '"00000000-0000-0000-0000-000000000007"', "00000000-0000-0000-0000-000000000007"),
        (DAY, '"2024-05-01"', "2024-05-01"),
        (time(8, 30), '"08:30:00"', "08:30:00"),
        (datetime(2024, 5, 1, 8, 30), '"2024-05-01T08:30:00"', "2024-05-01 08:30:00"),
        ([math.inf, -math.inf], '["Infinity","-Infinity"]', ["inf", "-inf"]),
        (math.nan, '"NaN"', "nan"),
        (2.5, "2.5", 2.5),
        (0, "0", 0),
        (True, "true", True),
        (None, "null", None),
        (["a\ud800"], '["a?"]', ["a?"]),
        ({"a\ud800": 1}, '{"a?":1}', {"a?": 1}),
        ([b"a\xff"], '["a\ufffd"]', ["a\ufffd"]),
        (range(3), "[0,1,2]", [0, 1, 2]),
        (ChainMap({"a": 1}), '{"a":1}', {"a": 1}),
        (Client(), '"<Client>"', "<Client>"),
        ([Unit], '["<type>"]', ["<type>"]),
    ],
)
def test_other_values_are_json(value: object, text: str, plain: object) -> None:
    assert snapshot(value) == (text, JSON)
    found = plain_tree(value)
    assert found == plain
    assert type(found) in (dict, list, str, int, float, bool, type(None))


def test_sets_become_sorted_lists() -> None:
    assert plain_tree({"b", "c", "a"}) == ["a", "b", "c"]


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


def depth_of(tree: Any) -> tuple[int, object]:
    depth = 0
    while isinstance(tree, list) and tree:
        tree, depth = tree[0], depth + 1
    return depth, tree


def test_deep_values_and_circles_are_cut() -> None:
    assert depth_of(plain_tree(nested(39))) == (39, [])
    assert depth_of(plain_tree(nested(40))) == (40, "<list>")
    inside: dict[str, Any] = {}
    inside["again"] = [inside]
    text, kind = snapshot(inside)
    assert (text.count('"again"'), text.count("<"), kind) == (20, 1, JSON)


@pytest.mark.parametrize(
    ("value", "data", "identity"),
    [
        ("a text with words", True, True),
        ("identifier", True, False),
        ("a" * 40, True, False),
        ("a" * 41, True, True),
        ("étude", True, True),
        ("", True, False),
        (" ", True, False),
        ("\xff", True, False),
        ("\u0100", True, True),
        (b"", True, False),
        (b"a", True, False),
        (b"ab", True, True),
        ((), True, False),
        ((1,), True, False),
        ((1, 2), True, True),
        (frozenset(), True, False),
        (frozenset({1}), True, False),
        (frozenset({1, 2}), True, True),
        ([], True, True),
        ({}, True, True),
        (set(), True, True),
        (deque(), True, True),
        (bytearray(b"ab"), True, True),
        (7, True, False),
        (2.5, True, False),
        (True, True, False),
        (None, True, False),
        (Colour.RED, True, False),
        (Decimal(1), True, True),
        (DAY, True, True),
        (Unit("x", []), True, True),
        (Model(at=DAY), True, True),
        (Vector(), True, True),
        (Client(), False, True),
        (Unit, False, False),
        (Model, False, False),
        (len, False, True),
    ],
)
def test_data_and_identity(value: object, data: bool, identity: bool) -> None:
    assert (is_data(value), has_identity(value)) == (data, identity)
    assert is_number(value) == (isinstance(value, int | float) or value is None)


@pytest.mark.parametrize(
    ("text", "copyable"), [("", False), ("a", False), ("\xff", False), ("\u0100", True), ("ab", True)]
)
def test_copies_of_texts_are_objects_of_their_own(text: str, copyable: bool) -> None:
    assert is_copyable(text) is copyable
    assert own_copy(text) == text
    if copyable:
        assert own_copy(text) is not text


def test_halves_of_pairs_are_replaced() -> None:
    assert [clean_text(one) for one in ("tea", "\U0001f375", "a\udc00b")] == ["tea", "\U0001f375", "a?b"]
