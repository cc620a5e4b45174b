"""What can be asked."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Annotated, Any

import strawberry

from api.graphql.context import Info
from api.graphql.node import Node
from api.graphql.project import Project
from schema.errors import InputError, NotFoundError
from store.answers import Label

MAX_NODES = 100


@strawberry.type(description="Who you are here.")
class Viewer:
    """The principal."""

    actor: str = strawberry.field(description="The name that jobs and the audit log know you by.")
    expires_at: datetime | None = strawberry.field(description="From when on you are nobody.")
    projects: list[Project] = strawberry.field(description="The projects that you may reach.")


@strawberry.type(description="What can be asked.")
class Query:
    """The roots of queries."""

    @strawberry.field(description="Who you are here.")
    def viewer(self, info: Info) -> Viewer:
        """The principal."""
        access = info.context.access
        return Viewer(actor=access.principal.actor, expires_at=access.principal.expires_at, projects=_projects(info))

    @strawberry.field(description="The projects that you may reach, by name.")
    def projects(self, info: Info) -> list[Project]:
        """All projects of the principal."""
        return _projects(info)

    @strawberry.field(description="A project; null where you may reach none of this name.")
    def project(
        self,
        info: Info,
        name: Annotated[
            str | None, strawberry.argument(description="Its name; may be left out where you have only one.")
        ] = None,
    ) -> Project | None:
        """A project by name."""
        names = info.context.access.projects
        if name is None and len(names) != 1:
            raise InputError("project", "name", "name the project: you may reach several")
        try:
            return Project(door=info.context.door(name or names[0]))
        except NotFoundError:
            return None

    @strawberry.field(description="The thing with an id, in any of your projects; null where there is none.")
    async def node(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="Its id, whole.")],
    ) -> Node | None:
        """A node by id."""
        found: Node | None = (await _nodes(info, [id]))[0]
        return found

    @strawberry.field(
        description="The things with these ids, in their order; null where there is none.", metadata={"size": 100}
    )
    async def nodes(
        self,
        info: Info,
        ids: Annotated[list[strawberry.ID], strawberry.argument(description=f"Their ids, whole; at most {MAX_NODES}.")],
    ) -> list[Node | None]:
        """Nodes by id."""
        if len(ids) > MAX_NODES:
            raise InputError("ids", "", f"more than {MAX_NODES}")
        return await _nodes(info, ids)


def _projects(info: Info) -> list[Project]:
    return [Project(door=info.context.door(name)) for name in info.context.access.projects]


async def _nodes(info: Info, ids: list[strawberry.ID]) -> list[Any]:
    """Ids are hashes that hold the project, so that at most one project has one."""
    found: dict[str, Any] = {}
    for name in info.context.access.projects:
        door = info.context.door(name)
        missing = [id_ for id_ in dict.fromkeys(ids) if id_ not in found]
        if not missing:
            break
        for elements in await asyncio.gather(*(door.store.get(label, missing) for label in Label)):
            found.update((element.id, element) for element in elements)
        found.update((job.id, job) for job in await door.records.jobs(missing))
    return [found.get(id_) for id_ in ids]
