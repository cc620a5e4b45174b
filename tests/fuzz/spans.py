"""Strange requests of OpenTelemetry: spans of every dialect, changed, damaged, packed in right and wrong ways."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import zstandard
from hypothesis import strategies as st

from ingest.otlp.media_types import JSON, PROTOBUF
from tests.otlp.dialects import examples
from tests.otlp.spans import Sent, as_json, conversation, protobuf

TRACE = "@trace"
"""A placeholder for the name of a trace that the test chooses."""

_SPANS = [*conversation(), *(span for span, _ in examples(TRACE))]
_KEYS = sorted(
    {key for span in _SPANS for key in span.said} | {"memtrace.events", "memtrace.trace", "", "a.0.b", "a.-1"}
)
_NAMED = sorted({word for span in _SPANS for word in (span.word, span.trace)})

_texts = st.sampled_from(
    ["", "[", "[]", "{}", "null", "[[[1]]]", '{"role": 1}', "\0", "\ufffe", "x" * 3_000]
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_values = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | _texts | _texts.map(json.dumps),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "id"]), inner),
    max_leaves=6,
)
_names = st.sampled_from(_NAMED)


@dataclass(frozen=True)
class Request:
    """A request.

    Attributes:
        body: as it is sent.
        kind: its content type.
        encoding: its content encoding; None names none.
    """

    body: bytes
    kind: str
    encoding: str | None


@st.composite
def _spans(draw: st.DrawFn) -> Sent:
    span = draw(st.sampled_from(_SPANS))
    changed = draw(st.dictionaries(st.sampled_from(_KEYS), _values, max_size=4))
    return replace(
        span,
        word=draw(st.just(span.word) | _names),
        trace=draw(st.just(span.trace) | _names),
        parent=draw(st.just(span.parent) | st.none() | _names),
        start=draw(st.just(span.start) | st.integers(-(10**6), 10**6)),
        end=draw(st.just(span.end) | st.integers(-(10**6), 10**6)),
        said=span.said | changed,
        links=tuple(draw(st.lists(st.tuples(_names, _names), max_size=2))),
        moments=tuple(draw(st.lists(st.tuples(_texts, st.dictionaries(st.sampled_from(_KEYS), _values)), max_size=2))),
        error=draw(st.none() | _texts),
    )


def _bytes_changed(body: bytes, draw: st.DrawFn) -> bytes:
    changed = bytearray(body)
    for place in draw(st.lists(st.integers(0, max(0, len(body) - 1)), max_size=3)) if body else ():
        changed[place] = draw(st.integers(0, 255))
    return bytes(changed[: draw(st.just(len(body)) | st.integers(0, len(body)))])


def _tree_changed(body: bytes, draw: st.DrawFn) -> bytes:
    """JSON with one value replaced."""
    found = json.loads(body)
    here, places = found, list[tuple[Any, Any]]()
    stack: list[Any] = [here]
    while stack:
        one = stack.pop()
        for key in list(one) if isinstance(one, dict) else range(len(one)):
            places.append((one, key))
            if isinstance(one[key], dict | list):
                stack.append(one[key])
    if places:
        of, key = places[draw(st.integers(0, len(places) - 1))]
        of[key] = draw(_values)
    return json.dumps(found).encode()


_Pack = tuple[Callable[[bytes], bytes], str | None]

_PLAIN: list[_Pack] = [(bytes, None)]
_PACKED: list[_Pack] = [(gzip.compress, "gzip"), (zlib.compress, "deflate"), (zstandard.compress, "zstd")]
_WRONG: list[_Pack] = [
    (gzip.compress, "deflate"),
    (lambda body: zlib.compress(body)[2:-4], "deflate"),
    (lambda body: gzip.compress(body)[:-5], "gzip"),
    (bytes, "gzip"),
    (bytes, "br"),
]
_PACKS = [*_PLAIN * 6, *_PACKED * 2, *_WRONG]
_KINDS = [PROTOBUF] * 4 + [JSON] * 4 + [f"{JSON}; charset=utf-8", "text/plain", ""]


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Requests to ``/v1/traces``."""
    spans = draw(st.lists(_spans(), max_size=4))
    is_json = draw(st.booleans())
    body = as_json(spans) if is_json else protobuf(spans)
    if draw(st.integers(0, 2)) == 0:
        body = _tree_changed(body, draw) if is_json and draw(st.booleans()) else _bytes_changed(body, draw)
    kinds = [JSON if is_json else PROTOBUF] * 6 + _KINDS
    pack, encoding = draw(st.sampled_from(_PACKS))
    return Request(pack(body), draw(st.sampled_from(kinds)), encoding)
