"""What a folder of the spool is for, in words that people know: its name is a digest, so that it tells no secret."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

FILE = "purpose.json"

_PUBLIC = re.compile(r"mt_[0-9a-f]{16}(?=_)")
_LARGEST = 100_000


@dataclass(frozen=True, slots=True)
class Purpose:
    """Where the events of a folder are to be sent.

    Attributes:
        endpoint: the platform's address, without user, password and query.
        project: its name; None where it is the key's own.
        key: the part of the key that is no secret, ``mt_`` and its id; None where there is none, or it is no API key.
            A folder of a project may have had others before.
    """

    endpoint: str
    project: str | None
    key: str | None

    @classmethod
    def of(cls, endpoint: str, key: str | None, project: str | None) -> Purpose:
        """The purpose of what an application can't send now, by its settings."""
        parts = urlsplit(endpoint)
        public = _PUBLIC.match(key or "")
        address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        return cls(address, project, public[0] if public else None)

    def write(self, folder: Path) -> None:
        """Say it in a folder, for this user only, unless it is said there already.

        Raises:
            OSError: It can't be written; what was said before stays.
        """
        if read(folder) == self:
            return
        new = folder / f"{FILE}.{os.getpid()}"
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(json.dumps(asdict(self)).encode())
            new.replace(folder / FILE)
        except OSError:
            with suppress(OSError):
                new.unlink()
            raise


def read(folder: Path) -> Purpose | None:
    """What a folder is for; None where it does not say so, as recorders before this one did."""
    try:
        with (folder / FILE).open("rb") as file:
            said = json.loads(file.read(_LARGEST))
        told = [said["endpoint"], said["project"], said["key"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not isinstance(told[0], str) or not all(one is None or isinstance(one, str) for one in told[1:]):
        return None
    return Purpose(*told)
