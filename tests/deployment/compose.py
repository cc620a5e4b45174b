"""What docker-compose.yml says, and its services as processes of this machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.data import ROOT

FILE = ROOT / "docker-compose.yml"
MEMTRACE = ("migrate", "api", "worker")
SEAWEEDFS = ("seaweedfs", "bucket")
STOP_SECONDS = 60

Service = dict[str, Any]


@cache
def compose() -> dict[str, Any]:
    """The file, with its anchors and merges resolved."""
    found: dict[str, Any] = YAML(typ="safe").load(FILE)
    return found


def services() -> dict[str, Service]:
    """The services by name."""
    found: dict[str, Service] = compose()["services"]
    return found


def tool(name: str) -> str:
    """A program that a package has brought."""
    return str(Path(sysconfig.get_path("scripts")) / name)


class Machine:
    """A folder and ports in place of containers: the file is used as it is, with host names and paths replaced.

    Attributes:
        secrets: the folder that stands for ``./secrets``.
    """

    def __init__(self, folder: Path, replaced: Mapping[str, str]) -> None:
        """Take a folder.

        Args:
            folder: an empty one.
            replaced: names and paths in commands and environments, and what replaces them here.
        """
        self._folder = folder
        self.secrets = folder / "secrets"
        subprocess.run([ROOT / "docker" / "secrets.sh", self.secrets], check=True, capture_output=True)
        mounted = {
            f"/run/secrets/{name}": str(self.secrets / Path(secret["file"]).name)
            for name, secret in compose()["secrets"].items()
        }
        self._replaced = mounted | dict(replaced)
        self._replaced |= self._settings()
        self._install()

    def secret(self, name: str) -> str:
        """What a secret holds."""
        return (self.secrets / name).read_text("utf-8").strip()

    def localized(self, text: str) -> str:
        """A part of a command or an environment, with its names and places replaced."""
        for name, meant in self._replaced.items():
            text = text.replace(name, meant)
        return text.replace("$$", "$")

    def command(self, service: str, more: Sequence[str] = ()) -> list[str]:
        """What a service's container runs."""
        said = services()[service]
        entrypoint = said.get("entrypoint", ["memtrace"])
        return self._program([self.localized(part) for part in [*entrypoint, *said["command"], *more]])

    def health(self, service: str) -> list[str]:
        """The command that checks a service's health."""
        kind, *command = services()[service]["healthcheck"]["test"]
        assert kind == "CMD"
        return self._program([self.localized(part) for part in command])

    def environment(self, service: str, **more: str) -> dict[str, str]:
        """What a service's container has in its environment, and nothing of the caller's."""
        said = {name: self.localized(value) for name, value in services()[service].get("environment", {}).items()}
        path = f"{Path(sys.executable).parent}:{sysconfig.get_path('scripts')}:{os.defpath}"
        return {"PATH": path, "PYTHONPATH": str(ROOT), "TMPDIR": str(self._folder)} | said | more

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            command, cwd=self._folder, env=environment, capture_output=True, text=True, check=False, timeout=120
        )

    @contextmanager
    def running(
        self, command: Sequence[str], environment: Mapping[str, str], name: str
    ) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
        """A process that works until it is told to stop, and the file with all that it says."""
        log = self._folder / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(command, cwd=self._folder, env=environment, stdout=output, stderr=output)
        try:
            yield process, log
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def _settings(self) -> dict[str, str]:
        """Write the mounted files of settings; return their paths on this machine by their paths in the container."""
        found = {}
        for service in services().values():
            for mounted in service.get("configs", ()):
                file = ROOT / compose()["configs"][mounted["source"]]["file"]
                local = self._folder / file.name
                local.write_text(self.localized(file.read_text("utf-8")), "utf-8")
                found[mounted["target"]] = str(local)
        return found

    def _install(self) -> None:
        """Write the entry point as the Dockerfile does, for the ``memtrace`` of this interpreter."""
        for folder in ("entrypoint", "bin"):
            (self._folder / folder).mkdir()
        entrypoint = self._folder / "entrypoint" / "memtrace"
        entrypoint.write_bytes((ROOT / "docker" / "entrypoint.sh").read_bytes())
        program = self._folder / "bin" / "memtrace"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memtrace_platform "$@"\n')
        for file in (entrypoint, program):
            file.chmod(0o755)

    def _program(self, command: list[str]) -> list[str]:
        name, *rest = command
        return [str(self._folder / "entrypoint" / "memtrace") if name == "memtrace" else name, *rest]


def stop(process: subprocess.Popen[bytes]) -> int:
    """Tell a process to stop in order, as ``docker compose stop`` does; its exit code."""
    process.send_signal(signal.SIGTERM)
    return process.wait(STOP_SECONDS)


def neo4j_settings() -> dict[str, str]:
    """The server's settings among the environment of its image, by the rule of the image."""
    environment = services()["neo4j"]["environment"]
    return {
        re.sub(r"\.\.", "_", name.removeprefix("NEO4J_").replace("_", ".")): value
        for name, value in environment.items()
        if not name.endswith("_FILE")
    }
