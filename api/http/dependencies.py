"""Dependencies of routes: the platform, and the project for the principal of the request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, cast

from fastapi import Depends, Query
from starlette.requests import HTTPConnection

from api.auth.access import Access, ProjectDoor
from api.auth.asker import Asker
from api.http.platform import Platform
from schema.control import Role
from schema.errors import InputError


def platform_of(connection: HTTPConnection) -> Platform:
    """The platform of the server."""
    return cast(Platform, connection.app.state.platform)


def request_id_of(connection: HTTPConnection) -> str | None:
    """The request's id, as in log lines and in the answer's header."""
    return cast("str | None", connection.scope.get("state", {}).get("request_id"))


def client_of(connection: HTTPConnection) -> str | None:
    """The client's address; None if the connection has none, as on a local socket."""
    return connection.client.host if connection.client else None


def asker_of(connection: HTTPConnection) -> Asker:
    """The sender of an HTTP request; see ``api.http.limits.Bodies``."""
    return cast(Asker, connection.scope["state"]["asker"])


async def access_of(request: HTTPConnection) -> Access:
    """The access of a request's principal.

    Raises:
        UnauthenticatedError: the request has no valid key or token.
        RateLimitedError: the principal asks too often.
        StoreError: the store or the issuer that checks the key can't be reached.
    """
    principal = await asker_of(request).principal()
    request.state.actor = principal.actor
    return Access(platform_of(request).database, principal, request_id_of(request))


def door(needed: Role) -> Callable[..., Awaitable[ProjectDoor]]:
    """A dependency: the project that the request names, or the principal's only one, for this role."""

    async def dependency(
        access: Annotated[Access, Depends(access_of)],
        project: Annotated[
            str | None,
            Query(
                description="The name of the project. You may leave it out with an API key, which belongs to only one "
                "project."
            ),
        ] = None,
    ) -> ProjectDoor:
        return access.project(project or _only_project(access), needed)

    return dependency


def _only_project(access: Access) -> str:
    if len(access.projects) != 1:
        raise InputError("query", "project", "name the project: there are several that you may reach")
    return access.projects[0]


Reader = Annotated[ProjectDoor, Depends(door(Role.READER))]
Writer = Annotated[ProjectDoor, Depends(door(Role.WRITER))]
Admin = Annotated[ProjectDoor, Depends(door(Role.ADMIN))]
