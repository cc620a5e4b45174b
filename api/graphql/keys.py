"""API keys and the audit log, for admins of a project."""

from __future__ import annotations

from datetime import datetime

import strawberry

from api.graphql import node
from api.graphql.node import is_model
from api.graphql.scalars import Role
from schema import control


@strawberry.type(description="A key to one project. The key itself is shown once, when it is made.")
class ApiKey:
    """Read off ``schema.control.ApiKey``; the hash stays inside."""

    is_type_of = is_model(control.ApiKey)

    id: strawberry.ID = strawberry.field(description="The part of the key by which it is found; it opens nothing.")
    project_id: str = strawberry.field(description=node.PROJECT)
    name: str = strawberry.field(description="What it is for.")
    role: Role = strawberry.field(description="What its bearer may do.")
    created_at: datetime = strawberry.field(description="When it was made.")
    created_by: str = strawberry.field(description="Who made it.")
    expires_at: datetime | None = strawberry.field(description="From when on it opens nothing.")
    revoked_at: datetime | None = strawberry.field(description="When it was revoked.")
    last_used_at: datetime | None = strawberry.field(description="When it was last used, to about a minute.")


@strawberry.type(description="Who did what: every write through a door, and what admins read.")
class AuditEntry:
    """Read off ``schema.control.AuditEntry``."""

    is_type_of = is_model(control.AuditEntry)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    at: datetime = strawberry.field(description="When.")
    actor: str = strawberry.field(description="Who: `key:…`, `oidc:…`, or the command line.")
    action: str = strawberry.field(description="What was asked.")
    target: str | None = strawberry.field(description="The id that it was done to.")
    outcome: str = strawberry.field(description="`ok`, or the name of the error.")
    request_id: str | None = strawberry.field(description="Joins it to the log, and to the answer's X-Request-Id.")
