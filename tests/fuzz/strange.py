"""JSON that is valid but hard to handle: values that are no objects, extreme numbers and times, nesting."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

DEPTHS = (50, 500, 5_000, 60_000)
TIMES = (
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "0000-01-01T00:00:00Z",
    "2024-02-30T00:00:00Z",
    "2024-01-01T24:00:00Z",
    "2024-01-01T00:00:00+99:99",
    "-9999-01-01",
    "1" * 400,
)
NUMBERS = ("9" * 4_301, "-" + "1" * 10_000, "1e999", "-1e999", "1e-999", "NaN", "-Infinity", "0.1" + "0" * 5_000, "-0")
TEXTS = ("\\ud800", "\\udfff\\ud800", "x\\ud83d", "\\u0000", "\\u202e", "\\uffff", "x" * 100_000, "..", "%00", "'; --")


def pieces() -> st.SearchStrategy[str]:
    """A value as JSON text, or as what only some take for JSON."""
    texts = st.one_of(st.sampled_from(TEXTS), st.sampled_from(TIMES), st.text(max_size=20).map(_inside))
    return st.one_of(
        st.sampled_from(["null", "true", "[]", "{}", '""', "0"]),
        st.sampled_from(NUMBERS),
        st.integers(min_value=-(2**70), max_value=2**70).map(str),
        texts.map(lambda text: f'"{text}"'),
        st.sampled_from(DEPTHS).map(lambda depth: "[" * depth + "]" * depth),
        st.sampled_from(DEPTHS).map(lambda depth: '{"a":' * depth + "1" + "}" * depth),
    )


def documents(fields: tuple[str, ...]) -> st.SearchStrategy[bytes]:
    """Bodies of requests: pieces, lists of them, and objects with some of these fields."""
    names = st.sampled_from((*fields, "other", "\\ud800", ""))
    members = st.lists(st.tuples(names, st.one_of(pieces(), pieces().map(lambda one: f"[{one}]"))), max_size=4)
    objects = members.map(lambda found: "{" + ",".join(f'"{name}":{value}' for name, value in found) + "}")
    texts = st.one_of(
        pieces(), objects, objects, st.lists(pieces(), max_size=3).map(lambda all_: f"[{','.join(all_)}]")
    )
    return st.one_of(
        texts.map(lambda text: text.encode("utf-8", "surrogatepass")),
        texts.map(lambda text: b"\xef\xbb\xbf" + text.encode("utf-16-le", "surrogatepass")),
        st.sampled_from([b"", b" ", b"\xff", b'{"a":', b'"\xed\xa0\x80"', b"{}{}", b"\0"]),
    )


def words() -> st.SearchStrategy[str]:
    """Texts as they stand in an address, percent-encoded where they have to be."""
    return st.sampled_from(
        [
            "%ED%A0%80",
            "%00",
            "%FF%FE",
            "%E2%80%AE",
            "..",
            "%2E%2E%2F",
            "a%2Fb",
            "%0D%0A",
            "x" * 5_000,
            "%F0%9F%98%80",
            "%",
        ]
        + [f"{'9' * 5_000}", "-1", "NaN", "null", "%22", "%27", "%7B", "*", "0" * 32, "~", "bytes=0-"]
        + [time.replace("+", "%2B") for time in TIMES]
    )


def _inside(text: str) -> Any:
    return json.dumps(text)[1:-1]
