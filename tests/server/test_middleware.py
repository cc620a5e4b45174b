"""What surrounds each request: its id, its log line, headers, unexpected errors, bounds of bodies and of time."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from structlog.testing import capture_logs

from api.errors import TooLargeError, UnauthenticatedError
from api.http.limits import SMALL_BYTES, Bodies, Deadline, _declared
from api.http.middleware import AccessLog, RequestIds, SecurityHeaders, Unexpected
from schema.errors import StoreError

START: dict[str, Any] = {"type": "http.response.start", "status": 201, "headers": [(b"content-type", b"text/plain")]}
BODY: dict[str, Any] = {"type": "http.response.body", "body": b"12345"}
CLOSE = {"type": "websocket.close"}


def _scope(type_: str = "http", path: str = "/v1/x", headers: dict[str, str] | None = None, **more: Any) -> Any:
    named = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
    scope = {"type": type_, "path": path, "headers": named, "state": {"request_id": "r1"}, "client": ("10.0.0.1", 7)}
    return scope | ({"method": "POST"} if type_ == "http" else {}) | more


async def _nothing() -> Any:
    raise AssertionError("the body is not read")


async def _run(middleware: Any, scope: Any, receive: Any = _nothing) -> list[Any]:
    """What the middleware sends."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await middleware(scope, receive, send)
    return sent


def _app(*messages: Any, error: BaseException | None = None) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        for message in messages:
            await send(dict(message))
        if error is not None:
            raise error

    return app


def _headers(sent: list[Any]) -> dict[str, str]:
    return dict(Headers(scope=sent[0]).items())


@pytest.mark.parametrize(
    ("given", "is_taken"),
    [
        ("abc.D_e:f-9", True),
        ("x" * 64, True),
        ("x" * 65, False),
        ("", False),
        ("a b", False),
        ("a\u00e9", False),
        ("mt_0123", False),  # it looks like an API key
    ],
)
async def test_a_request_keeps_a_sane_id(given: str, is_taken: bool) -> None:
    scope = _scope(headers={"X-Request-Id": given.encode("latin-1").decode("latin-1")} if given.isascii() else {})
    del scope["state"]
    sent = await _run(RequestIds(_app(START, BODY)), scope)
    id_ = _headers(sent)["x-request-id"]
    assert scope["state"]["request_id"] == id_
    assert (id_ == given) is is_taken
    assert is_taken or len(id_) == 32
    assert sent[1] == BODY


async def test_a_websocket_has_an_id_too_and_the_start_of_the_server_has_none() -> None:
    (accepted,) = await _run(RequestIds(_app({"type": "websocket.accept", "headers": []})), _scope("websocket"))
    assert len(_headers([accepted])["x-request-id"]) == 32
    started = {"type": "lifespan"}
    for middleware in (RequestIds, AccessLog, Unexpected, SecurityHeaders):
        assert await _run(middleware(_app(START)), started) == [START]
    assert started == {"type": "lifespan"}


@pytest.mark.parametrize(
    ("messages", "type_", "status", "bytes_"),
    [
        ((START, BODY, BODY), "http", 201, 10),
        ((), "http", 0, 0),
        (({"type": "websocket.accept"}, {"type": "websocket.send", "text": "x"}), "websocket", 101, 0),
    ],
)
async def test_each_request_has_a_line_in_the_log(messages: Any, type_: str, status: int, bytes_: int) -> None:
    scope = _scope(type_, query_string=b"secret")
    scope["state"]["actor"] = "key:1"
    with capture_logs() as logs:
        assert await _run(AccessLog(_app(*messages)), scope) == list(messages)
    (line,) = logs
    assert 0 <= line.pop("seconds") < 60
    assert line == {
        "event": "request" if type_ == "http" else "websocket",
        "log_level": "info",
        "method": scope.get("method"),
        "path": "/v1/x",
        "route": line["route"],
        "status": status,
        "bytes": bytes_,
        "client": "10.0.0.1",
        "actor": "key:1",
    }


async def test_a_request_that_fails_is_logged_too() -> None:
    with capture_logs() as logs, pytest.raises(ZeroDivisionError):
        await _run(AccessLog(_app(error=ZeroDivisionError())), _scope(client=None))
    assert [(one["status"], one["client"], one["actor"]) for one in logs] == [(0, None, None)]


