"""What a page answers when it fails: the status, what it says, and whether the log says more."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from api.errors import ForbiddenError, IssuerError, RateLimitedError, TooLargeError, UnauthenticatedError
from api.web.pages.asking import MissingError, PageError
from api.web.pages.routes import _guarded
from schema.errors import (
    AmbiguousError,
    CorruptValueError,
    DamagedError,
    InputError,
    MemTraceError,
    NotFoundError,
    StoreError,
)

WENT_WRONG, AWAY = "Something went wrong in the server", "The store can&#39;t be reached at the moment"


@pytest.mark.parametrize(
    ("error", "status", "said", "is_logged"),
    [
        (PageError(409, "It is taken."), 409, "It is taken.", False),
        (PageError(503, "Wait."), 503, "Wait.", False),
        (MissingError("case"), 404, "There is no such case", False),
        (NotFoundError("x", "trace"), 404, "x", False),
        (ForbiddenError("p", "writer"), 403, "this needs the role writer", False),
        (InputError("form", "days", "no number"), 400, "no number.", False),
        (AmbiguousError("x", []), 400, "x", False),
        (TooLargeError("the form", 10), 413, "the form", False),
        (RateLimitedError(1.2), 429, "try again in 2 s", False),
        (StoreError("disk /dev/x"), 503, AWAY, True),
        (CorruptValueError("disk"), 500, WENT_WRONG, True),
        (DamagedError("disk /dev/x"), 500, WENT_WRONG, True),
        (IssuerError("issuer.example"), 503, "the server that signs people in does not answer", True),
        (TimeoutError("in 3 s"), 504, "longer than the server allows", True),
        (MemTraceError("inside"), 500, WENT_WRONG, True),
        (ValueError("inside"), 500, WENT_WRONG, True),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Exception) else "",
)
def test_errors(error: Exception, status: int, said: str, is_logged: bool) -> None:
    async def fail(_: Request) -> Response:
        raise error

    client = TestClient(Starlette(routes=[Route("/page", _guarded(fail, "v"))]))
    with capture_logs() as logs:
        answer = client.get("/page")
    assert answer.status_code == status
    assert said in answer.text
    assert [one["log_level"] for one in logs] == ["error"] * is_logged
    assert "inside" not in answer.text
    assert "disk" not in answer.text


@pytest.mark.parametrize(
    ("method", "headers", "status", "there"),
    [
        ("GET", {}, 303, "/ui/sign-in?next=%2Fpage%3Fa%3D1"),
        ("GET", {"Sec-Fetch-Site": "cross-site"}, 200, None),
        (
            "GET",
            {"Sec-Fetch-Site": "cross-site", "Cookie": "__Host-memtrace=x"},
            303,
            "/ui/sign-in?next=%2Fpage%3Fa%3D1",
        ),
        ("POST", {"Sec-Fetch-Site": "same-origin"}, 303, "/ui/sign-in?next="),
        ("POST", {"Sec-Fetch-Site": "cross-site"}, 403, None),
        ("POST", {}, 403, None),
    ],
)
def test_who_is_not_signed_in(method: str, headers: dict[str, str], status: int, there: str | None) -> None:
    async def fail(_: Request) -> Response:
        raise UnauthenticatedError("no key")

    client = TestClient(Starlette(routes=[Route("/page", _guarded(fail, "v"), methods=["GET", "POST"])]))
    answer = client.request(method, "/page?a=1", headers=headers, follow_redirects=False)
    assert (answer.status_code, answer.headers.get("location")) == (status, there)
