"""What pages ask: one document, run in this process under the viewer's principal, with all bounds that GraphQL has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from api.auth.access import Access
from api.auth.browsers import COOKIE, authorization_in_cookie
from api.errors import UnauthenticatedError
from api.graphql.context import Context
from api.graphql.schema import Schema
from api.http.dependencies import client_of, platform_of, request_id_of
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
"""What a page answers where its document ends with an error of this code; 500 for all others."""


class PageError(MemTraceError):
    """A page can't be made.

    Attributes:
        status: of the answer.
        field: of the page's document, by the name that its answer has, which refused; None where none did.
    """

    def __init__(self, status: int, told: str, field: str | None = None) -> None:
        self.status = status
        self.field = field
        super().__init__(told)

    def is_of(self, *fields: str) -> bool:
        """Whether one of these fields did not take what it was asked for."""
        return self.status == _STATUS["BAD_INPUT"] and self.field in fields


class MissingError(PageError):
    """There is no such thing, or none that the viewer may see: nobody is told which."""

    def __init__(self, what: str) -> None:
        super().__init__(404, f"There is no such {what}, or your key does not open it.")


@dataclass(frozen=True)
class Viewer:
    """Who looks at a page, and how that one asks."""

    schema: Schema
    context: Context

    @property
    def projects(self) -> list[str]:
        """The projects that the viewer knows, in order."""
        return self.context.access.projects

    async def ask(self, name: str, /, **variables: Any) -> dict[str, Any]:
        """The data of a document's answer.

        Args:
            name: of the document's file.
            variables: the document's.

        Raises:
            PageError: there is an error in the answer.
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
        """What a document's mutation, which it calls ``done``, says that it did, or why it did nothing.

        Raises:
            PageError: there is an error in the answer.
        """
        done: dict[str, Any] = (await self.ask(name, project=project, **variables))["done"]
        return done

    async def ask_project(self, name: str, project: str, /, **variables: Any) -> dict[str, Any]:
        """The same of a document about one project; the project's part of the answer stands under ``project``.

        Raises:
            MissingError: the viewer knows no such project.
            PageError: there is an error in the answer.
        """
        found = await self.ask(name, project=project, **variables)
        if found["project"] is None:
            raise MissingError("project")
        return found


def check_done(done: Mapping[str, Any], what: str) -> None:
    """See that a mutation did what it was asked for.

    Args:
        done: what it says.
        what: it is about, where there may be none of it.

    Raises:
        MissingError: there is none.
        PageError: it was refused.
    """
    if done["__typename"] == "NotFound":
        raise MissingError(what)
    if "message" in done:
        raise PageError(_STATUS.get(done["code"], 400), words.refusal(done["message"]))


async def viewer_of(request: Request, schema: Schema) -> Viewer:
    """Who is behind a request for a page.

    Raises:
        UnauthenticatedError: nobody, or nobody any more.
        RateLimitedError: the principal asks too often.
        StoreError: the store or the issuer that knows can't be asked.
    """
    authorization = authorization_in_cookie(request)
    if authorization is None:
        raise UnauthenticatedError(f"there is no cookie {COOKIE}")
    platform, client = platform_of(request), client_of(request)
    principal = await platform.verifier.verify(authorization, client)
    request.state.actor = principal.actor
    access = Access(platform.database, principal, request_id_of(request))
    return Viewer(schema, Context(platform, access, authorization, client))
