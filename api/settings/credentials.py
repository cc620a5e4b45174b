"""Users and passwords of Neo4j and NATS: from the environment or a file, never from a URI or an argument."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from schema.errors import InputError, StoreError

if TYPE_CHECKING:
    from store.open import Credentials

DEFAULT_USER = "neo4j"
_FROM_ENVIRONMENT = "they come from MEMTRACE_NEO4J_USER and MEMTRACE_NEO4J_PASSWORD or MEMTRACE_NEO4J_PASSWORD_FILE"


def refuse_secrets(setting: str, uri: str, instead: str = _FROM_ENVIRONMENT) -> None:
    """Refuse a URI with a user or a password, which the list of processes and the shell's history would show.

    Args:
        setting: what holds the URI.
        uri: may be anything.
        instead: where user and password belong, for the error.

    Raises:
        InputError: the URI holds a user or a password, or is none.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise InputError(setting, "", "this is not a URI") from None
    if "@" in parts.netloc or (parts.scheme not in {"sqlite", "file"} and "@" in uri):
        raise InputError(setting, "", f"write the URI without user and password; {instead}")


def neo4j_credentials(uri: str, user: str | None, password: str | None, file: str | None) -> Credentials | None:
    """User and password for a store; a SQLite file needs none.

    Args:
        uri: the store's URI.
        user: None is ``neo4j``.
        password: takes precedence over the file.
        file: a file with the password.

    Raises:
        StoreError: the password file can't be read.
    """
    from store.open import Credentials

    if uri.startswith("sqlite:"):
        return None
    if password is None and file:
        password = read_password(file)
    return Credentials(user or DEFAULT_USER, password or "")


def read_password(file: str) -> str:
    """The password that a file holds, without line ends around it.

    Raises:
        StoreError: the file can't be read.
    """
    try:
        return Path(file).read_text("utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise StoreError(f"the password file {file} can't be read: {reason}") from error
