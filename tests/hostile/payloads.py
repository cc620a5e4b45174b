"""Hostile bodies: each is quick to write, and slow or large to read for a program that is not careful."""

from __future__ import annotations

from collections.abc import Callable

_TEXTS: dict[str, Callable[[int], str]] = {
    "unclosed quotes": lambda size: '{"query":"' + '"' * size,
    "quotes in a string": lambda size: '{"query":"' + '\\"' * (size // 2) + '"}',
    "backslashes": lambda size: '{"query":"' + "\\" * size,
    "deep lists": lambda size: "[" * size,
    "deep lists that end": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "deep objects": lambda size: '{"a":' * (size // 5),
    "deep objects that end": lambda size: '{"a":' * (size // 6) + "1" + "}" * (size // 6),
    "unknown members": lambda size: "{" + ",".join(f'"{number}":1' for number in range(size // 10)) + "}",
    "one member many times": lambda size: "{" + ",".join(['"query":1'] * (size // 10)) + "}",
    "empty lists": lambda size: '{"variables":{"a":[' + "[]," * (size // 3) + "[]]}}",
    "digits": lambda size: '{"query":' + "9" * size + "}",
    "exponent": lambda size: '{"query":1e' + "9" * size + "}",
    "spaces": lambda size: " " * size,
    "spaces in a string": lambda size: '{"query":"' + " " * size + '"}',
    "line ends": lambda size: "\n" * size,
    "half surrogates": lambda size: '{"query":"' + "\\ud800" * (size // 6) + '"}',
    "nulls": lambda size: "\0" * size,
    "fields": lambda size: '{"query":"{' + "a " * (size // 2) + '}"}',
    "open braces": lambda size: '{"query":"' + "{a" * (size // 2) + '"}',
    "ampersands": lambda size: "&" * size,
    "fields of a form": lambda size: "a=1&" * (size // 4),
    "percent signs": lambda size: "key=" + "%" * size,
    "empty objects by line": lambda size: "{}\n" * (size // 3),
    "boundaries": lambda size: "--x\r\n" * (size // 5),
}


def _as_bytes(make: Callable[[int], str]) -> Callable[[int], bytes]:
    return lambda size: make(size).encode()


PAYLOADS: dict[str, Callable[[int], bytes]] = {name: _as_bytes(make) for name, make in _TEXTS.items()}
"""Makers of bodies of about so many bytes, by name."""

STORED: dict[str, str] = {
    "spaces": "a" + " " * 19_900 + "b",
    "commas": "a, " * 6_000,
    "ands": "a and " * 4_000,
    "digits": "1" * 19_000,
    "numbers": "1,000,000 " * 1_900,
    "dates": "on 5 May 2023 at 12:30 " * 800,
    "colons": "12:" * 6_000,
    "quotes": '"' * 19_000,
    "apostrophes": "'s " * 6_000,
    "brackets": "([{" * 6_000,
    "hex": "0123456789abcdef" * 1_200,
    "line ends": "\n" * 19_000,
    "dashes": "- " * 9_500,
    "full stops": ". " * 9_500,
    "one word": "parrot " * 2_700,
    "accents": "e\u0301" * 9_500,
    "markup": "<b>" * 6_000,
    "letters": "A." * 9_500,
}
"""Texts that somebody may store, as gold answer, answer, question or message."""
