"""Spans that nobody would send: none makes the server fail, and nothing of it stays in the queue.

There are 200 requests to `/v1/traces`; with ``MEMTRACE_FUZZ_EXAMPLES``, 20 times as many as that says.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from pathlib import Path

import httpx
import hypothesis
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from ingest.otlp.media_types import PROTOBUF
from ingest.queue.journal.queue import open_journal
from tests.fuzz.spans import Request, requests
from tests.fuzz.test_doors import EXAMPLES
from tests.server.running import running, sqlite_place

REQUESTS = 20 * EXAMPLES if os.environ.get("MEMTRACE_FUZZ_EXAMPLES") else 200
_MANY = 500
_DRAIN_SECONDS = 300


def _checked(response: httpx.Response, request: Request) -> None:
    assert response.status_code in {200, 400, 413, 415}, (request, response.text)
    if response.status_code != 200:
        assert response.headers["content-type"].startswith("application/problem+json")
        assert response.json()["detail"]
        return
    assert response.headers["content-type"] == request.kind.partition(";")[0]
    if request.kind == PROTOBUF:
        answer = ExportTraceServiceResponse.FromString(response.content)
        refused, why = answer.partial_success.rejected_spans, answer.partial_success.error_message
    else:
        told = response.json().get("partialSuccess", {})
        refused, why = int(told.get("rejectedSpans", 0)), told.get("errorMessage", "")
    # Without a refused span, the message may warn of values that were cut (OTLP, "Partial Success").
    assert bool(why) or not refused, (request, response.content)
    assert refused or not why or "kept in part" in why, (request, response.content)


def test_requests(tmp_path: Path) -> None:
    statuses: Counter[int] = Counter()
    settings = {"journal": tmp_path / "journal", "event_tries": 1, "rate_limit": "1000000/second"}
    with running(sqlite_place(tmp_path), tmp_path, log_level="error", **settings) as server:
        with server.client("writer") as client:

            @hypothesis.settings(
                max_examples=REQUESTS,
                database=None,
                suppress_health_check=list(hypothesis.HealthCheck),
                phases=[hypothesis.Phase.generate],
            )
            @hypothesis.given(requests())
            def send(request: Request) -> None:
                headers = {"Content-Type": request.kind}
                if request.encoding is not None:
                    headers["Content-Encoding"] = request.encoding
                response = client.post("/v1/traces", content=request.body, headers=headers)
                statuses[response.status_code] += 1
                _checked(response, request)

            send()
            deadline = time.monotonic() + _DRAIN_SECONDS
            while "memtrace_queue_packets 0.0" not in client.get("/metrics").text:
                assert time.monotonic() < deadline, "a packet is stuck"
                time.sleep(0.05)
        assert statuses.total() >= REQUESTS
        assert statuses[200] > REQUESTS // 4
        if statuses.total() >= _MANY:
            assert statuses.keys() == {200, 400, 415}
        reasons = asyncio.run(_reasons(tmp_path / "journal", server.project))
        assert not [one for one in reasons if "unexpected" in one]
        assert server.stop() == 0
        for trouble in ("Traceback", "unexpected", '"level": "error"', '"level":"error"'):
            assert trouble not in server.log_text + server.said


async def _reasons(journal: Path, project: str) -> list[str]:
    async with await open_journal(journal, 1 << 40) as queue:
        return [letter.reason for letter in await queue.letters(project).page(limit=1_000_000)]
