"""The description of the HTTP door, and the page that gives it away."""

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
    """The OpenAPI document of an application, with what every route has: problems and bearer tokens."""
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
    """The page that gives the document away: made once, and in a thread, for it takes longer than the loop may wait."""

    @cache
    def document() -> bytes:
        return json.dumps(app.openapi(), ensure_ascii=False, separators=(",", ":")).encode()

    async def page(_: Request) -> Response:
        return Response(await asyncio.to_thread(document), media_type="application/json")

    return page


def _describe_problems(responses: dict[str, Any], has_body: bool) -> None:
    """One schema for all of them; FastAPI's own errors are problems here too."""
    for number in (500, 413) if has_body else (500,):
        responses.setdefault(str(number), {"description": HTTPStatus(number).phrase, "content": _PROBLEM})
    for status, response in responses.items():
        if status == "422" or MEDIA_TYPE in response.get("content", {}):
            response["content"] = _PROBLEM
