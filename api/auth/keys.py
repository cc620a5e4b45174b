"""API keys: ``mt_<id>_<secret>``, of which only the id and a hash of the secret are kept."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass, field
from datetime import datetime
from secrets import token_hex, token_urlsafe

from schema.control import ApiKey, Role
from schema.people import check_person
from schema.projects import check_project

PREFIX = "mt_"
_FORM = re.compile(r"mt_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_SECRET = re.compile(r"(m[ti]_[0-9a-f]{16})_[A-Za-z0-9_-]{43}")
_LENGTH = len(PREFIX) + 16 + 1 + 43
NOBODY = "0" * 64
"""The hash of no secret."""


@dataclass(frozen=True, slots=True)
class PresentedKey:
    """A key in a request; its ``repr`` hides the secret."""

    id: str
    secret: str = field(repr=False)


def make_key(
    project_id: str,
    name: str,
    role: Role,
    created_by: str,
    now: datetime,
    expires_at: datetime | None = None,
    person: str | None = None,
) -> tuple[str, ApiKey]:
    """A new key: the text that is shown once, and the record that is stored.

    Raises:
        InputError: the name of the project or of the person is not allowed.
    """
    check_project(project_id)
    if person is not None:
        check_person(person, "key", "person")
    key_id, secret = token_hex(8), token_urlsafe(32)
    kept = ApiKey(key_id, project_id, name, role, hash_secret(secret), now, created_by, expires_at, person=person)
    return f"{PREFIX}{key_id}_{secret}", kept


def parse_key(text: str) -> PresentedKey | None:
    """The parts of a key; None if a text is not in the form of a key."""
    match = _FORM.fullmatch(text)
    return PresentedKey(match[1], match[2]) if match else None


def form_problem(text: str) -> str:
    """An error for a sender of something that is not a key: the form of a key, and the length of the text."""
    return f"a key is {_LENGTH} characters that begin with {PREFIX}; {len(text):,} were sent"


def hash_secret(secret: str) -> str:
    """SHA-256 in hexadecimal; the secret is 256 random bits, so that a slow hash would protect nothing."""
    return hashlib.sha256(secret.encode()).hexdigest()


def is_genuine(presented: PresentedKey, kept: ApiKey | None) -> bool:
    """Whether the secret fits the stored key. Takes equally long without a stored key."""
    expected = kept.secret_hash if kept is not None else NOBODY
    return hmac.compare_digest(hash_secret(presented.secret), expected) and kept is not None


def mask_keys(text: str) -> str:
    """A text with the secrets of keys and invitations masked. The ids stay: people find and revoke keys by them."""
    return _SECRET.sub(r"\1_…", text) if "mt_" in text or "mi_" in text else text
