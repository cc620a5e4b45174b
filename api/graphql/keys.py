"""API keys and the audit log, for admins of a project."""

from datetime import datetime

import strawberry

from api.auth.invitations import is_invitation
from api.graphql import node
from api.graphql.node import is_model
from api.graphql.scalars import Role
from schema import control


@strawberry.type(description="A key to one project. The key itself is shown once, when it is made.")
class ApiKey:
    """The fields of ``schema.control.ApiKey``, without the hash."""

    is_type_of = is_model(control.ApiKey)

    id: strawberry.ID = strawberry.field(description="The public part of the key, which names it. It gives no access.")
    project_id: str = strawberry.field(description=node.PROJECT)
    name: str = strawberry.field(description="What the key is for, as its maker said.")
    role: Role = strawberry.field(description="What somebody with this key may do in the project.")
    created_at: datetime = strawberry.field(description="When it was made.")
    created_by: str = strawberry.field(description="Who made it.")
    person: str | None = strawberry.field(
        description="Whose key it is: the author of verdicts that are sent with it. If null, its name is the author."
    )
    expires_at: datetime | None = strawberry.field(description="When it expires; null if it never does.")
    revoked_at: datetime | None = strawberry.field(description="When it was revoked; null if it was not.")

    @strawberry.field(
        description="Whether it is no key, but an invitation: somebody gets a key of their own for its code."
    )
    def is_invitation(self: control.ApiKey) -> bool:
        return is_invitation(self)

    last_used_at: datetime | None = strawberry.field(
        description="When it was last used, accurate to about a minute; null if it never was."
    )


@strawberry.type(
    description="An entry of the audit log, which says who did what. All writes through the API or the command "
    "line are in it, and what admins read."
)
class AuditEntry:
    """The fields of ``schema.control.AuditEntry``."""

    is_type_of = is_model(control.AuditEntry)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    at: datetime = strawberry.field(description="When it was done.")
    actor: str = strawberry.field(
        description="Who did it: an API key (`key:…`), a user who logged in (`oidc:…`), or the command line."
    )
    action: str = strawberry.field(description="What was done or tried.")
    target: str | None = strawberry.field(description="The id of the thing that was changed or read.")
    outcome: str = strawberry.field(description="`ok` if it succeeded, else the name of the error.")
    request_id: str | None = strawberry.field(
        description="The id of the request, as in the server's log and in the response header X-Request-Id."
    )
