"""Every error is a problem document, and says no more than it should."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from api.errors import ForbiddenError, RateLimitedError, TooLargeError, UnauthenticatedError
from schema.errors import (
    AmbiguousError,
    ConflictError,
    CorruptValueError,
    DiskFullError,
    InputError,
    MemTraceError,
    NotFoundError,
    StoreError,
)
from tests.server.inside import serving, settings_for
from tests.server.running import Place

SECRET = "bolt://10.1.2.3:7687 as neo4j with open-sesame"
ERRORS: dict[str, Exception] = {
    "unauthenticated": UnauthenticatedError(SECRET),
    "forbidden": ForbiddenError("shop", "admin"),
    "not-found": NotFoundError("t1", "trace"),
    "ambiguous": AmbiguousError("t1", ["a", "b"]),
    "conflict": ConflictError("Trace", "t1", "name"),
    "input": InputError("upload.json", "data[3]", "is wrong"),
    "too-large": TooLargeError("the body", 10),
    "rate": RateLimitedError(2.4),
    "store": StoreError(SECRET),
    "full": DiskFullError(SECRET),
    "corrupt": CorruptValueError(SECRET),
    "time": TimeoutError(SECRET),
    "another": MemTraceError(SECRET),
    "unexpected": KeyError(SECRET),
}


class Body(BaseModel):
    number: int


def make_app(folder: Path) -> FastAPI:
    from api.server import create_app

    app = create_app(settings_for(folder))

    @app.get("/test/error/{name}")
    async def fail(name: str) -> None:
        raise ERRORS[name]

    @app.post("/test/body")
    async def take(body: Body, page: int = 1) -> int:
        return body.number + page

    @app.get("/test/torn")
    async def tear() -> StreamingResponse:
        async def parts() -> Iterator[bytes]:  # type: ignore[misc]
            yield b"begun"
            raise ValueError(SECRET)

        return StreamingResponse(parts(), media_type="text/plain")

    return app


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("problems")
    with serving(make_app(folder)) as url:
        key = Place(f"sqlite:///{folder / 'inside.db'}").make_key()
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=300) as opened:
            yield opened


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("unauthenticated", 401),
        ("forbidden", 403),
        ("not-found", 404),
        ("ambiguous", 409),
        ("conflict", 409),
        ("input", 400),
        ("too-large", 413),
        ("rate", 429),
        ("store", 503),
        ("full", 503),
        ("corrupt", 500),
        ("time", 504),
        ("another", 500),
        ("unexpected", 500),
    ],
)
def test_each_kind(client: httpx.Client, name: str, status: int) -> None:
    answer = client.get(f"/test/error/{name}", headers={"X-Request-Id": "mine"})
    document = answer.json()
    assert answer.status_code == document["status"] == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert document["type"] == "about:blank"
    assert document["title"]
    assert document["requestId"] == answer.headers["x-request-id"] == "mine"
    assert "sesame" not in answer.text
    assert "10.1.2.3" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_what_they_tell(client: httpx.Client) -> None:
    assert client.get("/test/error/unauthenticated").headers["www-authenticate"] == "Bearer"
    assert client.get("/test/error/rate").headers["retry-after"] == "3"
    for name in ("store", "full"):
        assert int(client.get(f"/test/error/{name}").headers["retry-after"]) > 0
    assert "the store is full" in client.get("/test/error/full").json()["detail"]
    document = client.get("/test/error/input").json()
    assert (document["source"], document["place"]) == ("upload.json", "data[3]")
    assert client.get("/test/error/ambiguous").json()["candidates"] == ["a", "b"]
    assert "role admin" in client.get("/test/error/forbidden").json()["detail"]


def test_routing(client: httpx.Client) -> None:
    missing = client.get("/nowhere?token=1")
    assert (missing.status_code, missing.json()["detail"]) == (404, "Not Found")
    wrong = client.put("/healthz")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET")
    for answer in (missing, wrong):
        assert answer.headers["content-type"] == "application/problem+json"


def test_validation(client: httpx.Client) -> None:
    answer = client.post("/test/body?page=x", json={"number": "much"})
    document = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert [found["place"] for found in document["errors"]] == ["query.page", "body.number"]
    assert "body.number" in document["detail"]
    assert "much" not in answer.text
    torn = client.post("/test/body", content=b'{"number": ', headers={"Content-Type": "application/json"})
    assert torn.status_code == 422
    assert torn.headers["content-type"] == "application/problem+json"


def test_an_answer_that_breaks_in_its_middle_is_not_taken_for_whole(client: httpx.Client) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        client.get("/test/torn")
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("given", [b"", b"two words", b"x" * 65, "naïve".encode("latin-1"), b"a\tb"])
def test_request_ids_that_are_not_taken(client: httpx.Client, given: bytes) -> None:
    answer = client.get("/healthz", headers={b"X-Request-Id": given})
    assert len(answer.headers["x-request-id"]) == 32


def test_request_ids_differ(client: httpx.Client) -> None:
    assert len({client.get("/healthz").headers["x-request-id"] for _ in range(10)}) == 10
    given = "0af7651916cd43dd:8448.eb_x-1"
    assert client.get("/healthz", headers={"X-Request-Id": given}).headers["x-request-id"] == given
