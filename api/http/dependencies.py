"""What routes are given: the platform, and one project's door for the principal who asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, cast

from fastapi import Depends, Query, Request
from starlette.requests import HTTPConnection

from api.auth.access import Access, ProjectDoor
from api.http.platform import Platform
from schema.control import Role
from schema.errors import InputError


def platform_of(connection: HTTPConnection) -> Platform:
    """The parts of the server that took the connection."""
    return cast(Platform, connection.app.state.platform)


def request_id_of(connection: HTTPConnection) -> str | None:
    """The request's id, as its log lines and its answer's header say it."""
    return cast("str | None", connection.scope.get("state", {}).get("request_id"))


def client_of(connection: HTTPConnection) -> str | None:
    """The address that a connection comes from; None where it has none, as on a local socket."""
    return connection.client.host if connection.client else None


async def access_of(request: Request) -> Access:
    """What the principal behind a request may reach.

    Raises:
        UnauthenticatedError: it has no valid key or token.
        RateLimitedError: the principal asks too often.
    """
    platform = platform_of(request)
    principal = await platform.verifier.verify(request.headers.get("authorization"), client_of(request))
    request.state.actor = principal.actor
    return Access(platform.database, principal, request_id_of(request))


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