ALWAYS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@pytest.mark.parametrize(
    ("own", "found"),
    [
        ({}, {"content-security-policy": "default-src 'none'; frame-ancestors 'none'"}),
        ({"content-type": "text/html; charset=utf-8"}, {}),
        ({"cache-control": "max-age=9"}, {"content-security-policy": "default-src 'none'; frame-ancestors 'none'"}),
        ({"content-security-policy": "mine"}, {}),
    ],
)
async def test_answers_have_headers_for_safety(own: dict[str, str], found: dict[str, str]) -> None:
    start = START | {"headers": [(name.encode(), value.encode()) for name, value in own.items()]}
    sent = await _run(SecurityHeaders(_app(start, BODY)), _scope())
    assert _headers(sent) == ALWAYS | found | own


@pytest.mark.parametrize(
    ("error", "type_", "messages", "sent", "event"),
    [
        (KeyError("secret"), "http", (), 500, "unexpected error"),
        (KeyError("secret"), "http", (START,), None, "unexpected error"),
        (KeyError("secret"), "websocket", (), 1011, "unexpected error"),
        (KeyError("secret"), "websocket", ({"type": "websocket.accept"},), 1011, "unexpected error"),
        (asyncio.CancelledError(), "http", (), 503, "not answered before the server ended"),
        (asyncio.CancelledError(), "http", (START,), None, "not answered before the server ended"),
        (asyncio.CancelledError(), "websocket", (), 1012, "not answered before the server ended"),
        (ClientDisconnect(), "http", (), None, "the client went away"),
        (ClientDisconnect(), "websocket", (), None, "the client went away"),
    ],
)
async def test_an_unexpected_end_is_answered_and_logged(
    error: BaseException, type_: str, messages: Any, sent: int | None, event: str
) -> None:
    with capture_logs() as logs:
        found = (await _run(Unexpected(_app(*messages, error=error)), _scope(type_)))[len(messages) :]
    assert logs[0]["event"] == event
    assert logs[0]["path"] == "/v1/x"
    assert "secret" not in str(logs[0])
    if sent is None:
        assert found == []
    elif type_ == "websocket":
        assert found == [CLOSE | {"code": sent}]
    else:
        assert found[0]["status"] == sent
        assert json.loads(found[1]["body"])["requestId"] == "r1"


@pytest.mark.parametrize(
    ("headers", "size"),
    [
        ({}, None),
        ({"content-length": "12"}, 12),
        ({"content-length": "0012"}, 12),
        ({"content-length": "0"}, None),
        ({"content-length": "9" * 30}, int("9" * 18)),
        ({"content-length": "-1"}, None),
        ({"content-length": "1x", "transfer-encoding": "chunked"}, 0),
        ({"transfer-encoding": "chunked"}, 0),
    ],
)
def test_a_head_declares_the_size_of_the_body(headers: dict[str, str], size: int | None) -> None:
    assert _declared(Headers(headers)) == size


class _Verifier:
    def __init__(self, error: Exception | None) -> None:
        self.error = error
        self.asked: list[Any] = []

    async def verify(self, authorization: str | None, client: str | None) -> Any:
        self.asked.append((authorization, client))
        if self.error is not None:
            raise self.error
        return SimpleNamespace(actor="key:1")


def _blocks(*blocks: bytes) -> Any:
    left = list(blocks)

    async def receive() -> Any:
        block = left.pop(0)
        return {"type": "http.request", "body": block, "more_body": bool(left)}

    return receive


