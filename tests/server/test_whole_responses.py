"""All that the HTTP interface answers: status, headers and body of each route, and of requests that are refused."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import httpx
import pytest
import pytest_asyncio
import time_machine

from store.open import open_database
from tests.expected import compare
from tests.fixed_project import NAMES, NOW, PROJECT, TRACES, id_of, write_fixed
from tests.otlp.spans import as_json, conversation, protobuf
from tests.queue.sets import closed_set, event_line
from tests.web.inside import pages

LINES = "\n".join(one.decode() for one in closed_set("an agent", 3, Random(1)))
BROKEN = event_line("used", "t", operation="o").decode()
NDJSON, JSON, PROTOBUF = "application/x-ndjson", "application/json", "application/x-protobuf"
PROMPT, NOTE = id_of("Variable prompt"), id_of("Variable note")
LOST = TRACES[4].failures[0].id

Asked = tuple[str, str, dict[str, str], bytes]


def _sent(path: str, body: str | bytes, kind: str | None, **more: str) -> Asked:
    headers = ({"Content-Type": kind} if kind else {}) | {name.replace("_", "-"): value for name, value in more.items()}
    return "POST", path, headers, body.encode() if isinstance(body, str) else body


def _read(path: str, **more: str) -> Asked:
    return "GET", path, {name.replace("_", "-"): value for name, value in more.items()}, b""


def _json(path: str, **body: Any) -> Asked:
    return _sent(path, json.dumps(body), JSON)


def _graphql(query: str, **variables: Any) -> Asked:
    return _json("/graphql", query=query, variables=variables)


REQUESTS: dict[str, Asked] = {
    "healthz": _read("/healthz"),
    "events": _sent("/v1/events", f"{LINES}\n{BROKEN}\nnonsense\n", NDJSON),
    "events-packed": _sent("/v1/events", gzip.compress(LINES.encode(), mtime=0), NDJSON, Content_Encoding="gzip"),
    "events-as-list": _sent("/v1/events", f"[{','.join(LINES.splitlines())}]", JSON),
    "events-of-no-type": _sent("/v1/events", LINES, "text/csv"),
    "events-packed-oddly": _sent("/v1/events", LINES, NDJSON, Content_Encoding="br"),
    "events-not-packed": _sent("/v1/events", LINES, NDJSON, Content_Encoding="gzip"),
    "events-of-another": _sent("/v1/events?project=other", LINES, NDJSON),
    "events-schema": _read("/v1/events/schema"),
    "spans": _sent("/v1/traces", protobuf(conversation()), PROTOBUF),
    "spans-as-json": _sent("/v1/traces", as_json(conversation()), JSON),
    "spans-that-are-none": _sent("/v1/traces", b"\xff\xff", PROTOBUF),
    "value": _read(f"/v1/values/{NOTE}"),
    "value-part": _read(f"/v1/values/{PROMPT}", Range="bytes=0-9"),
    "value-end": _read(f"/v1/values/{PROMPT}", Range="bytes=-5"),
    "value-beyond": _read(f"/v1/values/{NOTE}", Range="bytes=900-"),
    "value-known": _read(f"/v1/values/{NOTE}", If_None_Match="*"),
    "value-of-nothing": _read(f"/v1/values/{'0' * 32}"),
    "export": _read("/v1/export/assistant?format=openlineage"),
    "export-in-no-format": _read("/v1/export/assistant?format=pdf"),
    "export-of-events": _read("/v1/export/assistant"),
    "export-of-nothing": _read("/v1/export/nothing"),
    "import": _sent("/v1/import?name=a.json", b"{}", JSON, Idempotency_Key="one"),
    "import-again": _sent("/v1/import?name=a.json", b"{}", JSON, Idempotency_Key="one"),
    "import-of-nothing": _sent("/v1/import", b"", JSON),
    "import-in-no-zone": _sent("/v1/import?timezone=Mars", b"{}", JSON),
    "import-of-no-type": _sent("/v1/import", b"{}", "text/csv"),
    "attributions": _json("/v1/attributions", failureIds=[LOST], goldFree=True, minConfidence=0.5),
    "attributions-of-two": _json("/v1/attributions", failureIds=[LOST], traceId="t"),
    "attributions-too-sure": _json("/v1/attributions", minConfidence=1.5),
    "attributions-of-no-method": _json("/v1/attributions", method="luck"),
    "reports": _json("/v1/reports", source="flow"),
    "reports-of-nothing": _json("/v1/reports", failureIds=[""]),
    "report-of-no-job": _read("/v1/reports/nothing"),
    "job-of-nothing": _read("/v1/jobs/nothing"),
    "stop-of-nothing": ("DELETE", "/v1/jobs/nothing", {}, b""),
    "no-such-route": _read("/v1/nothing"),
    "no-such-method": ("PUT", "/v1/events", {}, b""),
    "graphql": _graphql("query($p: String!) { project(name: $p) { name role } viewer { actor } }", p=PROJECT),
    "graphql-of-another": _graphql('{ project(name: "other") { name } }'),
    "graphql-of-no-field": _graphql("{ projct { name } }"),
    "graphql-of-no-syntax": _graphql("{ project("),
    "graphql-too-deep": _graphql("{" + "project{" * 40 + "name" + "}" * 41),
    "graphql-without-query": _json("/graphql", variables={}),
    "graphql-of-no-json": _sent("/graphql", "{", JSON),
}
DROPPED = {"date", "x-request-id", "server"}


@pytest_asyncio.fixture(scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    folder = tmp_path_factory.mktemp("responses")
    async with await open_database(f"sqlite:///{folder / 'test.db'}") as database:
        await write_fixed(database)
        async with pages(database, folder, PROJECT) as opened:
            yield opened


def _steady(text: str, answer: httpx.Response) -> str:
    text = text.replace(answer.headers.get("x-request-id", "no id"), "the id of the request")
    return re.sub(r"\b[0-9a-f]{16}\b", "the key", text)


def _told(answer: httpx.Response) -> str:
    headers = sorted(f"{name}: {value}" for name, value in answer.headers.items() if name not in DROPPED)
    kind = answer.headers.get("content-type", "")
    if "json" in kind and "ndjson" not in kind:
        body = json.dumps(answer.json(), indent=1, ensure_ascii=False)
    else:
        body = answer.content.decode("utf-8", "backslashreplace")
    return _steady("\n".join([str(answer.status_code), *headers, "", body, ""]), answer)


@pytest.mark.parametrize("name", REQUESTS)
async def test_a_response(client: httpx.AsyncClient, name: str) -> None:
    method, path, headers, body = REQUESTS[name]
    key = client.headers["cookie"].partition("=")[2]
    with time_machine.travel(NOW, tick=False):
        answer = await client.request(method, path, headers=headers | {"Authorization": f"Bearer {key}"}, content=body)
    compare(__file__, f"{name}.txt", _told(answer), NAMES)


@pytest.mark.parametrize("door", ["/v1/events/schema", "/graphql", "/ui/me"])
async def test_who_has_no_key(client: httpx.AsyncClient, door: str) -> None:
    told = []
    for key in ("", "Bearer nonsense", f"Bearer mt_{'0' * 16}_{'x' * 43}"):
        headers = {"Authorization": key, "Cookie": ""}
        answer = await client.request("POST" if door == "/graphql" else "GET", door, headers=headers)
        told.append(_told(answer))
    compare(__file__, f"no-key{door.replace('/', '-')}.txt", "\n".join(told), NAMES)
