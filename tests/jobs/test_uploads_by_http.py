"""Files that are sent to be imported, and what becomes of them."""

from __future__ import annotations

import gzip
import lzma
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
import zstandard

from tests.jobs.asking import JSON, done, ended, look, send, small, start
from tests.queue.sets import closed_set
from tests.server.running import Place, RunningServer, running, sqlite_place

pytestmark = pytest.mark.one_engine


def name() -> str:
    return f"graph-{uuid4().hex}"


@pytest.mark.parametrize(
    ("media_type", "pack"),
    [
        ("application/json", bytes),
        ("application/gzip", gzip.compress),
        ("application/zstd", zstandard.ZstdCompressor().compress),
        ("application/x-xz", lzma.compress),
        ("application/octet-stream", gzip.compress),
    ],
)
def test_a_file_becomes_a_graph(writer: httpx.Client, media_type: str, pack: object) -> None:
    graph = small(name())
    assert callable(pack)
    receipt = send(writer, pack(graph.as_bytes()), name="notes.json", headers={"Content-Type": media_type})
    assert receipt["kind"] == "import"
    result = done(writer, receipt)
    assert result["file"] == "notes.json"
    assert result["variables"] == len(graph.nodes)
    assert result["operations"] == len(graph.operations)
    assert result["created"]["Trace"] == 1
    assert result["existing"] == {}
    exported = writer.get(f"/v1/export/{graph.graph_id}")
    assert exported.content == graph.as_bytes()
    assert send(writer, graph)["id"] != receipt["id"]


def test_a_file_of_events_becomes_a_graph(writer: httpx.Client) -> None:
    trace = name()
    body = b"\n".join(closed_set(trace, 4, Random(1)))
    result = done(writer, send(writer, body, name="events.ndjson", headers={"Content-Type": "application/x-ndjson"}))
    assert result["file"] == "events.ndjson"
    assert (result["created"]["Trace"], result["operations"], result["variables"]) == (1, 4, 5)
    answer = writer.get(f"/v1/export/{trace}")
    assert (answer.status_code, len(answer.content.splitlines()) > 4) == (200, True)
    again = done(writer, send(writer, answer.content, name="again.ndjson"))
    assert (again["created"], again["operations"], again["variables"]) == ({}, 4, 5)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_an_encoding_is_a_packing(writer: httpx.Client, encoding: str) -> None:
    graph = small(name())
    pack = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress}[encoding]
    receipt = send(writer, pack(graph.as_bytes()), headers={"Content-Encoding": encoding})
    assert done(writer, receipt)["variables"] == len(graph.nodes)


def test_a_second_import_adds_nothing(writer: httpx.Client) -> None:
    graph = small(name())
    first = done(writer, send(writer, graph))
    again = done(writer, send(writer, graph))
    assert again["created"] == {}
    assert again["existing"] == first["created"]


def test_a_bad_file_fails_with_the_place(writer: httpx.Client) -> None:
    graph = small(name())
    graph.edges[3]["target_full_node_id"] = "nobody"
    found = ended(writer, send(writer, graph, name="wrong.json"))
    assert found["state"] == "failed"
    assert found["error"].startswith("wrong.json: data.edges[3]")
    assert found["result"] is None
    assert found["attempts"] == 1
    assert writer.get(f"/v1/export/{graph.graph_id}").status_code == 404
    broken = ended(writer, send(writer, b"{'a': 1}", name="wrong.json"))
    assert broken["error"].startswith("wrong.json: line 1, column 2")
    cut = ended(writer, send(writer, gzip.compress(graph.as_bytes())[:-20], name="cut.gz"))
    assert cut["error"].startswith("cut.gz: the compressed file is damaged or cut off")


def test_a_conflict_fails(writer: httpx.Client) -> None:
    graph = small(name())
    done(writer, send(writer, graph))
    next(iter(graph.nodes.values()))["value"] = "another text"
    found = ended(writer, send(writer, graph, name="other.json"))
    assert found["state"] == "failed"
    assert "is stored already" in found["error"]


def test_times_are_in_the_zone_that_is_named(writer: httpx.Client) -> None:
    graph = small(name())
    done(writer, send(writer, graph, timezone="Asia/Tokyo"))
    assert writer.get(f"/v1/export/{graph.graph_id}").content == graph.as_bytes()
    answer = writer.post("/v1/import", params={"timezone": "Moon/Crater"}, content=b"{}", headers=JSON)
    assert answer.status_code == 400
    assert "Moon/Crater" in answer.json()["detail"]


def test_what_is_not_taken(writer: httpx.Client, reader: httpx.Client) -> None:
    def refused(client: httpx.Client, status: int, body: bytes = b"{}", **headers: str) -> str:
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        answer = client.post("/v1/import", content=body, headers=JSON | sent)
        assert answer.status_code == status, answer.text
        assert answer.headers["Content-Type"] == "application/problem+json"
        return str(answer.json()["detail"])

    assert "application/gzip" in refused(writer, 415, Content_Type="text/html")
    assert "gzip" in refused(writer, 415, Content_Encoding="br")
    assert "empty" in refused(writer, 400, b"")
    assert "writer" in refused(reader, 403)
    assert refused(writer, 401, Authorization="Bearer wrong")
    assert refused(writer, 422, Idempotency_Key="k" * 201)


