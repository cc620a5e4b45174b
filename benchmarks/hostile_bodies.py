"""What a hostile client sends: small requests that cause much work."""

from __future__ import annotations

import json
import secrets
import string
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import zstandard

_TIME = datetime(2026, 1, 1, tzinfo=UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
LARGEST = "q3"
_QUARTER = 14 << 20
"""Bytes of a quarter of the largest value: an event has at most 16 MiB."""

_INTROSPECTION = """{ types { name description fields(includeDeprecated: true) { name description
  args { name type { name } } type { name kind ofType { name } } } } }"""


def lines(events: Iterable[dict[str, Any]]) -> bytes:
    """Events as a body of packed lines."""
    body = b"\n".join(json.dumps(event, separators=(",", ":")).encode() for event in events)
    return zstandard.ZstdCompressor(level=3).compress(body)


def event(type_: str, trace: str, **said: Any) -> dict[str, Any]:
    """A wire event."""
    return {"v": 1, "type": type_, "trace": trace, "time": _TIME} | said


def message(trace: str, name: str, value: str, **said: Any) -> dict[str, Any]:
    """The event of a message."""
    return event(
        "variable",
        trace,
        variable=name,
        name=name,
        kind="Message",
        version=0,
        value=value,
        mediaType="text/plain",
        **said,
    )


def attribute_flood() -> bytes:
    """20,000 events of one trace, with 1 KB of new attributes each."""
    return lines(event("trace", "flood", attributes={f"k{i}": "x" * 1000}) for i in range(20_000))


def attribute_heap() -> list[bytes]:
    """An operation with about 10 MB of attributes, and its end in a request of its own."""
    started = event(
        "operationStarted", "heap", operation="o", name="o", kind="Other", attributes={"a": "x" * 10_000_000}
    )
    ended = event("operationEnded", "heap", operation="o", status="ok", attributes={"b": 1})
    return [lines([started]), lines([ended])]


def largest(trace: str) -> Iterator[bytes]:
    """Requests that make ``LARGEST``, a value of 56 MiB, each the next quarter of it."""
    for number in range(4):
        base = {"variable": f"q{number - 1}", "kept": number * _QUARTER, "size": (number + 1) * _QUARTER}
        yield lines([message(trace, f"q{number}", "abcd"[number] * _QUARTER, **({"base": base} if number else {}))])


def amplified(trace: str) -> Iterator[bytes]:
    """After the largest value, for ever, requests of 4 events that each rebuild it."""
    yield from largest(trace)
    base = {"variable": LARGEST, "kept": 4 * _QUARTER, "size": 4 * _QUARTER + 8}
    while True:
        yield lines(message(trace, name := secrets.token_hex(4), name, base=base) for _ in range(4))


def introspection() -> bytes:
    """The whole schema, 30 times."""
    return json.dumps({"query": "{" + " ".join(f"a{i}: __schema {_INTROSPECTION}" for i in range(30)) + "}"}).encode()


def crafted_texts() -> tuple[str, str]:
    """Two texts of 18 KB in lines of a letter, which have no order in common: the worst for a diff."""
    letters = string.ascii_letters
    one = [letters[i * 7 % 52] for i in range(3900)]
    other = [letters[i * i % 52] for i in range(3900)]
    return "\n".join(line * 2 for line in one), "\n".join(line * 2 for line in other)


def diffs(project: str, before: str, after: str) -> bytes:
    """The same two values compared 30 times."""
    query = " ".join(f"a{i}: diff(before: $b, after: $a) {{ unified }}" for i in range(30))
    document = f"query($p: String!, $b: ID!, $a: ID!) {{ project(name: $p) {{ {query} }} }}"
    return json.dumps({"query": document, "variables": {"p": project, "b": before, "a": after}}).encode()


def pages(count: int) -> list[dict[str, Any]]:
    """Events of a trace with so many messages, each from an operation of its own."""
    made = [event("operationStarted", "pages", operation=f"o{i}", name="o", kind="Other") for i in range(count)]
    return made + [message("pages", f"m{i}", f"{i}", operation=f"o{i}") for i in range(count)]


def large_answer() -> bytes:
    """The same page of 500 messages 28 times, each with things that are looked up for it: almost all that may be."""
    page = "variables(first: 500) { nodes { id name preview trace { name } operation { id name } } }"
    query = " ".join(f"a{i}: {page}" for i in range(28))
    return json.dumps({"query": f"{{ project {{ traces(first: 1) {{ nodes {{ {query} }} }} }} }}"}).encode()


def bomb() -> bytes:
    """A graph file of a few KB that unpacks to 64 MiB, all of it in one list."""
    head = b'{"graph_id":"bomb","data":{"nodes":['
    return zstandard.ZstdCompressor(level=19).compress(head + b"[],[]," * ((64 << 20) // 6) + b"[]]}}")
