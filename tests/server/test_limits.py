"""How much, how often and for how long a client may ask."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import Request

from api.auth.rate import RateLimit
from api.auth.verify import GUESSES
from api.errors import RateLimitedError
from api.server import create_app
from tests.server.inside import serving, settings_for
from tests.server.running import Place, RunningServer, running, sqlite_place

pytestmark = pytest.mark.one_engine

LIMIT = 2048


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server that takes little, and has little time."""
    folder = tmp_path_factory.mktemp("limits")
    app = create_app(settings_for(folder, max_body_bytes=LIMIT, max_upload_bytes=4 * LIMIT, request_seconds=0.2))

    @app.post("/test/size")
    async def size(request: Request) -> int:
        return len(await request.body())

    @app.post("/test/swallow")
    async def swallow(request: Request) -> str:
        try:
            await request.body()
        except Exception:
            return "never mind"
        return "read"

    @app.get("/test/endless")
    async def endless() -> None:
        await asyncio.Event().wait()

    with serving(app) as url:
        key = Place(f"sqlite:///{folder / 'inside.db'}").make_key("writer")
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=300) as opened:
            yield opened


def blocks(total: int) -> Iterator[bytes]:
    """A body that does not say how long it is."""
    for _ in range(total // 128):
        yield b"x" * 128


@pytest.mark.parametrize("path", ["/test/size", "/test/swallow"])
def test_bodies(small: httpx.Client, path: str) -> None:
    assert small.post(path, content=b"x" * LIMIT).status_code == 200
    assert small.post(path, content=blocks(LIMIT)).status_code == 200
    for body in (b"x" * (LIMIT + 1), blocks(LIMIT + 128), b"x" * 1_000_000, blocks(1_000_000)):
        answer = small.post(path, content=body)
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"] == "the body is larger than the limit of 2,048 bytes"


def test_the_limit_holds_for_graphql(small: httpx.Client) -> None:
    query = {"query": "{ " + "__typename " * LIMIT + "}"}
    assert small.post("/graphql", json=query).status_code == 413


def test_uploads_have_a_limit_of_their_own(small: httpx.Client) -> None:
    sizes = (2 * LIMIT, 4 * LIMIT + 1)
    statuses = [small.post("/v1/import", content=b"x" * size).status_code for size in sizes]
    assert statuses == [202, 413]
    # Without a key the size is not looked at.
    nobody = {"Authorization": ""}
    statuses = [small.post("/v1/import", content=b"x" * size, headers=nobody).status_code for size in sizes]
    assert statuses == [401, 401]


def test_work_that_never_ends(small: httpx.Client) -> None:
    answer = small.get("/test/endless")
    assert answer.status_code == 504
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_rate() -> None:
    rate = RateLimit("3/day")
    for _ in range(3):
        await rate.hit("a")
    with pytest.raises(RateLimitedError) as raised:
        await rate.hit("a")
    assert 0 <= raised.value.retry_after <= 86400
    with pytest.raises(RateLimitedError):
        await rate.check("a")
    await rate.hit("b")


@pytest.mark.full
def test_one_key_does_not_use_up_another(tmp_path: Path) -> None:
    with running(sqlite_place(tmp_path), tmp_path, rate_limit="3/day", job_concurrency=0) as server:
        with server.client("reader") as first:
            statuses = [first.get("/v1/export/nothing").status_code for _ in range(4)]
            last = first.get("/v1/export/nothing")
        with server.client("writer") as second:
            statuses.append(second.get("/v1/export/nothing").status_code)
    assert statuses == [404, 404, 404, 429, 404]
    assert int(last.headers["retry-after"]) >= 1


def test_guessing_ends_soon(tmp_path: Path) -> None:
    allowed = int(GUESSES.partition("/")[0])
    with running(sqlite_place(tmp_path), tmp_path, job_concurrency=0) as server, server.client(None) as client:

        def ask(headers: dict[str, str]) -> int:
            return client.get("/v1/export/nothing", headers=headers).status_code

        seen, new = server.headers("reader"), server.headers("writer")
        assert ask(seen) == 404
        guesses = [{"Authorization": f"Bearer mt_{number:016x}_{'a' * 43}"} for number in range(allowed + 1)]
        assert [ask(headers) for headers in guesses] == [401] * allowed + [429]
        # Others may share the address: their keys go on, and who shows none guesses nothing.
        assert [ask(seen), ask(new), ask({})] == [404, 429, 401]


def test_browsers_of_other_origins_are_kept_out(server: RunningServer) -> None:
    origin = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    with server.client(None) as client:
        asked = client.options("/graphql", headers=origin)
        read = client.get("/healthz", headers=origin)
    assert asked.status_code == 405
    for answer in (asked, read):
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_origins_that_may_call(tmp_path: Path) -> None:
    app = create_app(settings_for(tmp_path, cors_origins="https://tools.example"))
    with serving(app) as url, httpx.Client(base_url=url, timeout=300) as client:
        asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
        good = client.options("/graphql", headers={"Origin": "https://tools.example", **asks})
        evil = client.options("/graphql", headers={"Origin": "https://evil.example", **asks})
    assert good.headers["access-control-allow-origin"] == "https://tools.example"
    assert "access-control-allow-credentials" not in good.headers
    assert "access-control-allow-origin" not in evil.headers
