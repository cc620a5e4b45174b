"""Descriptions of answers without a model in the OpenAPI document: problems and files."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Responses = dict[int | str, dict[str, Any]]

_ALWAYS = (400, 401, 403, 404, 422, 429, 500, 503, 504)


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    request_id: str | None = Field(None, alias="requestId")


def answers(*more: int, ok: Responses | None = None) -> Responses:
    """The possible answers of a project's route.

    Args:
        more: further problems of the route, beside the problems that every route has.
        ok: descriptions of successful answers, where their model does not say enough.
    """
    content = {"application/problem+json": {"schema": Problem.model_json_schema()}}
    found: Responses = {
        status: {"description": HTTPStatus(status).phrase, "content": content} for status in sorted({*_ALWAYS, *more})
    }
    return (ok or {}) | found


def binary(description: str, *media_types: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """An answer of bytes.

    Args:
        description: the content of the answer.
        media_types: the media types of the answer.
        headers: descriptions of the answer's headers, by name.
    """
    found: dict[str, Any] = {
        "description": description,
        "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in media_types},
    }
    if headers:
        found["headers"] = {name: {"description": text, "schema": {"type": "string"}} for name, text in headers.items()}
    return found
