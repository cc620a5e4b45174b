"""Invitations: a code that an admin makes for a colleague, good for one key of the colleague's own.

A code has the form ``mi_<id>_<secret>``. It is kept among the keys of the project, under an id that no key can have and
with a hash that no key can have. So a code opens nothing but the page that makes the key, and a key is no invitation.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from secrets import token_hex, token_urlsafe

from api.auth.keys import NOBODY, make_key
from api.errors import UnauthenticatedError
from schema.control import ApiKey, AuditEntry, Role
from schema.errors import InputError
from schema.people import check_person
from schema.projects import check_project
from store.contract.protocol import Database

MOST_DAYS = 30
"""The longest time in which an invitation can be accepted."""

KEY_DAYS = 90
"""The time after which a key that was made for an invitation expires."""

_KEPT = "invitation-"
_FORM = re.compile(r"mi_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_GONE = "this invitation was accepted already, has expired, or was withdrawn: ask for a new one"


def make_invitation(
    project_id: str, person: str, role: Role, created_by: str, now: datetime, expires_at: datetime
) -> tuple[str, ApiKey]:
    """A new invitation: the code that is shown once, and the record that is stored.

    Raises:
        InputError: the name of the project or person is not allowed, the role is admin, or the time is not within
            ``MOST_DAYS`` days.
    """
    check_project(project_id)
    check_person(person, "invitation", "person")
    if role is Role.ADMIN:
        raise InputError("invitation", "role", "nobody becomes an admin by an invitation: make a key")
    if not now < expires_at <= now + timedelta(days=MOST_DAYS, minutes=1):
        raise InputError("invitation", "expiresAt", f"must be within the next {MOST_DAYS} days")
    id_, secret = token_hex(8), token_urlsafe(32)
    name = f"Invitation for {person}"
    kept = ApiKey(f"{_KEPT}{id_}", project_id, name, role, _hash(secret), now, created_by, expires_at, person=person)
    return f"mi_{id_}_{secret}", kept


def is_invitation(key: ApiKey) -> bool:
    """Whether a record among the keys is an invitation."""
    return key.id.startswith(_KEPT)


async def accept_invitation(database: Database, code: str, request_id: str | None) -> tuple[str, ApiKey]:
    """Make the key of the person who has the code. Works once.

    Args:
        database: keeps the keys of all projects.
        code: the code of the invitation.
        request_id: the id of the request, for the audit log.

    Returns:
        The text of the new key, and its record.

    Raises:
        UnauthenticatedError: the code is none, or the invitation was accepted, has expired, or was withdrawn.
    """
    match = _FORM.fullmatch(code.strip())
    if match is None:
        raise UnauthenticatedError("this is no code of an invitation", "this is no code of an invitation")
    now, id_ = datetime.now(UTC), match[1]
    kept = await database.registry().key(f"{_KEPT}{id_}")
    is_right = hmac.compare_digest(_hash(match[2]), kept.secret_hash if kept else NOBODY)
    if kept is None or not is_right or kept.revoked_at is not None or not kept.expires_at or kept.expires_at <= now:
        raise UnauthenticatedError(f"invitation {id_} is unknown, wrong or over", _GONE)
    records, actor = database.records(kept.project_id), f"invitation:{id_}"

    def entry(action: str, target: str) -> AuditEntry:
        return AuditEntry(token_hex(16), kept.project_id, now, actor, action, target, "ok", request_id)

    # Only one of several requests ends the invitation. Should two of them have the same microsecond, both make a key
    # of the same id, of which the store keeps the first.
    taken = await records.revoke_key(kept.id, now, entry("acceptInvitation", kept.id))
    if taken.revoked_at != now:
        raise UnauthenticatedError(f"invitation {id_} is over", _GONE)
    person = kept.person or kept.name
    text, made = make_key(
        kept.project_id, f"{person}, invited", kept.role, actor, now, now + timedelta(days=KEY_DAYS), person
    )
    key_id = hashlib.sha256(f"key of {kept.id}".encode()).hexdigest()[:16]
    text, made = text.replace(made.id, key_id, 1), replace(made, id=key_id)
    await records.add_key(made, entry("createKey", key_id))
    stored = await database.registry().key(key_id)
    if stored is None or not hmac.compare_digest(stored.secret_hash, made.secret_hash):
        raise UnauthenticatedError(f"invitation {id_} was accepted at the same time", _GONE)
    return text, made


def _hash(secret: str) -> str:
    """A hash that differs from that of a key with the same secret."""
    return hashlib.sha256(f"memtrace invitation {secret}".encode()).hexdigest()
