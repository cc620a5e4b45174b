"""Strange JSON: no object, deep, with numbers, moments and texts at the ends of what can be written."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NUMBERS: list[str] = [
    *("0", "-0", "1e999", "-1e999", "1e-999", "1.7976931348623157e308", "NaN", "Infinity", "-Infinity", "0.1e1"),
    *(str(sign * (2**bits + more)) for bits in (31, 32, 53, 63, 64, 128) for more in (-1, 0, 1) for sign in (1, -1)),
    *("9" * digits for digits in (400, 4300, 4301, 20_000)),
]
"""As they stand in JSON; some of them may not."""

MOMENTS: list[str] = [
    *("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59.999999Z"),
    *("0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "-0001-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-W01-1"),
    *("2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+23:59:59.999999", "2026-01-01T24:00:00Z", "2026-01-01", "now"),
    *(
        "2026-01-01T00:00:60Z",
        "1969-12-31T23:59:59Z",
        "２０２６-01-01T00:00:00Z",
        "",
        "\ud800",
        "2026-01-01T00:00:00\x00Z",
    ),
]

TEXTS: list[str] = [
    *("\ud800", "\udfff", "a\udc80b", "\ud83d\ude00", "\x00", "\uffff", "\U0010ffff", "\u202e", "\r\n", "\x1b[2J"),
    *("'", '"', "\\", "%", "../..", "${jndi:x}", "x" * 20_000, "é" * 16, "e\u0301" * 16, "\u0600" * 32, " ", ""),
]


def deep(depth: int) -> str:
    """Lists or objects inside each other, as JSON."""
    if depth % 2:
        return "[" * depth + "]" * depth
    return '{"a":' * depth + "null" + "}" * depth


def values() -> st.SearchStrategy[str]:
    """Texts of one value; most are valid JSON."""
    texts = st.one_of(st.sampled_from(TEXTS + MOMENTS), st.text(st.characters(exclude_categories=[]), max_size=40))
    plain = st.one_of(
        st.sampled_from(["null", "true", "false", "[]", "{}", *NUMBERS]),
        texts.map(json.dumps),
        st.integers().map(str),
        st.floats().map(json.dumps),
        st.sampled_from([10, 49, 50, 51, 52, 300, 1000, 5000, 20_000]).map(deep),
    )
    return st.recursive(
        plain,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4).map(lambda found: f"[{','.join(found)}]"),
            st.dictionaries(texts, inner, max_size=4).map(_object),
        ),
        max_leaves=6,
    )


def bodies(documents: list[tuple[str, dict[str, Any]]]) -> st.SearchStrategy[str]:
    """Bodies of GraphQL requests: documents with strange values for their variables, and what is no request at all.

    Args:
        documents: pairs of document and variables; one variable is replaced.
    """

    def request(chosen: tuple[str, dict[str, Any]], which: int, value: str, more: dict[str, str]) -> str:
        document, variables = chosen
        said = {name: json.dumps(given) for name, given in variables.items()}
        if said:
            said[sorted(said)[which % len(said)]] = value
        return _object({"query": json.dumps(document), "variables": _object(said)} | more)

    members = st.sampled_from(["query", "variables", "operationName", "extensions", "id", "map", "more"])
    more = st.dictionaries(members, values(), max_size=1)
    requests = st.builds(request, st.sampled_from(documents), st.integers(0, 9), values(), more)
    few = st.dictionaries(members, values(), max_size=3).map(_object)
    cut = st.builds(lambda body, end: body[:end], requests, st.integers(0, 200))
    return st.one_of(requests, requests, requests, few, values(), cut)


def _object(members: dict[str, str]) -> str:
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in members.items()) + "}"
