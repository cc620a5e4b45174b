"""Everything that you can ask for."""

import asyncio
from datetime import datetime
from typing import Annotated, Any

import strawberry

from api.graphql.context import Info
from api.graphql.node import Node
from api.graphql.project import Project
from schema.errors import InputError, NotFoundError
from store.contract.answers import Label

MAX_NODES = 100


@strawberry.type(description="Who you are, and what you have access to.")
class Viewer:
    actor: str = strawberry.field(description="Your name in jobs and in the audit log.")
    person: str = strawberry.field(description="Your name in verdicts.")
    expires_at: datetime | None = strawberry.field(description="When your access expires; null if it does not.")
    projects: list[Project] = strawberry.field(description="The projects that you have access to.")


@strawberry.type(description="Everything that you can ask for.")
class Query:
    @strawberry.field(description="Who you are, and what you have access to.")
    def viewer(self, info: Info) -> Viewer:
        access = info.context.access
        principal = access.principal
        return Viewer(
            actor=principal.actor,
            person=principal.author,
            expires_at=principal.expires_at,
            projects=_projects(info),
        )

    @strawberry.field(description="The projects that you have access to, ordered by name.")
    def projects(self, info: Info) -> list[Project]:
        return _projects(info)

    @strawberry.field(description="A project; null if you have no access to a project of this name.")
    def project(
        self,
        info: Info,
        name: Annotated[
            str | None,
            strawberry.argument(description="Its name. You may leave it out if you have access to only one project."),
        ] = None,
    ) -> Project | None:
        names = info.context.access.projects
        if name is None and len(names) != 1:
            raise InputError("project", "name", "name the project: you may reach several")
        try:
            return Project(door=info.context.door(name or names[0]))
        except NotFoundError:
            return None

    @strawberry.field(description="The element with this id, in any of your projects; null if there is none.")
    async def node(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The whole id; a prefix is not enough.")],
    ) -> Node | None:
        found: Node | None = (await _nodes(info, [id]))[0]
        return found

    @strawberry.field(
        description="The elements with these ids, in the same order; null for each unknown id.",
        metadata={"size": 100},
    )
    async def nodes(
        self,
        info: Info,
        ids: Annotated[
            list[strawberry.ID],
            strawberry.argument(description=f"The whole ids, at most {MAX_NODES}; prefixes are not enough."),
        ],
    ) -> list[Node | None]:
        if len(ids) > MAX_NODES:
            raise InputError("ids", "", f"more than {MAX_NODES}")
        return await _nodes(info, ids)


def _projects(info: Info) -> list[Project]:
    return [Project(door=info.context.door(name)) for name in info.context.access.projects]


async def _nodes(info: Info, ids: list[strawberry.ID]) -> list[Any]:
    """The elements with these ids. The project is part of an id's hash, so an id is in one project at most."""
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
