"""Fetching single files from the package registry: with retries, with checks, and never half written."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import jgo.constants
import requests

from api.local_servers.neo4j.errors import AbsentError, RegistryError

REGISTRY_VARIABLE = "MEMTRACE_MAVEN_REGISTRY"
_CHUNK = 1 << 18


def _default_url() -> str:
    return (os.environ.get(REGISTRY_VARIABLE) or jgo.constants.MAVEN_CENTRAL_URL).rstrip("/")


@dataclass(frozen=True, slots=True)
class Registry:
    """A package registry in Maven's layout.

    Attributes:
        url: Its root; by default `MEMTRACE_MAVEN_REGISTRY` (a mirror), else the public one.
        attempts: Most attempts for a file; registries refuse in bursts.
        pause: Seconds before the second attempt; doubled before each further one.
        timeout: Seconds without an answer, or without a byte, after which an attempt has failed.
    """

    url: str = field(default_factory=_default_url, repr=False)
    attempts: int = 6
    pause: float = 1.0
    timeout: float = 30.0

    def fetch(self, path: str, target: Path, sha256: str | None) -> bool:
        """Fetches one file; `target` appears only when the file is whole and checked.

        Args:
            path: The file's place below the registry's root.
            target: Where to put it. Its folder is made.
            sha256: The expected hash (hex); None to check against the published SHA-1.

        Returns:
            Whether the bytes were checked. False only if no SHA-256 was given and no SHA-1 is published.

        Raises:
            AbsentError: The registry does not have the file.
            RegistryError: The registry can't be reached, or the bytes are not the expected ones.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            digest = self._persist(path, lambda: self._download(path, part, "sha256" if sha256 else "sha1"))
            expected = sha256 or self._published_sha1(f"{path}.sha1")
            if expected is not None and digest != expected:
                raise RegistryError(
                    f"The registry sent a {target.name} that is not the expected one (its hash is {digest} "
                    f"instead of {expected}); it was not kept. A proxy or a mirror may have changed it."
                )
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        return expected is not None

    def _download(self, path: str, part: Path, algorithm: str) -> str:
        digest = hashlib.new(algorithm)
        with requests.get(f"{self.url}/{path}", stream=True, timeout=self.timeout) as response:
            response.raise_for_status()
            with part.open("wb") as file:
                for chunk in response.iter_content(_CHUNK):
                    digest.update(chunk)
                    file.write(chunk)
        return digest.hexdigest()

    def _published_sha1(self, path: str) -> str | None:
        def read() -> str:
            response = requests.get(f"{self.url}/{path}", timeout=self.timeout)
            response.raise_for_status()
            return response.text

        try:
            words = self._persist(path, read).split()
        except AbsentError:
            return None
        # The file is the bare hash, or the hash and the file's name.
        return words[0].lower() if words else None

    def _persist(self, path: str, action: Callable[[], str]) -> str:
        reason = ""
        for attempt in range(self.attempts):
            if attempt:
                time.sleep(self.pause * 2 ** (attempt - 1))
            try:
                return action()
            except requests.HTTPError as error:
                status = error.response.status_code if error.response is not None else 0
                if status == 404:
                    raise AbsentError(f"The registry has no {path}.") from None
                reason = f"it answered with status {status}"
            except requests.RequestException as error:
                reason = f"it could not be reached ({type(error).__name__})"
        # The URL may hold a mirror's password, and the request library's text may quote the URL.
        raise RegistryError(
            f"Could not fetch {path} from the package registry at {urlsplit(self.url).hostname}: {reason}, "
            f"{self.attempts} times. The network is needed once, to fetch the server's jars; what has been "
            "fetched is kept, so starting again goes on from there. To work without: let --store "
            "(MEMTRACE_STORE) or, for tests, MEMTRACE_TEST_NEO4J_URI name a server that runs already, or "
            f"{REGISTRY_VARIABLE} a mirror."
        )
