"""Opens the project with all rights, as the user at the machine; the audit log names ``command line``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from api.cli.context import Target, person_named

if TYPE_CHECKING:
    from api.auth.access import ProjectDoor

ACTOR = "command line"


@asynccontextmanager
async def keeper_door(
    place: Target, create: bool = False, any_name: bool = False, person: str | None = None
) -> AsyncIterator[ProjectDoor]:
    """The project; see ``Target.open``.

    A named person (or ``MEMTRACE_PERSON``) sees only what an annotator may see.
    """
    from api.auth.access import Access, Principal
    from schema.control import Role

    project_id = place.any_project_id if any_name else place.project_id
    person = person or person_named()
    keeper = Principal(ACTOR, {project_id: Role.ADMIN}, person=person or "", is_keeper=person is None)
    async with place.database(create) as database:
        access = Access(database, keeper)
        yield (access.any_project if any_name else access.project)(project_id, Role.ADMIN)
