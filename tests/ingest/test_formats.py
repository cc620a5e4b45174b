"""Formats of files: each file is recognised by its first bytes, and each trace is written in its own format."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.files.opening import first_keys
from ingest.files.registry import FORMATS, HEAD_BYTES, find_files, format_of_file, format_of_trace
from ingest.files.smartcomment.format import Smartcomment
from ingest.files.wire.format import WireEvents
from schema.errors import InputError
from schema.models import NO_ATTRIBUTES, Trace
from tests.data import SAMPLE
from tests.queue.sets import event_line

EVENT = event_line("trace", "t", name="an agent")
VARIABLE = {"name": "m", "kind": "Message", "version": 0, "value": "x" * HEAD_BYTES, "mediaType": "text/plain"}

HEADS: list[tuple[str, bytes, type]] = [
    ("a graph", SAMPLE.read_bytes(), Smartcomment),
    ("a graph on one line", json.dumps(json.loads(SAMPLE.read_bytes())).encode(), Smartcomment),
    ("a graph that lacks its id", b'{"data": {}}', Smartcomment),
    ("a graph with other keys first", b'{"type": "x", "v": 1, "graph_id": "g", "data": {}}', Smartcomment),
    ("a graph after much else", b'{"metadata": {"trace": [1, {"type": 2}]}, "graph_id": "g"}', Smartcomment),
    ("an event", EVENT, WireEvents),
    ("events", EVENT + b"\n" + EVENT, WireEvents),
    ("events after empty lines", b"\r\n\n " + EVENT, WireEvents),
    ("an event with its keys in another order", b'{"trace":"t","name":"n","type":"trace"}', WireEvents),
    ("an event longer than the head", event_line("variable", "t", variable="m", **VARIABLE), WireEvents),
    ("an event of another version", b'{"v":2,"type":"x","trace":"t"}', WireEvents),
]


@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in HEADS], ids=[case[0] for case in HEADS])
def test_a_file_is_of_one_format(data: bytes, expected: type) -> None:
    head = data[:HEAD_BYTES]
    assert [type(one) for one in FORMATS if one.recognises(head)] == [expected]
    assert isinstance(format_of_file("a file", head), expected)


@pytest.mark.parametrize("head", [b"[]", b"{}", b'{"type":', b'{"a": "gr', b'"graph_id"'])
def test_a_file_of_no_format(head: bytes) -> None:
    with pytest.raises(InputError, match=r"^a file: is of no format that is known") as caught:
        format_of_file("a file", head)
    assert all(one.name in str(caught.value) for one in FORMATS)


@pytest.mark.parametrize(
    ("head", "place"),
    [
        (b"graph_id: x", "line 1, column 1"),
        (b"{'graph_id': 'x'}", "line 1, column 2"),
        (b'{"a": 1,\n "b" 2}', "line 2, column 6"),
        (b"\xff\xfe{\x00", "line 1, column 1"),
    ],
)
def test_a_file_that_is_no_json(head: bytes, place: str) -> None:
    with pytest.raises(InputError, match=rf"^a file: {place}: is not JSON"):
        format_of_file("a file", head)


def test_the_keys_of_a_head() -> None:
    assert first_keys(b' { "a" : 1 , "b": {"c": [2]}, "d": "cut o') == ["a", "b", "d"]
    assert first_keys(b'{"a": 1}{"b": 2}') == ["a"]
    assert first_keys(b'{"a": 1, 2: 3}') == ["a"]
    assert first_keys('{"é": "ü'.encode()[:-1]) == ["é"]


def test_formats_have_names_sources_and_suffixes_of_their_own() -> None:
    for one in ("name", "source", "suffix", "media_type"):
        assert len({getattr(format_, one) for format_ in FORMATS}) == len(FORMATS)


def test_a_trace_is_written_in_the_format_of_its_source() -> None:
    trace = Trace("id", "p", "graph-1", None, "smartcomment", None, NO_ATTRIBUTES)
    assert isinstance(format_of_trace(trace), Smartcomment)
    for source in ("memtrace", "somebody"):
        with pytest.raises(InputError, match=f"trace graph-1: was recorded by {source}, which has no file format"):
            format_of_trace(replace(trace, source=source))


def test_a_folder_stands_for_the_files_of_all_formats(tmp_path: Path) -> None:
    names = {"a.json", "b.json.gz", "c.ndjson", "d.ndjson.zst"}
    for name in (*names, "labels.jsonl", "notes.txt", "json"):
        (tmp_path / name).touch()
    assert {path.name for path in find_files([tmp_path])} == names