async def _reads(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads the whole body, and answers with its size."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message["body"])
        more = message["more_body"]
    await send(START)
    await send(BODY | {"body": str(size).encode()})


async def _sent_through(
    path: str, blocks: list[bytes], headers: dict[str, str], error: Exception | None = None, app: Any = _reads
) -> tuple[int, Any, _Verifier]:
    verifier = _Verifier(error)
    platform = SimpleNamespace(verifier=verifier)
    scope = _scope(path=path, headers=headers, app=SimpleNamespace(state=SimpleNamespace(platform=platform)))
    bodies = Bodies(app, 100_000, {"/v1/events": 10, "/v1/import": None})
    start, body = await _run(bodies, scope, _blocks(*blocks))
    data = body["body"]
    said = json.loads(data)["detail"] if start["status"] != 201 else int(data)
    return start["status"], said, verifier


def _too_large(limit: int) -> str:
    return str(TooLargeError("the body", limit))


@pytest.mark.parametrize(
    ("path", "size", "status", "said"),
    [
        ("/v1/events", 10, 201, 10),
        ("/v1/events", 11, 413, _too_large(10)),
        ("/v1/import", 1 << 20, 201, 1 << 20),
        ("/v1/x", SMALL_BYTES, 201, SMALL_BYTES),
        ("/v1/x", SMALL_BYTES + 1, 413, _too_large(SMALL_BYTES)),
        ("/graphql", 100_000, 201, 100_000),
        ("/graphql", 100_001, 413, _too_large(100_000)),
        ("/ui/projects/p/failures", 100_000, 201, 100_000),
        ("/ui/sign-in", SMALL_BYTES + 1, 413, _too_large(SMALL_BYTES)),
    ],
)
@pytest.mark.parametrize("is_declared", [True, False])
async def test_a_body_is_as_large_as_its_path_allows(
    path: str, size: int, status: int, said: Any, is_declared: bool
) -> None:
    headers = {"content-length": str(size)} if is_declared else {"transfer-encoding": "chunked"}
    half = size // 2
    found = await _sent_through(path, [b"x" * half, b"x" * (size - half)], headers)
    assert found[:2] == (status, said)


@pytest.mark.parametrize(
    ("path", "headers", "authorization"),
    [
        ("/v1/x", {"authorization": "Bearer a", "cookie": "memtrace_session=b"}, "Bearer a"),
        ("/v1/x", {}, None),
        ("/graphql", {"authorization": "Bearer a"}, "Bearer a"),
        ("/ui/projects/p", {"authorization": "Bearer a"}, None),
        ("/ui", {"authorization": "Bearer a"}, None),
        ("/uix", {"authorization": "Bearer a"}, "Bearer a"),
    ],
)
async def test_a_body_is_read_for_who_may_ask(path: str, headers: dict[str, str], authorization: str | None) -> None:
    given = headers | {"content-length": "2"}
    status, said, verifier = await _sent_through(path, [b"ab"], given)
    assert (status, said, verifier.asked) == (201, 2, [(authorization, "10.0.0.1")])
    status, said, _ = await _sent_through(path, [b"ab"], given, UnauthenticatedError("no key", "told"))
    assert (status, said) == (401, "told")
    status, said, _ = await _sent_through(path, [b"ab"], given, StoreError("away"))
    assert status == 503


async def test_a_form_with_the_key_is_read_without_a_key() -> None:
    for path in ("/ui/sign-in", "/ui/open", "/ui/invitation"):
        found = await _sent_through(path, [b"ab"], {"content-length": "2"}, UnauthenticatedError("no key"))
        assert (found[0], found[1], found[2].asked) == (201, 2, [])


async def test_the_refusal_stands_where_the_reader_answers_the_error_itself() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await receive()
        except TooLargeError:
            await send(START | {"status": 400})
            await send(BODY)

    found = await _sent_through("/v1/events", [b"x" * 11], {"content-length": "11"}, app=app)
    assert found[:2] == (413, _too_large(10))


async def test_an_answer_that_has_begun_is_broken_off() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(START)
        await receive()

    with pytest.raises(TooLargeError):
        await _sent_through("/v1/events", [b"x" * 11], {}, app=app)
    with pytest.raises(ZeroDivisionError):  # other errors are others' to answer
        await _sent_through("/v1/events", [b""], {}, app=_app(error=ZeroDivisionError()))


async def test_an_answer_begins_in_time() -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(30)

    start, body = await _run(Deadline(slow, 0.01), _scope())
    assert (start["status"], json.loads(body["body"])["requestId"]) == (504, "r1")

    async def begun(scope: Any, receive: Any, send: Any) -> None:
        await send(START)
        await asyncio.sleep(0.03)
        await send(BODY)

    assert await _run(Deadline(begun, 0.01), _scope()) == [START, BODY]

    async def upload(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.03)
        await send(START)

    assert await _run(Deadline(upload, 0.01), _scope(path="/v1/import")) == [START]
    assert await _run(Deadline(upload, 0.01), _scope("websocket")) == [START]
    with pytest.raises(TimeoutError):  # an error of the application, not of this deadline
        await _run(Deadline(_app(error=TimeoutError()), 30), _scope())
