"""How pages get their data: a page runs a GraphQL document in this process, as the viewer, within GraphQL's limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from api.auth.browsers import COOKIE
from api.errors import UnauthenticatedError
from api.graphql.context import Context
from api.graphql.schema import Schema
from api.http.dependencies import access_of, asker_of, client_of, platform_of
from api.web.pages import words
from api.web.pages.documents import DOCUMENTS
from schema.errors import MemTraceError

_STATUS = {
    "NOT_FOUND": 404,
    "FORBIDDEN": 403,
    "BAD_INPUT": 400,
    "AMBIGUOUS": 400,
    "CONFLICT": 409,
    "TOO_LARGE": 413,
    "RATE_LIMITED": 429,
    "UNAVAILABLE": 503,
    "TIMEOUT": 504,
}
"""The HTTP status of a page whose document failed with this error code; other codes mean 500."""


class PageError(MemTraceError):
    """The page can't be rendered.

    Attributes:
        status: the HTTP status of the answer.
        field: the field of the document that failed, by its response name; None if the error names no field.
    """

    def __init__(self, status: int, told: str, field: str | None = None) -> None:
        self.status = status
        self.field = field
        super().__init__(told)

    def is_of(self, *fields: str) -> bool:
        """Whether one of these fields of the document failed."""
        return self.status == _STATUS["BAD_INPUT"] and self.field in fields


class MissingError(PageError):
    """The thing does not exist, or the viewer may not see it; the page doesn't tell which."""

    def __init__(self, what: str) -> None:
        super().__init__(404, f"There is no such {what}, or your key does not open it.")


@dataclass(frozen=True)
class Viewer:
    """The viewer of a page, with a connection to GraphQL."""

    schema: Schema
    context: Context

    @property
    def projects(self) -> list[str]:
        """The projects that the viewer may see, in order."""
        return self.context.access.projects

    async def ask(self, name: str, /, **variables: Any) -> dict[str, Any]:
        """Run a document and return its data.

        Args:
            name: the name of the document's file.
            variables: the document's variables.

        Raises:
            PageError: the answer contains an error.
        """
        result = await self.schema.execute(DOCUMENTS[name], variable_values=variables, context_value=self.context)
        if result.errors:
            error = result.errors[0]
            code = str((error.extensions or {}).get("code"))
            names = [part for part in error.path or () if isinstance(part, str)]
            raise PageError(_STATUS.get(code, 500), error.message, names[-1] if names else None)
        assert result.data is not None
        return result.data

    async def do(self, name: str, project: str, /, **variables: Any) -> dict[str, Any]:
        """Run a mutation whose document calls its result ``done``, and return this result, which may be a refusal.

        Raises:
            PageError: the answer contains an error.
        """
        done: dict[str, Any] = (await self.ask(name, project=project, **variables))["done"]
        return done

    async def ask_project(self, name: str, project: str, /, **variables: Any) -> dict[str, Any]:
        """Run a document about one project; the data of the project is in ``project``.

        Raises:
            MissingError: the viewer may not see the project, or it does not exist.
            PageError: the answer contains an error.
        """
        found = await self.ask(name, project=project, **variables)
        if found["project"] is None:
            raise MissingError("project")
        return found


def check_done(done: Mapping[str, Any], what: str) -> None:
    """Check that a mutation succeeded.

    Args:
        done: the result of the mutation.
        what: the thing that the mutation changes, for the message if it does not exist.

    Raises:
        MissingError: the thing does not exist.
        PageError: the mutation was refused.
    """
    if done["__typename"] == "NotFound":
        raise MissingError(what)
    if "message" in done:
        raise PageError(_STATUS.get(done["code"], 400), words.refusal(done["message"]))


async def viewer_of(request: Request, schema: Schema) -> Viewer:
    """Find out who sent a request for a page.

    Raises:
        UnauthenticatedError: nobody is signed in, or the session has ended.
        RateLimitedError: the principal sends too many requests.
        StoreError: the store or the issuer that checks the key can't be reached.
    """
    authorization = asker_of(request).authorization
    if authorization is None:
        raise UnauthenticatedError(f"there is no cookie {COOKIE}")
    access = await access_of(request)
    return Viewer(schema, Context(platform_of(request), access, authorization, client_of(request)))
