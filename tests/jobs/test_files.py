"""Values, exports and reports over HTTP."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from api.http.files import attachment, one_range, takes_gzip
from attribution.report import html, markdown
from attribution.report.compare import read_report
from schema.ids import hash_value, make_id
from tests.graph_files import GraphFile, conversation
from tests.jobs.asking import done, ended, send, small, start
from tests.server.running import RunningServer

pytestmark = pytest.mark.one_engine

BUFFER = "message-buffer"


@dataclass(frozen=True)
class Stored:
    """An imported graph."""

    graph: GraphFile
    trace_id: str

    def variable_id(self, key: str) -> str:
        return make_id("Variable", self.trace_id, key)


@pytest.fixture(scope="module")
def stored(server: RunningServer) -> Stored:
    """A graph with values of some kilobytes, and one that browsers would take for a page."""
    graph = conversation(messages=30, questions=6, buffer_characters=20_000, graph_id=f"graph-{uuid4().hex}")
    graph.variable("<page>", "<script>alert('ünï')</script>", "message")
    with server.client("writer") as writer:
        return Stored(graph, done(writer, send(writer, graph))["traceId"])


class Value:
    """A value that a client can ask for."""

    def __init__(self, client: httpx.Client, variable_id: str) -> None:
        self.client = client
        self.path = f"/v1/values/{variable_id}"

    def get(self, **headers: str) -> httpx.Response:
        return self.client.get(self.path, headers={key.replace("_", "-"): value for key, value in headers.items()})


def test_a_whole_value(reader: httpx.Client, stored: Stored) -> None:
    node = [node for node in stored.graph.nodes.values() if node["name"] == BUFFER][-1]
    text = node["value"].encode()
    assert len(text) > 3_000
    value = Value(reader, stored.variable_id(node["full_node_id"]))
    answer = value.get()
    assert (answer.status_code, answer.content) == (200, text)
    assert answer.headers["ETag"] == f'"{hash_value(text)}"'
    assert answer.headers["Content-Length"] == str(len(text))
    for headers in ({"If_None_Match": answer.headers["ETag"]}, {"If_None_Match": f'"x", W/{answer.headers["ETag"]}'}):
        again = value.get(**headers)
        assert (again.status_code, again.content) == (304, b"")
    assert value.get(If_None_Match='"other"').content == text
    assert value.get(If_None_Match="*").status_code == 304


def test_parts_of_a_value(reader: httpx.Client, stored: Stored) -> None:
    node = [node for node in stored.graph.nodes.values() if node["name"] == BUFFER][-1]
    text, size = node["value"].encode(), len(node["value"].encode())
    value = Value(reader, stored.variable_id(node["full_node_id"]))
    for asked, part in {
        "bytes=0-9": slice(0, 10),
        "bytes=100-": slice(100, size),
        "bytes=-7": slice(size - 7, size),
        f"bytes={size - 1}-{size + 50}": slice(size - 1, size),
        f"bytes=-{size * 2}": slice(0, size),
    }.items():
        answer = value.get(Range=asked)
        assert (answer.status_code, answer.content) == (206, text[part])
        assert answer.headers["Content-Range"] == f"bytes {part.start}-{part.stop - 1}/{size}"
    for asked in ("bytes=0-1,5-6", "lines=1-2", "bytes=9-3", "bytes=-", f"bytes={'9' * 50}-"):
        answer = value.get(Range=asked)
        assert (answer.status_code, answer.content) == (200, text)
    for asked in (f"bytes={size}-", "bytes=-0", f"bytes={size + 5}-{size + 9}"):
        answer = value.get(Range=asked)
        assert answer.status_code == 416
        assert answer.headers["Content-Range"] == f"bytes */{size}"
        assert answer.headers["Content-Type"] == "application/problem+json"
    etag = value.get().headers["ETag"]
    assert value.get(Range="bytes=0-0", If_Range=etag).content == text[:1]
    assert value.get(Range="bytes=0-0", If_Range='"older"').content == text


def test_a_value_is_no_page(reader: httpx.Client, stored: Stored) -> None:
    node = next(node for node in stored.graph.nodes.values() if node["name"] == "<page>")
    answer = Value(reader, stored.variable_id(node["full_node_id"])).get()
    assert answer.content == node["value"].encode()
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="page"')
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert "html" not in answer.headers["Content-Type"]


def test_what_is_not_there(reader: httpx.Client, stored: Stored) -> None:
    for path in (f"/v1/values/{'0' * 32}", f"/v1/export/{'0' * 32}", f"/v1/jobs/{'0' * 32}", f"/v1/reports/{'0' * 32}"):
        answer = reader.get(path)
        assert answer.status_code == 404
        assert answer.headers["Content-Type"] == "application/problem+json"
    assert reader.get(f"/v1/values/{stored.trace_id}").status_code == 404


def test_an_export(reader: httpx.Client, stored: Stored) -> None:
    for reference in (stored.trace_id, stored.trace_id[:16], stored.graph.graph_id):
        plain = reader.get(f"/v1/export/{reference}", headers={"Accept-Encoding": "identity"})
        assert plain.content == stored.graph.as_bytes()
        assert "Content-Encoding" not in plain.headers
        assert plain.headers["Content-Disposition"] == f'attachment; filename="{stored.graph.graph_id}.json"'
    with reader.stream("GET", f"/v1/export/{stored.trace_id}", headers={"Accept-Encoding": "br, gzip"}) as packed:
        assert packed.headers["Content-Encoding"] == "gzip"
        assert packed.headers["Vary"] == "Accept-Encoding"
        assert gzip.decompress(b"".join(packed.iter_raw())) == stored.graph.as_bytes()


def test_a_report(writer: httpx.Client, reader: httpx.Client, stored: Stored, tmp_path: Path) -> None:
    verdicts = done(writer, start(writer, "attributions", traceId=stored.trace_id))
    assert verdicts["failures"] == 2
    assert sum(verdicts["errorTypes"].values()) + verdicts["abstained"] == 2
    assert len(set(verdicts["attributionIds"])) == 2
    assert verdicts["cached"] == 0
    again = done(writer, start(writer, "attributions", traceId=stored.trace_id))
    assert again == verdicts | {"cached": 2}
    receipt = start(writer, "reports", traceIds=[stored.trace_id], source="flow")
    result = done(writer, receipt)
    assert result["totals"]["failures"] == 2
    path = f"/v1/reports/{receipt['id']}"
    file = tmp_path / "report.json"
    file.write_bytes(reader.get(path).content)
    data = read_report(file)
    assert data.scope.traces[0].id == stored.trace_id
    page = reader.get(path, params={"format": "html"})
    assert page.text == html.render(data)
    assert page.headers["Content-Type"].startswith("text/html")
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")
    assert "script-src" not in policy
    text = reader.get(path, params={"format": "md"})
    assert text.text == markdown.render(data)
    assert text.headers["Content-Disposition"].startswith("attachment")
    assert reader.get(path, params={"format": "exe"}).status_code == 422
    wrong = ended(writer, start(writer, "reports", traceIds=[stored.trace_id], source="nobody"))
    assert (wrong["state"], "nobody" in wrong["error"]) == ("failed", True)
    there = reader.get(f"/v1/reports/{wrong['id']}")
    assert there.status_code == 409
    assert "failed" in there.json()["detail"]


def test_what_a_job_can_not_be_about(writer: httpx.Client, reader: httpx.Client, stored: Stored) -> None:
    def refused(client: httpx.Client, what: str, status: int, **request: object) -> str:
        answer = client.post(f"/v1/{what}", json=request)
        assert answer.status_code == status, answer.text
        return str(answer.json()["detail"])

    refused(reader, "attributions", 403)
    refused(reader, "reports", 403)
    refused(writer, "attributions", 404, failureIds=["0" * 32])
    refused(writer, "reports", 404, traceIds=["0" * 32])
    refused(writer, "attributions", 422, failureIds=["0" * 32], traceId=stored.trace_id)
    refused(writer, "attributions", 422, method="magic")
    refused(writer, "attributions", 422, failure_ids=[])
    assert "MEMTRACE_LLM_" in refused(writer, "attributions", 400, method="llm")
    imported = send(writer, small(f"graph-{uuid4().hex}"))
    assert reader.get(f"/v1/reports/{imported['id']}").status_code == 404
    assert reader.delete(f"/v1/jobs/{imported['id']}").status_code == 403


def test_ranges() -> None:
    assert one_range(None, 10) is None
    assert one_range("bytes=2-4", 10) == (2, 5)
    assert one_range("bytes=-20", 10) == (0, 10)
    assert one_range("bytes=٣-4", 10) is None
    for header, size in (("bytes=10-", 10), ("bytes=-0", 10), ("bytes=0-0", 0), ("bytes=-1", 0)):
        with pytest.raises(ValueError, match="bytes"):
            one_range(header, size)


def test_whether_gzip_is_taken() -> None:
    assert all(takes_gzip(header) for header in ("gzip", "br, GZIP;q=0.5", "*", "deflate,x-gzip"))
    assert not any(takes_gzip(header) for header in ("", "br", "gzip;q=0", "gzip; q=0.000", "identity"))


def test_names_of_files() -> None:
    assert attachment("a b\r\nSet-Cookie: x")["Content-Disposition"].startswith('attachment; filename="a_b_Set-Cookie')
    assert "\r" not in attachment("a\r\nb")["Content-Disposition"]
    assert attachment("ünï")["Content-Disposition"] == "attachment; filename=\"n\"; filename*=UTF-8''%C3%BCn%C3%AF"
    assert attachment("\ud800")["Content-Disposition"].endswith("''%3F")