def test_one_key_is_one_job(server: RunningServer, writer: httpx.Client) -> None:
    graph, key = small(name()), {"Idempotency-Key": uuid4().hex}
    first = send(writer, graph, headers=key)
    again = send(writer, graph, headers=key)
    assert again["id"] == first["id"]
    done(writer, first)
    late = send(writer, small(name()), headers=key)
    assert (late["id"], late["state"]) == (first["id"], "done")
    assert look(writer, late)["attempts"] == 1
    assert start(writer, "reports")["id"] != first["id"]
    reports = [writer.post("/v1/reports", json={}, headers=key).json()["id"] for _ in range(2)]
    assert reports[0] == reports[1] != first["id"]


def test_receipts_are_of_one_project(server: RunningServer, writer: httpx.Client) -> None:
    graph, key = small(name()), {"Idempotency-Key": uuid4().hex}
    receipt = send(writer, graph, headers=key)
    done(writer, receipt)
    with server.client("admin", f"{server.project}-other") as stranger:
        for path in (f"/v1/jobs/{receipt['id']}", f"/v1/reports/{receipt['id']}", f"/v1/export/{graph.graph_id}"):
            answers = [stranger.get(path), stranger.get(path, params={"project": server.project})]
            assert [answer.status_code for answer in answers] == [404, 404]
        assert stranger.delete(f"/v1/jobs/{receipt['id']}").status_code == 404
        assert stranger.post("/v1/import", params={"project": server.project}, content=b"{}").status_code == 404
        own = stranger.post("/v1/import", content=graph.as_bytes(), headers=JSON | key)
        assert own.json()["id"] != receipt["id"]
        failures = [{"failureIds": ["0" * 32]}, {"traceId": done(writer, receipt)["traceId"]}]
        for request in failures:
            assert stranger.post("/v1/attributions", json=request).status_code == 404


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with narrow limits, whose uploads can be looked at."""
    folder = tmp_path_factory.mktemp("strict")
    limits = {"max_upload_bytes": 300_000, "max_inflated_bytes": 1_000_000}
    with running(sqlite_place(folder), folder, uploads=(folder / "uploads").as_uri(), **limits) as server:
        yield server


def left(server: RunningServer) -> list[Path]:
    folder = Path(urlsplit(server.place.store).path.removeprefix("/")).parent / "uploads"
    return [path for path in (Path("/") / folder).rglob("*") if path.is_file()]


def emptied(server: RunningServer) -> bool:
    """Whether nothing waits any more; what ends a request or a job comes a little later than its answer."""
    end = time.monotonic() + 300
    while left(server) and time.monotonic() < end:
        time.sleep(0.02)
    return not left(server)


@pytest.mark.full
def test_too_large_a_file(strict: RunningServer) -> None:
    def blocks() -> Iterator[bytes]:
        for _ in range(10):
            yield b" " * 50_000

    with strict.client("writer") as client:
        said = client.post("/v1/import", content=b" " * 300_001, headers=JSON)
        unsaid = client.post("/v1/import", content=blocks(), headers=JSON)
        for answer in (said, unsaid):
            assert answer.status_code == 413
            assert "300,000" in answer.json()["detail"]
        assert client.post("/v1/import", content=b" " * 300_000, headers=JSON).status_code == 202
    assert emptied(strict)


@pytest.mark.full
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.ZstdCompressor().compress])
def test_a_bomb_is_refused(strict: RunningServer, pack: object) -> None:
    assert callable(pack)
    bomb = pack(b" " * 50_000_000)
    with strict.client("writer") as client:
        answer = client.post("/v1/import", content=bomb, headers=JSON)
        assert (answer.status_code, "1,000,000 bytes" in answer.json()["detail"]) == (413, True)
        assert emptied(strict)
        # One that is hidden behind more than a look takes is found by its import, once.
        found = ended(client, send(client, pack(b"") * 3000 + bomb, name="bomb"))
    assert (found["state"], found["attempts"]) == ("failed", 1)
    assert found["error"] == "bomb: unpacks to more than the limit of 1,000,000 bytes"
    assert emptied(strict)


def test_a_sender_who_hangs_up_leaves_nothing(strict: RunningServer) -> None:
    address = urlsplit(strict.url)
    head = (
        f"POST /v1/import HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
        f"Authorization: {strict.headers('writer')['Authorization']}\r\nContent-Length: 200000\r\n\r\n"
    )
    assert address.hostname is not None
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(head.encode() + b" " * 100_000)
        while not left(strict):
            time.sleep(0.01)
    assert emptied(strict)
    with strict.client("writer") as client:
        done(client, send(client, small(name())))
    assert emptied(strict)
    assert not [line for line in strict.log if line["level"] == "error"]


@pytest.mark.full
def test_an_interrupted_upload_is_cleaned_at_the_next_start(tmp_path: Path) -> None:
    place: Place = sqlite_place(tmp_path)
    uploads = tmp_path / "uploads"
    with running(place, tmp_path, uploads=uploads.as_uri()) as server:
        address = urlsplit(server.url)
        assert address.hostname is not None
        head = (
            f"POST /v1/import HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
            f"Authorization: {server.headers('writer')['Authorization']}\r\nContent-Length: 200000\r\n\r\n"
        )
        with socket.create_connection((address.hostname, address.port)) as connection:
            connection.sendall(head.encode() + b" " * 100_000)
            while not list(uploads.rglob("*.part")):
                time.sleep(0.01)
            server.kill()
    assert list(uploads.rglob("*.part"))
    with running(place, tmp_path, uploads=uploads.as_uri()):
        while list(uploads.rglob("*.part")):
            time.sleep(0.01)
