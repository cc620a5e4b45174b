"""JSON of strangers is read with a bound on its depth, everywhere."""

from __future__ import annotations

import ast
import json
import time
from pathlib import Path

import msgspec
import pytest

from schema.outside_json import MAX_DEPTH, JsonError, read_json

ROOT = Path(__file__).parents[1]


def _nested(depth: int) -> str:
    return '{"a":[' * (depth // 2) + "[" * (depth % 2) + "]" * (depth % 2) + "]}" * (depth // 2)


@pytest.mark.parametrize("depth", [0, 1, 2, 49, MAX_DEPTH - 1, MAX_DEPTH])
def test_what_is_not_too_deep_is_read(depth: int) -> None:
    text = f'{{"text": "[[{{", "wide": {json.dumps([[]] * 500)}, "more": {_nested(depth - 1) or 1}}}' if depth else "1"
    assert read_json(text) == read_json(text.encode()) == json.loads(text)


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, MAX_DEPTH + 2, 900, 5_000, 1_000_000])
def test_what_is_too_deep_is_refused(depth: int) -> None:
    for text in (_nested(depth), "[" * depth + "]" * depth):
        with pytest.raises(JsonError, match=f"nested more than {MAX_DEPTH} deep"):
            read_json(text)


@pytest.mark.parametrize("text", ["", "x", "[", '"', "NaN", '"\\ud800"', '"\ud800"', b"\xff", "9" * 5000, "1e999"])
def test_what_is_no_json_is_refused(text: str | bytes) -> None:
    for kind in (JsonError, ValueError, msgspec.DecodeError):
        with pytest.raises(kind):
            read_json(text)


class _Named(msgspec.Struct):
    name: str


@pytest.mark.parametrize("depth", [MAX_DEPTH, 900, 9000])
def test_members_that_a_form_does_not_know_are_not_too_deep_either(depth: int) -> None:
    assert read_json('{"name": "x", "more": [[{}]]}', _Named).name == "x"
    with pytest.raises(JsonError, match="nested more than"):
        read_json('{"name": "x", "more": %s}' % ("[" * depth + "]" * depth), _Named)
    with pytest.raises(JsonError, match="Expected `str`"):
        read_json('{"name": 5}', _Named)


def test_the_depth_is_found_in_linear_time() -> None:
    times = []
    for size in (50_000, 200_000):
        text = "[" + ",".join(["[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)] * (size // 200)) + "]"
        began = time.perf_counter()
        read_json(text)
        times.append(time.perf_counter() - began)
    assert times[1] < 16 * times[0] + 0.05


_STORED = [
    "api/graphql/answer_bytes.py",
    "api/cli/render/sheets.py",
    "api/http/reports.py",
    "api/web/pages/judging.py",
    "attribution/report/gather.py",
    "ingest/events/attributes.py",
    "ingest/exports/wire.py",
    "ingest/files/smartcomment/failures.py",
    "ingest/files/smartcomment/leftover.py",
    "ingest/queue/nats/letters.py",
    "ingest/queue/shares.py",
    "schema/models.py",
    "store/blind.py",
    "store/contract/verdict_changes.py",
    "store/shared/record_rows.py",
    "store/shared/references.py",
    "store/sqlite/rows.py",
    "store/values/object_values.py",
]
"""These read what the store holds; its depth was checked on its way in."""

_OWN = [
    "api/cli/optimize.py",
    "api/event_writer/child.py",
    "api/event_writer/process.py",
    "api/graphql/trusted.py",
    "api/jobs/child.py",
    "api/jobs/process.py",
    "api/local_servers/nats/folder.py",
    "api/local_servers/nats/process.py",
    "api/local_servers/neo4j/home.py",
    "api/web/vendor.py",
    "attribution/llm/transport/client.py",
    "attribution/llm/walk/measuring.py",
    "attribution/report/compare.py",
    "attribution/verdicts/probabilities.py",
    "optimization/harness/child.py",
    "optimization/harness/folder.py",
    "optimization/loop/evaluator.py",
    "optimization/loop/folder.py",
    "optimization/loop/recorded.py",
    "optimization/proof/confidence.py",
]
"""These read files and processes of our own: caches, locks, reports, folders of runs, messages of children."""

_OTHERS = {
    "api/graphql/requests.py": "bounds the depth of variables and extensions, more tightly",
    "ingest/events/reading.py": "what msgspec refuses goes to Pydantic, whose depth is bounded",
    "ingest/files/smartcomment/read.py": "reads parts of files as they stand, and names the part that is too deep",
    "ingest/files/smartcomment/recorded.py": "asks whether a value is JSON; too deep a value is refused with its file",
    "ingest/otlp/decoding.py": "reads the frame of a request, and refuses what is too deep",
    "schema/outside_json.py": "reads JSON for all others",
    "store/shared/failure_cursor.py": "reads a list of four plain values",
}


_READ = {"json.loads", "json.load", "from_json", "msgspec.json.decode", "msgspec.json.Decoder"}

_KEPT = {"attributes", "candidates", "draft", "event", "evidence", "losses", "proof", "result"}
"""Fields of stored elements and records whose text is JSON; its depth was checked on its way in."""


def _reads_raw(call: ast.Call) -> bool:
    """Whether a call reads JSON without a bound on its depth. Pydantic's ``validate_json`` has one of its own."""
    if ast.unparse(call.func) not in _READ:
        return False
    read = call.args[0] if call.args else None
    return not (isinstance(read, ast.Attribute) and read.attr in _KEPT)


def test_no_door_reads_json_without_a_bound() -> None:
    found = set()
    for folder in ("schema", "store", "ingest", "attribution", "optimization", "api"):
        for path in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(path.read_text("utf-8"))
            if any(isinstance(node, ast.Call) and _reads_raw(node) for node in ast.walk(tree)):
                found.add(path.relative_to(ROOT).as_posix())
    known = {*_STORED, *_OWN, *_OTHERS}
    assert found - known == set(), "read strangers' JSON with schema.outside_json.read_json"
    assert known - found == set(), "these read no JSON any more: take them off the list"
