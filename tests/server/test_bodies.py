"""No door reads a body before it is known who sends it, and small doors read small bodies only."""

from __future__ import annotations

import re
import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import FastAPI, Request
from starlette.types import Message

from api.http.limits import OPEN_PATHS, SMALL_BYTES
from api.server import create_app
from tests.server.inside import settings_for
from tests.server.running import RunningServer

pytestmark = pytest.mark.one_engine

_OPEN = {"/ui/sign-in", "/ui/open", "/ui/invitation"}
"""Paths that read a body without a key: the body holds the key, or the code of an invitation."""

_OWN_SITE = {"sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded"}


def _routes(routes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """The method and path of each route, and of those of the routers that an application includes."""
    for route in routes:
        if (methods := getattr(route, "methods", None)) is not None:
            yield from ((method, route.path) for method in sorted(methods))
        elif "WebSocket" in type(route).__name__:
            yield "WEBSOCKET", route.path
        else:
            inner = getattr(route, "original_router", None) or getattr(route, "app", None)
            assert inner is not None, f"{route!r}: an unknown kind of route"
            yield from _routes(inner.routes)


@asynccontextmanager
async def _app(folder: Path) -> AsyncIterator[FastAPI]:
    app = create_app(settings_for(folder))

    @app.post("/test/new/{name}")
    async def new(name: str, request: Request) -> int:
        return len(await request.body())

    async with app.router.lifespan_context(app):
        yield app


async def _send(app: FastAPI, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bool]:
    """The status of the answer, and whether the application has read the body."""
    was_read = False
    status = 0

    async def receive() -> Message:
        nonlocal was_read
        was_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8080),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    await app(scope, receive, send)
    return status, was_read


async def test_no_route_reads_a_body_without_a_key(tmp_path: Path) -> None:
    async with _app(tmp_path) as app:
        found = sorted(set(_routes(app.routes)))
        assert set(app.openapi()["paths"]) <= {path for _, path in found}
        assert ("POST", "/test/new/{name}") in found
        # A websocket has a check of its own: see tests/graphql/test_requests.py.
        assert {path for method, path in found if method == "WEBSOCKET"} == {"/graphql"}
        assert {path for method, path in found if method == "POST" and path.startswith("/ui/")} >= OPEN_PATHS
        readers = set()
        for method, path in (one for one in found if one[0] != "WEBSOCKET"):
            address = re.sub(r"\{[^}]*\}", "x", path)
            for length in ({"content-length": "2"}, {"transfer-encoding": "chunked"}):
                for kind in ("application/json", "application/x-www-form-urlencoded", "application/octet-stream"):
                    headers = {**_OWN_SITE, "content-type": kind, **length}
                    status, was_read = await _send(app, method, address, headers, b"{}")
                    assert status < 500, (method, path, status)
                    if was_read:
                        readers.add(path)
                    elif method == "POST" and path != "/ui/sign-out" and path not in OPEN_PATHS:
                        assert status in {303, 401}, (method, path, status)
    assert readers == _OPEN == OPEN_PATHS


@pytest.mark.parametrize("path", ["/v1/attributions", "/v1/reports"])
def test_a_small_door_takes_a_small_body(server: RunningServer, path: str) -> None:
    body = b'{"method": "flow"' + b" " * SMALL_BYTES + b"}"
    with server.client("writer") as client:
        for content in (body, iter([body])):
            answer = client.post(path, content=content, headers={"Content-Type": "application/json"})
            assert answer.status_code == 413, answer.text


@pytest.mark.parametrize("path", ["/v1/attributions", "/v1/reports"])
def test_thousands_of_mistakes_are_told_in_part(server: RunningServer, path: str) -> None:
    unknown = ",".join(f'"{number}":1' for number in range(7_000))
    ids = ",".join(["1"] * 9_000)
    with server.client("writer") as client:
        for body, most in ((f"{{{unknown}}}", 10), (f'{{"failureIds":[{ids}]}}', 1)):
            answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code == 422
            assert len(answer.json()["errors"]) == most


@pytest.mark.parametrize("body", ["[" * 60_000, '{"a":' * 10_000, '{"minConfidence":' + "9" * 60_000 + "}"])
def test_strange_json_is_refused(server: RunningServer, body: str) -> None:
    with server.client("writer") as client:
        answer = client.post("/v1/attributions", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in {400, 422}


def test_a_form_of_a_stranger_is_short(server: RunningServer) -> None:
    with httpx.Client(base_url=server.url, timeout=300, headers=_OWN_SITE) as client:
        for path in sorted(_OPEN):
            assert client.post(path, content=b"key=" + b"x" * 17_000).status_code == 413


@pytest.mark.parametrize("length", ["0" * 5_000 + "2", "0" * 5_000, "9" * 5_000])
def test_a_length_of_thousands_of_digits_is_no_error_of_the_server(server: RunningServer, length: str) -> None:
    """Python refuses to read numbers of more than 4,300 digits."""
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=60) as client:
        head = f"POST /v1/attributions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.key('writer')}\r\n"
        client.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{{}}".encode())
        status = int(client.recv(65_536).split(b" ")[1])
    assert status in {202, 400, 413, 422}
