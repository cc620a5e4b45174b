"""The OpenAPI document of the HTTP interface, and its page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import cache
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import Response

from api.http.documented import Problem
from api.http.problems import MEDIA_TYPE
from api.http.routing import HEALTH

_SECURITY = "bearer"
_PROBLEM = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of an application. Problems and bearer tokens are added to every route."""
    document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _describe_problems(operation["responses"], "requestBody" in operation)
            operation["security"] = [] if path in HEALTH else [{_SECURITY: []}]
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = Problem.model_json_schema()
    components["securitySchemes"] = {
        _SECURITY: {"type": "http", "scheme": "bearer", "description": "An API key, or a token of the OIDC issuer."}
    }
    return document


def openapi_page(app: FastAPI) -> Callable[[Request], Awaitable[Response]]:
    """The page with the document. A thread makes the document once, because that would block the loop for too long."""

    @cache
    def document() -> bytes:
        return json.dumps(app.openapi(), ensure_ascii=False, separators=(",", ":")).encode()

    async def page(_: Request) -> Response:
        return Response(await asyncio.to_thread(document), media_type="application/json")

    return page


def _describe_problems(responses: dict[str, Any], has_body: bool) -> None:
    """Use one schema for all problems, FastAPI's own errors included."""
    for number in (500, 413) if has_body else (500,):
        responses.setdefault(str(number), {"description": HTTPStatus(number).phrase, "content": _PROBLEM})
    for status, response in responses.items():
        if status == "422" or MEDIA_TYPE in response.get("content", {}):
            response["content"] = _PROBLEM
