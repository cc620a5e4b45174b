"""The whole answer for each error: status, headers and document."""

from __future__ import annotations

import json
from typing import Any

import pytest
from structlog.testing import capture_logs

from api.errors import (
    ForbiddenError,
    IssuerError,
    RateLimitedError,
    TooLargeError,
    TooLongError,
    TooManyError,
    UnauthenticatedError,
    UnknownProjectError,
)
from api.http.problems import ending_problem, problem, problem_of, unexpected_problem
from schema.errors import (
    AmbiguousError,
    Candidate,
    ConflictError,
    CorruptValueError,
    DamagedError,
    DiskFullError,
    InputError,
    MemTraceError,
    NotFoundError,
    QueueFullError,
    StoreError,
)

SCOPE = {"path": "/v1/jobs", "method": "POST", "state": {"request_id": "r1"}}
AWAY = "what this needs can't be reached at the moment: try again later"
WRONG = "something went wrong in the server; its log has more under the request id"
LONG = "this took longer than the server allows: ask for less"
UNKNOWN = (
    "this took longer than the server allows; what had begun is carried through: "
    "look whether it was before you ask again"
)
FULL = "the store is full: nothing can be written until its disk has room again, and what is there can be read"
DAMAGED = "the store is damaged, and has to be restored from a copy: send this again afterwards"
TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    413: "Content Too Large",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}


def _answer(response: Any) -> tuple[int, dict[str, str], dict[str, Any]]:
    """The status, the headers that say something, and the document without its type, title and request id."""
    document = json.loads(response.body)
    assert document.pop("type") == "about:blank"
    assert document.pop("title").replace("Request Entity", "Content") == TITLES[response.status_code]
    assert document.pop("status") == response.status_code
    assert document.pop("requestId") == "r1"
    assert response.headers["content-type"] == "application/problem+json"
    said = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
    return response.status_code, said, document


@pytest.mark.parametrize(
    ("error", "status", "headers", "document"),
    [
        (
            UnauthenticatedError("unknown key"),
            401,
            {"www-authenticate": "Bearer"},
            {"detail": "a valid API key or token is needed: Authorization: Bearer …"},
        ),
        (
            UnauthenticatedError("x", "the key is revoked"),
            401,
            {"www-authenticate": "Bearer"},
            {"detail": "the key is revoked"},
        ),
        (ForbiddenError("shop", "admin"), 403, {}, {"detail": "this needs the role admin in project 'shop'"}),
        (NotFoundError("t1", "trace"), 404, {}, {"detail": str(NotFoundError("t1", "trace"))}),
        (UnknownProjectError("x" * 300), 404, {}, {"detail": f"there is no project '{'x' * 200}' that you may reach"}),
        (ConflictError("Trace", "t1", "name"), 409, {}, {"detail": str(ConflictError("Trace", "t1", "name"))}),
        (
            AmbiguousError("t1", ["a", "b"]),
            409,
            {},
            {"detail": str(AmbiguousError("t1", ["a", "b"])), "candidates": ["a", "b"]},
        ),
        (
            AmbiguousError("t1", ["a"], [Candidate("a", "Trace", "run", "T")]),
            409,
            {},
            {
                "detail": str(AmbiguousError("t1", ["a"], [Candidate("a", "Trace", "run", "T")])),
                "candidates": ["a"],
                "described": [{"id": "a", "label": "Trace", "name": "run", "traceId": "T"}],
            },
        ),
        (TooLargeError("the body", 12_000), 413, {}, {"detail": "the body is larger than the limit of 12,000 bytes"}),
        (TooLargeError("it", 1, ": cut it"), 413, {}, {"detail": "it is larger than the limit of 1 bytes: cut it"}),
        (
            TooManyError("traces", 2_000, "narrow it"),
            413,
            {},
            {"detail": "there are more than 2,000 traces: narrow it"},
        ),
        (RateLimitedError(2.4), 429, {"retry-after": "3"}, {"detail": "too many requests: try again in 3 s"}),
        (RateLimitedError(0.0, "too much"), 429, {"retry-after": "1"}, {"detail": "too much: try again in 1 s"}),
        (RateLimitedError(3.0), 429, {"retry-after": "3"}, {"detail": "too many requests: try again in 3 s"}),
        (
            InputError("a.json", "data[3]", "is wrong"),
            400,
            {},
            {"detail": "a.json: data[3]: is wrong", "source": "a.json", "place": "data[3]"},
        ),
        (InputError("body", "", "is wrong"), 400, {}, {"detail": "body: is wrong", "source": "body"}),
        (QueueFullError(), 503, {"retry-after": "5"}, {"detail": "the queue of events is full: send them again later"}),
        (StoreError("secret"), 503, {"retry-after": "5"}, {"detail": AWAY}),
        (IssuerError("secret"), 503, {"retry-after": "5"}, {"detail": AWAY}),
        (DiskFullError("secret"), 503, {"retry-after": "5"}, {"detail": FULL}),
        (CorruptValueError("secret"), 500, {}, {"detail": WRONG}),
        (DamagedError("secret"), 503, {"retry-after": "5"}, {"detail": DAMAGED}),
        (MemTraceError("secret"), 500, {}, {"detail": WRONG}),
        (TimeoutError("secret"), 504, {}, {"detail": UNKNOWN}),
        (TooLongError(2.5, "ask for less"), 500, {}, {"detail": WRONG}),
    ],
)
def test_an_error_has_one_answer(
    error: Exception, status: int, headers: dict[str, str], document: dict[str, Any]
) -> None:
    with capture_logs() as logs:
        assert _answer(problem_of(SCOPE, error)) == (status, headers, document)
    if status >= 500 and not isinstance(error, QueueFullError):
        said = {"problem": type(error).__name__, "reason": str(error)}
        assert logs == [{"event": "request failed", "log_level": "error", **said}]
    elif isinstance(error, UnauthenticatedError):
        said = {"reason": error.reason}
        assert logs == [{"event": "nobody behind the request", "log_level": "info", **said}]
    else:
        assert logs == []


@pytest.mark.parametrize(("method", "detail"), [("GET", LONG), ("HEAD", LONG), ("OPTIONS", LONG), ("DELETE", UNKNOWN)])
def test_a_late_answer_tells_whether_something_may_have_changed(method: str, detail: str) -> None:
    assert _answer(problem_of(SCOPE | {"method": method}, TimeoutError())) == (504, {}, {"detail": detail})


def test_impatient_exporters_may_come_back_sooner() -> None:
    traces = SCOPE | {"path": "/v1/traces"}
    for response in (problem_of(traces, QueueFullError()), problem_of(traces, StoreError("x")), ending_problem(traces)):
        assert response.headers["retry-after"] == "1"


def test_problems_without_an_error() -> None:
    assert _answer(unexpected_problem(SCOPE)) == (500, {}, {"detail": WRONG})
    stopped = {"detail": "the server is being stopped: ask again"}
    assert _answer(ending_problem(SCOPE)) == (503, {"retry-after": "5"}, stopped)
    made = problem({"path": "/"}, 404, "gone", {"X-A": "b"}, errors=None, more=0)
    assert json.loads(bytes(made.body)) == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "gone",
        "more": 0,
    }
    assert made.headers["x-a"] == "b"
