"""The access of a principal. All interfaces get their stores here, so that every store is bound to a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import token_hex

from api.errors import ForbiddenError, UnknownProjectError
from schema.control import AuditEntry, Role
from schema.projects import check_project
from store.blind import blind_records, blind_store
from store.contract.protocol import Database, GraphStore
from store.contract.records import ProjectRecords


@dataclass(frozen=True, slots=True)
class Principal:
    """Whoever makes a request.

    Attributes:
        actor: ``key:<id of the key>`` or ``oidc:<subject>``, as in the audit log and in jobs.
        grants: the role in each project that the principal knows. Other projects are never mentioned to the principal.
        expires_at: when the key or token runs out; None if it never does.
        is_keeper: whether the principal keeps the store, and so sees verdicts that are withheld from annotators; see
            ``store.blind``.
        person: the author of the principal's verdicts; two keys of a person have the same author. If empty, ``actor``
            is the author.
    """

    actor: str
    grants: Mapping[str, Role]
    expires_at: datetime | None = None
    person: str = ""
    is_keeper: bool = False

    @property
    def author(self) -> str:
        """The author of the principal's verdicts."""
        return self.person or self.actor

    def is_expired(self, now: datetime) -> bool:
        """Whether the key or token has expired."""
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True)
class ProjectDoor:
    """The view of a principal on a project, for one request.

    Attributes:
        role: the principal's role here.
        author: the principal's name in verdicts; see ``Principal.author``.
        store: the project's traces.
        records: the project's keys, jobs and audit log.
    """

    project_id: str
    role: Role
    actor: str
    request_id: str | None
    store: GraphStore
    records: ProjectRecords
    author: str

    def require(self, needed: Role) -> None:
        """Refuse a principal whose role is not enough.

        Raises:
            ForbiddenError: the role is not enough.
        """
        if not self.role.allows(needed):
            raise ForbiddenError(self.project_id, needed.value)

    def entry(self, action: str, target: str | None = None) -> AuditEntry:
        """The entry of the audit log for a write, which is stored together with the write."""
        now = datetime.now(UTC)
        return AuditEntry(token_hex(16), self.project_id, now, self.actor, action, target, "ok", self.request_id)

    async def told(self, action: str) -> None:
        """Add to the audit log what an admin has read; call it before the answer goes out."""
        await self.records.log([self.entry(action)])


class Access:
    """The projects of a principal, for one request."""

    def __init__(self, database: Database, principal: Principal, request_id: str | None = None) -> None:
        self._database = database
        self.principal = principal
        self.request_id = request_id

    @property
    def projects(self) -> list[str]:
        """The projects that the principal knows, in order."""
        return sorted(self.principal.grants)

    def project(self, project_id: str, needed: Role = Role.READER) -> ProjectDoor:
        """A project.

        Raises:
            InputError: no project can be called this.
            UnknownProjectError: the principal does not know the project, whether or not it exists.
            ForbiddenError: the principal knows the project, but the role is not enough.
        """
        check_project(project_id)
        return self.any_project(project_id, needed)

    def any_project(self, project_id: str, needed: Role = Role.READER) -> ProjectDoor:
        """A project, for the keeper of a store. Old names that are no longer allowed are accepted.

        Raises:
            UnknownProjectError, ForbiddenError: see ``project``.
        """
        role = self.principal.grants.get(project_id)
        if role is None:
            raise UnknownProjectError(project_id)
        author = self.principal.author
        store, records = self._database.project(project_id), self._database.records(project_id)
        if not self.principal.is_keeper:
            store, records = blind_store(store, records, author), blind_records(records, store, author)
        door = ProjectDoor(project_id, role, self.principal.actor, self.request_id, store, records, author)
        door.require(needed)
        return door
