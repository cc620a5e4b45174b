"""Errors as RFC 9457 problem documents."""

from __future__ import annotations

import json
import math
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from api.errors import ForbiddenError, RateLimitedError, TooLargeError, UnauthenticatedError
from schema.errors import (
    AmbiguousError,
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

if TYPE_CHECKING:
    from starlette.types import Scope

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5
"""``Retry-After`` in seconds while the store is away."""

_SOONER = {"/v1/traces": 1}
"""The same for paths with impatient clients: exporters of OpenTelemetry give up after ten seconds in all."""

_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (UnauthenticatedError, 401),
    (ForbiddenError, 403),
    (NotFoundError, 404),
    (AmbiguousError, 409),
    (ConflictError, 409),
    (TooLargeError, 413),
    (RateLimitedError, 429),
    (InputError, 400),
    (CorruptValueError, 500),
    (StoreError, 503),
    (TimeoutError, 504),
)
_MASKED = {
    500: "something went wrong in the server; its log has more under the request id",
    503: "what this needs can't be reached at the moment: try again later",
    504: "this took longer than the server allows: ask for less",
}

_FULL = "the store is full: nothing can be written until its disk has room again, and what is there can be read"

_DAMAGED = "the store is damaged, and has to be restored from a copy: send this again afterwards"

_ADDRESSES = (
    "there is no such address: GraphQL is POST /graphql, files, events and jobs are under /v1 (GET /openapi.json "
    "describes them), and pages are under /ui. A list in GraphQL: { project { LIST(first: 5) { nodes { id } } } }"
)
_LISTS = ("failures", "sessions", "operations", "variables", "traces")

_READING = {"GET", "HEAD", "OPTIONS"}
_UNKNOWN = (
    "this took longer than the server allows; what had begun is carried through: look whether it was before you ask "
    "again"
)

_log = structlog.get_logger("memtrace.http")


def problem(scope: Scope, status: int, detail: str, headers: dict[str, str] | None = None, **members: Any) -> Response:
    """A problem document.

    Args:
        scope: the request's scope, which has the id for the document.
        status: the status of the answer.
        detail: what is wrong, for the person who asked.
        headers: headers of the answer.
        members: further members of the document; None is left out.
    """
    document = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    extra = members | {"requestId": scope.get("state", {}).get("request_id")}
    document |= {name: value for name, value in extra.items() if value is not None}
    return Response(json.dumps(document), status, headers, MEDIA_TYPE)


def problem_of(scope: Scope, error: Exception) -> Response:
    """The problem document of an expected error. Details that a client must not see are logged instead."""
    if isinstance(error, QueueFullError):
        return problem(scope, 503, str(error), _retry_after(scope))
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    if status in _MASKED:
        _log.error("request failed", problem=type(error).__name__, reason=str(error))
        headers = _retry_after(scope) if status == 503 else None
        if isinstance(error, DiskFullError):
            return problem(scope, status, _FULL, headers)
        if isinstance(error, DamagedError):  # 503: clients such as OpenTelemetry's keep what they send, and try again
            return problem(scope, status, _DAMAGED, headers)
        is_change = status == 504 and scope.get("method", "GET") not in _READING
        return problem(scope, status, _UNKNOWN if is_change else _MASKED[status], headers)
    if isinstance(error, UnauthenticatedError):
        _log.info("nobody behind the request", reason=error.reason)
        return problem(scope, status, str(error), {"WWW-Authenticate": "Bearer"})
    if isinstance(error, RateLimitedError):
        return problem(scope, status, str(error), {"Retry-After": str(max(1, math.ceil(error.retry_after)))})
    if isinstance(error, InputError):
        return problem(scope, status, str(error), source=error.source or None, place=error.place or None)
    if isinstance(error, AmbiguousError):
        described = [
            {"id": one.id, "label": one.label, "name": one.name, "traceId": one.trace_id} for one in error.described
        ]
        return problem(scope, status, str(error), candidates=error.candidates, described=described or None)
    return problem(scope, status, str(error))


def unexpected_problem(scope: Scope) -> Response:
    """The problem document of an unexpected error, with only the request's id."""
    return problem(scope, 500, _MASKED[500])


def ending_problem(scope: Scope) -> Response:
    """The problem document of a request that the server could not answer before its end."""
    return problem(scope, 503, "the server is being stopped: ask again", _retry_after(scope))


def _retry_after(scope: Scope) -> dict[str, str]:
    return {"Retry-After": str(_SOONER.get(scope["path"], RETRY_SECONDS))}


def install_problems(app: FastAPI) -> None:
    """Answer every expected error, and every error of routing and validation, with a problem document."""
    app.add_exception_handler(MemTraceError, _expected)
    app.add_exception_handler(TimeoutError, _expected)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


async def _expected(request: Request, error: Exception) -> Response:
    return problem_of(request.scope, error)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    is_unknown = error.status_code == 404 and error.detail == HTTPStatus.NOT_FOUND.phrase
    listed = next((one for one in _LISTS if one in request.url.path), "traces")
    hint = _ADDRESSES.replace("LIST", listed) if is_unknown else None
    return problem(request.scope, error.status_code, str(error.detail), dict(error.headers or {}), hint=hint)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = [
        {"place": ".".join(str(part) for part in found["loc"]), "problem": found["msg"]} for found in error.errors()
    ]
    detail = "; ".join(f"{found['place']}: {found['problem']}" for found in errors[:3])
    return problem(request.scope, 422, detail, errors=errors[:20])
