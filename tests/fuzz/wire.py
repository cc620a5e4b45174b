"""Strange events: generated from the schema of the wire, and then damaged."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st
from memtrace.events import json_schema

TRACES = ("@one", "@two", "@three")
"""Placeholders for names of traces that a test chooses, so that several requests write to the same traces."""

_SCHEMA = json_schema()
_LETTERS = {
    "operation": "o",
    "parent": "o",
    "variable": "v",
    "query": "v",
    "answer": "v",
    "question": "v",
    "source": "v",
    "target": "v",
    "revisionOf": "v",
    "session": "s",
    "derivation": "d",
}
_NUMBERED = 4
_IDS = [f"{letter}{number}" for letter in "ovsd" for number in range(_NUMBERED)]
_ODD_TEXTS = [
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    "e\u0301",
    "\u00e9",
    "\u202egnp",
    "\ufeff",
    "\ufffe\uffff",
    "\U0010ffff",
    "\u2028\u2029\x85",
    "line\nend\r\n",
    " ",
    "'; DROP TABLE variable; --",
    "$x:{}[]()",
    "..//..%00",
    "x" * 200,
    "x" * 201,
    "\U0001f9e0" * 200,
]
_TIMES = [
    "2026-01-01T00:00:00.000000Z",
    "2026-01-01T00:00:00.000001Z",
    "0001-01-01T00:00:00.000000Z",
    "9999-12-31T23:59:59.999999Z",
    "1969-12-31T23:59:59.999999Z",
]
_NUMBERS = [0, 1, 2, 2**31, 2**53 - 1]

_odd_text = st.sampled_from(_ODD_TEXTS) | st.text(max_size=8)
_long_text = st.builds(
    lambda piece, times: piece * times,
    st.sampled_from(["x", "\u00e9", "\U0001f9e0\0", "a b "]),
    st.sampled_from([500, 501, 700, 2047, 2049, 9000]),
)
_value = st.sampled_from(["", "I have a dog.", "[1, 2]"]) | _odd_text | _long_text
_number = (
    st.sampled_from([1e308, 5e-324, -0.0, 0.5, 2**63, -(2**64), 10**400]) | st.integers() | st.floats(allow_nan=False)
)
_leaf = st.none() | st.booleans() | _number | _odd_text
_json = st.recursive(
    _leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_odd_text, inner, max_size=3), max_leaves=6
)
_attributes: st.SearchStrategy[dict[str, Any]] = (
    st.just({}) | st.just({}) | st.dictionaries(_odd_text, _json, max_size=3)
)


def _deep(depth: int) -> Any:
    found: Any = 0
    for level in range(depth):
        found = [found] if level % 2 else {"a": found}
    return found


_JUNK = [None, True, 0, -1, 1.0, 1.5, 2**53, 2**64, "", "1", [], [[]], {}, {"v": 1}, _deep(100), _deep(300), "\ud800"]
_TAILS = [
    '"a":1e999',
    '"a":NaN',
    '"a":-Infinity',
    '"a":' + "9" * 4000,
    '"a":' + "9" * 5000,
    '"a":' + "[" * 200 + "]" * 200,
    '"a":' + "[" * 3000 + "]" * 3000,
    '"a":' + "[" * 100_000,
    '"a":{"a":1,"a":2}',
    '"\\u0000":"\\ud83d"',
]


def in_traces(text: bytes, token: str) -> bytes:
    """Events in traces of this name."""
    for trace in TRACES:
        text = text.replace(trace.encode(), f"{token}-{trace[1:]}".encode())
    return text


def lines(max_size: int = 12) -> st.SearchStrategy[list[bytes]]:
    """Events, each as JSON; about one in seven is damaged."""
    bends = st.sampled_from([_plain] * 6 * len(_BENDS) + _BENDS)
    one = st.builds(_line, _event(), bends, st.integers(0, 2**20))
    others = st.lists(one, max_size=2) | st.lists(one, min_size=max_size // 2, max_size=max_size)
    return st.builds(lambda first, more: first + more, st.sampled_from([[], _ground(), _ground()]), others)


def _ground() -> list[bytes]:
    """The elements that later events refer to."""
    head = {"v": 1, "trace": TRACES[0], "time": _TIMES[0]}
    variable = {"type": "variable", "kind": "Message", "version": 0, "value": "", "mediaType": "text/plain"}
    found = [head | {"type": "operationStarted", "operation": f"o{n}", "name": "o", "kind": "Other"} for n in range(3)]
    found += [head | variable | {"variable": f"v{n}", "name": "v"} for n in range(3)]
    return [_written(event) for event in found]


_WEIGHTS = {"VariableEvent": 4, "OperationStarted": 2, "Derived": 4, "Used": 2}


@cache
def _event() -> st.SearchStrategy[dict[str, Any]]:
    """An event that the schema usually allows. It shares a few traces and a few names with the others."""
    return st.sampled_from([name for name in _types() for _ in range(_WEIGHTS.get(name, 1))]).flatmap(_of)


@cache
def _types() -> list[str]:
    return [one["$ref"].rpartition("/")[2] for one in _SCHEMA["oneOf"]]


@cache
def _of(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """What the schema allows as an object of this name."""
    schema = _SCHEMA["$defs"][name]
    required = set(schema["required"]) | {"v", "type"} & schema["properties"].keys()
    fields = {key: _field(key, of) for key, of in schema["properties"].items()}
    return st.fixed_dictionaries(
        {key: of for key, of in fields.items() if key in required},
        optional={key: of for key, of in fields.items() if key not in required},
    )


def _field(name: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    special: dict[str, st.SearchStrategy[Any]] = {
        "trace": st.sampled_from(TRACES) | st.just(TRACES[0]) | st.just(TRACES[0]),
        "time": st.sampled_from(_TIMES),
        "value": _value,
        "attributes": _attributes,
    }
    if name in _LETTERS:
        return _id(_LETTERS[name]) if "anyOf" not in schema else st.none() | _id(_LETTERS[name])
    return special[name] if name in special else _allowed(schema)


def _id(letter: str) -> st.SearchStrategy[str]:
    known = [f"{letter}{number}" for number in range(_NUMBERED)]
    return st.sampled_from(known * 20 + _IDS + _ODD_TEXTS)


def _allowed(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "anyOf" in schema:
        return st.one_of(*(_allowed(one) for one in schema["anyOf"]))
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        target = _SCHEMA["$defs"][name]
        return st.sampled_from(target["enum"]) if "enum" in target else _of(name)
    if "const" in schema:
        return st.just(schema["const"])
    if schema.get("type") == "array":
        return st.lists(_id("v") if "minLength" in schema["items"] else _odd_text, max_size=2)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    return {
        "string": _odd_text,
        "integer": st.sampled_from(_NUMBERS),
        "number": st.sampled_from([0, 1.5, -1e308]),
        "boolean": st.booleans(),
        "null": st.none(),
        "object": _attributes,
    }[schema["type"]]


T = TypeVar("T")
Bend = Callable[[dict[str, Any], int], bytes]


def _line(event: dict[str, Any], bend: Bend, chance: int) -> bytes:
    return bend(event, chance)


def _pick(of: Sequence[T], chance: int) -> T:
    return of[chance % len(of)]


def _written(event: Any) -> bytes:
    return json.dumps(event).encode()


def _plain(event: dict[str, Any], _chance: int) -> bytes:
    return _written(event)


def _with_junk(event: dict[str, Any], chance: int) -> bytes:
    return _written(event | {_pick(sorted(event), chance): _pick(_JUNK, chance // 64)})


def _with_more(event: dict[str, Any], chance: int) -> bytes:
    return _written(event | {_pick(_ODD_TEXTS, chance): _pick(_JUNK, chance // 64)})


def _without(event: dict[str, Any], chance: int) -> bytes:
    gone = _pick(sorted(event), chance)
    return _written({key: value for key, value in event.items() if key != gone})


def _of_itself(event: dict[str, Any], chance: int) -> bytes:
    """Make all references of an event name the same element."""
    names = ("operation", "parent", "variable", "query", "revisionOf", "source", "target", "derivation")
    same = _pick([*_IDS, "new"], chance)
    optional = {"variable": ("revisionOf",), "operationStarted": ("parent",)}.get(event["type"], ())
    return _written(event | {key: same for key in names if key in event or key in optional})


def _with_tail(event: dict[str, Any], chance: int) -> bytes:
    """Attributes that no library would write."""
    without = _written({key: value for key, value in event.items() if key != "attributes"})[:-1]
    return without + b',"attributes":{' + _pick(_TAILS, chance).encode() + b"}}"


def _twice(event: dict[str, Any], chance: int) -> bytes:
    """An event with a duplicate key."""
    key = _pick(sorted(event), chance)
    return b"{" + _written(key) + b":" + _written(_pick(_JUNK, chance // 64)) + b"," + _written(event)[1:]


def _cut(event: dict[str, Any], chance: int) -> bytes:
    body = _written(event)
    return body[: chance % len(body)]


def _otherwise(event: dict[str, Any], chance: int) -> bytes:
    """In other bytes than JSON's own."""
    body = _written(event)
    unescaped = json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass")
    wide = json.dumps(event).encode("utf-16")
    found = [
        b"\xef\xbb\xbf" + body,
        b"\r" + body + b"\r",
        body + body,
        unescaped,
        wide,
        wide[2:],
        b"\xff" + body,
        b"\0",
    ]
    return _pick(found, chance)


def _of_another_kind(event: dict[str, Any], chance: int) -> bytes:
    key = _pick(sorted({"v", "type", "kind", "status", "mediaType"} & event.keys()), chance)
    return _written(event | {key: _pick([0, 2, 99, 1.0, "1", "Nonsense", "\u00dcber", "variable", None], chance // 8)})


_BENDS: list[Bend] = [
    _with_junk,
    _without,
    _with_more,
    _of_itself,
    _with_tail,
    _twice,
    _cut,
    _otherwise,
    _of_another_kind,
]
