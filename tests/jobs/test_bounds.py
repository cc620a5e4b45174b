"""Bounds of an upload: unpacked size, memory of the import, and depth."""

from __future__ import annotations

import gzip
import json
import lzma
import sys
import time
import tracemalloc
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import pytest
import zstandard

from api.errors import TooLargeError
from api.http.inflate import inflate
from ingest.files.inflation_check import check_unpacked
from ingest.files.opening import UnpacksTooMuchError, mapped
from schema.outside_json import MAX_DEPTH
from tests.jobs.asking import JSON, Receipt, done, ended, look, send, small
from tests.server.running import running, sqlite_place

MEBIBYTE = 1 << 20
MEMORY = 300 * MEBIBYTE
PACKINGS: list[Callable[[bytes], bytes]] = [gzip.compress, lzma.compress, zstandard.ZstdCompressor(19).compress]
NAMES = ["gzip", "xz", "zstd"]


def _graph(size: int) -> bytes:
    """A graph file of so many bytes, which are mostly one long text."""
    graph = small(f"graph-{uuid4().hex}")
    graph.variable("long", "a" * (size - len(graph.as_bytes())), "message")
    return graph.as_bytes()


@pytest.mark.parametrize("pack", PACKINGS, ids=NAMES)
def test_what_unpacks_to_too_much_is_refused_at_once(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(_graph(64 * MEBIBYTE))
    assert len(bomb) < 100_000
    # Gzip packs to a thousandth at best.
    ratio = 500 if pack is gzip.compress else 1000
    with (
        running(sqlite_place(tmp_path), tmp_path, max_inflated_ratio=ratio) as server,
        server.client("writer") as writer,
    ):
        refused = writer.post("/v1/import", content=bomb, headers=JSON)
        assert refused.status_code == 413, refused.text
        detail = refused.json()["detail"]
        assert "what the file unpacks to" in detail
        assert f"{ratio:,} times its size" in detail
        assert not [path for path in tmp_path.rglob("*") if "uploads" in str(path) and path.is_file()]
        jobs = "query($p: String!) { project(name: $p) { jobs { nodes { id } } } }"
        answer = writer.post("/graphql", json={"query": jobs, "variables": {"p": server.project}}).json()
        assert answer["data"]["project"]["jobs"]["nodes"] == []
        # Small files may be packed well: such files are accepted.
        honest = pack(_graph(12 * MEBIBYTE))
        assert len(honest) * 500 < 12 * MEBIBYTE
        assert done(writer, send(writer, honest))["created"]["Trace"] == 1


def _memory_of_children(pid: int) -> list[int]:
    """The most bytes that each child of a process has had in memory."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields["PPid"]) == pid and "VmHWM" in fields:
            found.append(int(fields["VmHWM"].split()[0]) << 10)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
def test_an_import_that_needs_too_much_memory_fails_once(tmp_path: Path) -> None:
    """Millions of empty records: each is three bytes of the file, and a hundred in memory."""
    hungry = b'{"graph_id": "g", "data": {"nodes": [' + b"{}," * (20 * MEBIBYTE // 3) + b"{}]}}"
    most = 0
    with running(sqlite_place(tmp_path), tmp_path, job_memory_bytes=MEMORY) as server:
        with server.client("writer") as writer:

            def followed(receipt: Receipt) -> Receipt:
                nonlocal most
                while (found := look(writer, receipt))["state"] in {"queued", "running"}:
                    most = max(most, *_memory_of_children(server.process.pid), 0)
                    time.sleep(0.01)
                return found

            for _ in range(2):
                found = followed(send(writer, hungry))
                assert (found["state"], found["attempts"]) == ("failed", 1), found
                assert "needs more memory than the limit of 314,572,800 bytes" in found["error"]
                assert done(writer, send(writer, small(f"graph-{uuid4().hex}")))["created"]["Trace"] == 1
        # The limit is of data; what is resident has the mapped libraries too.
        assert 0 < most < MEMORY + 64 * MEBIBYTE


def test_what_is_nested_too_deeply_fails_once(tmp_path: Path) -> None:
    """At every place that keeps what it does not know, and with depths about where Python gives up."""
    with running(sqlite_place(tmp_path), tmp_path) as server, server.client("writer") as writer:
        for at in (b'"graph_id"', b'"data": {', b'"nodes": [{', b'"metadata": {'):
            for depth in (100_000, 1_000, 980, MAX_DEPTH + 1):
                graph = json.dumps(json.loads(small(f"graph-{uuid4().hex}").as_bytes())).encode()
                assert at in graph
                start = graph.index(at) + (len(at) if at.endswith(b"{") else 0)
                deep = b'"unknown": ' + b"[" * depth + b"]" * depth
                file = (graph[:start] + deep + b", " + graph[start:]).replace(b", }", b"}")
                found = ended(writer, send(writer, file, name="deep.json"))
                assert found["attempts"] == 1, found
                if found["state"] != "done" or depth > 990:
                    assert found["state"] == "failed", found
                    assert found["error"].startswith("deep.json: ")
                    assert found["error"].endswith(("is nested too deeply", f"nested more than {MAX_DEPTH} deep"))


def _most_taken(work: Callable[[], object]) -> int:
    """The most memory of Python's that something takes, in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _zstd_bomb(size: int) -> bytes:
    """A frame whose blocks are one byte each, repeated 131,072 times."""
    blocks = size >> 17
    header = b"\x28\xb5\x2f\xfd" + bytes([0b0000_0000, 0x58])
    block = (1 << 17 << 3 | 1 << 1).to_bytes(3, "little") + b"a"
    last = (1 << 17 << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"a"
    return header + block * (blocks - 1) + last


def test_unpacking_ends_at_the_limit(tmp_path: Path) -> None:
    """A gigabyte in 32 KB: what is held on the way to the refusal is about as much as may be."""
    bomb = _zstd_bomb(1 << 30)
    assert len(bomb) < 40_000

    def request() -> None:
        with pytest.raises(TooLargeError):
            inflate(bomb, "zstd", 8 * MEBIBYTE)

    assert _most_taken(request) < 20 * MEBIBYTE
    file = tmp_path / "bomb"
    file.write_bytes(bomb)

    def imported() -> None:
        with pytest.raises(UnpacksTooMuchError), mapped(file, 200 * MEBIBYTE):
            pass

    def looked() -> None:
        with pytest.raises(UnpacksTooMuchError):
            check_unpacked(BytesIO(bomb), "", 200 * MEBIBYTE, 1 << 40)

    for work in (imported, looked):
        assert _most_taken(work) < 80 * MEBIBYTE


@pytest.mark.parametrize("pack", PACKINGS, ids=NAMES)
def test_a_look_finds_what_unpacking_finds(pack: Callable[[bytes], bytes]) -> None:
    """Also in files of several members, and to the byte."""
    text = bytes(range(256)) * 4000
    packed = pack(text[:1000]) + pack(b"") + pack(text[1000:])
    check_unpacked(BytesIO(packed), "", len(text), 1 << 40)
    with pytest.raises(UnpacksTooMuchError):
        check_unpacked(BytesIO(packed), "", len(text) - 1, 1 << 40)
    # The import reports damaged files and files with a million members.
    check_unpacked(BytesIO(packed[:-9]), "", len(text), 1 << 40)
    check_unpacked(BytesIO(pack(b"") * 5000 + packed), "", 10, 1 << 40)
    check_unpacked(BytesIO(b"{}"), "", 1, 1)
