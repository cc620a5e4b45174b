"""A file in each folder of the spool that names the platform and project; the folder's name is only a digest."""

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
    """The destination of the events of a folder.

    Attributes:
        endpoint: the platform's address, without user, password and query.
        project: the project's name; None for the key's project.
        key: the public part of the newest key, ``mt_`` and its id; None without an API key.
    """

    endpoint: str
    project: str | None
    key: str | None

    @classmethod
    def of(cls, endpoint: str, key: str | None, project: str | None) -> Purpose:
        """The purpose of a folder, from the settings of an application."""
        parts = urlsplit(endpoint)
        public = _PUBLIC.match(key or "")
        address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        return cls(address, project, public[0] if public else None)

    def write(self, folder: Path) -> None:
        """Write the file, readable by this user only, unless the file says the same already.

        Raises:
            OSError: The file can't be written; the old file stays.
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
    """The purpose of a folder; None without a readable file, as in folders of older recorders."""
    try:
        with (folder / FILE).open("rb") as file:
            said = json.loads(file.read(_LARGEST))
        told = [said["endpoint"], said["project"], said["key"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not isinstance(told[0], str) or not all(one is None or isinstance(one, str) for one in told[1:]):
        return None
    return Purpose(*told)
