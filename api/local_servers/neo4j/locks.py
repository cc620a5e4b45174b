"""Locks: the jars of a Neo4j version, with their hashes.

A lock is a text file with one line a jar, `sha256 group:artifact:version[:classifier]`; lines with `#` are comments.
Locks of tested versions are part of this package. The first fetch of any other version writes a lock into the cache
folder (`neo4j/locks`); copying the file into this package ships the lock.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from api.local_servers.neo4j.errors import LocalNeo4jError

_LINE = re.compile(r"(?P<sha256>[0-9a-f]{64}) (?P<coordinates>[\w.-]+(?::[\w.-]+){2,3})")


@dataclass(frozen=True, slots=True)
class Jar:
    """One jar: its coordinates in the registry and the SHA-256 (hex) that its bytes must have."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    @property
    def path(self) -> str:
        """The jar's place below the root of a registry, and of the cache folder's repository."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        folder = f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}"
        return f"{folder}/{self.artifact}-{self.version}{suffix}.jar"

    def __str__(self) -> str:
        return ":".join(part for part in (self.group, self.artifact, self.version, self.classifier) if part)


def read_lock(text: str, name: str) -> tuple[Jar, ...]:
    """Reads a lock's text; `name` is used in errors.

    Raises:
        LocalNeo4jError: A line is malformed, or the lock is empty.
    """
    jars = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise LocalNeo4jError(f"{name}, line {number}: expected 'sha256 group:artifact:version[:classifier]'")
        group, artifact, version, *classifier = match["coordinates"].split(":")
        jars.append(Jar(group, artifact, version, "".join(classifier), match["sha256"]))
    if not jars:
        raise LocalNeo4jError(f"{name}: the lock names no jar")
    return tuple(jars)


def format_lock(jars: Iterable[Jar], comment: str) -> str:
    """The text of a lock, with the jars in their order on the class path."""
    return "".join([f"# {comment}\n", *(f"{jar.sha256} {jar}\n" for jar in jars)])


def find_lock(version: str, cache: Path) -> tuple[Jar, ...] | None:
    """The jars of a version, from the lock in this package or else in the cache folder; None without a lock."""
    shipped = resources.files(__package__) / "locks" / f"{version}.txt"
    if shipped.is_file():
        return read_lock(shipped.read_text(encoding="ascii"), f"the lock of {version}")
    recorded = cache_lock(version, cache)
    if recorded.is_file():
        return read_lock(recorded.read_text(encoding="ascii"), str(recorded))
    return None


def cache_lock(version: str, cache: Path) -> Path:
    """The path of a version's lock in the cache folder."""
    return cache / "locks" / f"{version}.txt"


def sha256_of(path: Path) -> str:
    """The SHA-256 (hex) of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
