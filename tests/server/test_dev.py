"""`memtrace dev`: starting all parts, using them, an orderly stop, and the loss of a part."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import httpx
import psutil
import pytest

from tests.data import ROOT
from tests.server.running import command

pytestmark = pytest.mark.usefixtures("nats")  # skips where the server can't be had

_PATIENCE_SECONDS = 240
_RECORDED = """
import memtrace

with memtrace.trace("dev", id="dev"), memtrace.operation("generate", kind="Generation"):
    memtrace.variable("a question", kind="Query", name="question")
print(memtrace.flush())
"""
_ASKED = 'query { project { trace(reference: "dev") { operations { nodes { status } } } } }'


class Dev:
    """The command as a process, and what it shows."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self._output = folder.parent / f"dev-{token_hex(4)}.txt"
        # Settings that name a foreign store.
        config = folder.parent / "another.toml"
        config.write_text('[stores.far]\nuri = "sqlite:///nowhere/far.db"\nprojects = ["default"]\n', "utf-8")
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(
                command("dev", "--port", "0", "--folder", str(folder), *options),
                env=environment() | {"MEMTRACE_CONFIG": str(config)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @property
    def shown(self) -> str:
        return self._output.read_text("utf-8")

    @property
    def url(self) -> str:
        """The address, as soon as all parts are ready."""
        return self._said(r"MemTrace is ready at (\S+)")

    def _said(self, line: str) -> str:
        """The group of a pattern, as soon as a whole line matches."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while (found := re.search(rf"^dev +\| +{line}$", self.shown, re.MULTILINE)) is None:
            assert self.process.poll() is None, self.shown
            assert time.monotonic() < end, self.shown
            time.sleep(0.05)
        return found[1]

    def parts(self) -> list[psutil.Process]:
        """All child processes."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def part(self, word: str) -> psutil.Process:
        """The child process with a word in its command line."""
        (found,) = [part for part in self.parts() if word in part.cmdline()]
        return found

    def variables(self) -> dict[str, str]:
        """The environment of a shell that has read the file that it names."""
        said = self._said(r"\. (\S+)")
        done = subprocess.run(
            [
                "/bin/sh",
                "-c",
                f". {said}; exec {sys.executable} -c 'import json, os; print(json.dumps(dict(os.environ)))'",
            ],
            env=environment(),
            capture_output=True,
            check=True,
        )
        found: dict[str, str] = json.loads(done.stdout)
        return found

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(_PATIENCE_SECONDS)


@contextmanager
def started(folder: Path, *options: str) -> Iterator[Dev]:
    dev = Dev(folder, *options)
    watchdog = threading.Timer(_PATIENCE_SECONDS, dev.process.kill)
    watchdog.start()
    try:
        yield dev
    finally:
        watchdog.cancel()
        if dev.process.poll() is None:
            dev.end(signal.SIGTERM)


def environment() -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
    return own | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'sdk'}"}


def record_and_see(dev: Dev) -> str:
    """Record an operation as an application does, and find it in the graph; the key that was used."""
    url = dev.url
    created = subprocess.run(
        command("keys", "create", "--role", "writer", "--json"),
        env=dev.variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert created.returncode == 0, created.stderr
    key = str(json.loads(created.stdout)["key"])
    said = environment() | {"MEMTRACE_ENDPOINT": url, "MEMTRACE_API_KEY": key}
    done = subprocess.run([sys.executable, "-c", _RECORDED], env=said, capture_output=True, text=True, check=False)
    assert "spooled=0, dropped=0, rejected=0" in done.stdout, done.stderr + dev.shown
    end = time.monotonic() + _PATIENCE_SECONDS
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=300) as client:
        while seen(client) != ["ok"]:
            assert time.monotonic() < end, dev.shown
            time.sleep(0.05)
    return key


def seen(client: httpx.Client) -> list[str]:
    """The states of the operations that the graph holds."""
    answer: dict[str, Any] = client.post("/graphql", json={"query": _ASKED}).json()
    trace = (answer["data"] or {"project": {"trace": None}})["project"]["trace"]
    return [operation["status"] for operation in trace["operations"]["nodes"]] if trace else []


def stopped(dev: Dev) -> list[str]:
    """The parts that the command reported as stopped, in order."""
    return re.findall(r"^dev +\| (\w+) is stopped$", dev.shown, re.MULTILINE)


def gone(parts: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(parts, _PATIENCE_SECONDS)[1]


def test_events_go_in_and_it_stops_in_order(tmp_path: Path) -> None:
    with started(tmp_path / "dev") as dev:
        key = record_and_see(dev)
        again = Dev(dev.folder)
        assert again.process.wait(_PATIENCE_SECONDS) == 1
        assert f"runs already with the folder {dev.folder}" in again.shown
        parts = dev.parts()
        password = (dev.folder / "nats" / "password").read_text("utf-8").strip()
        for text in (dev.shown, *(" ".join(part.cmdline()) for part in parts)):
            assert password not in text
            assert key not in text
        assert dev.end(signal.SIGINT) == 0
    assert stopped(dev) == ["api", "worker", "nats"]
    assert gone(parts)


def test_a_part_that_is_lost_ends_the_others(tmp_path: Path) -> None:
    with started(tmp_path / "dev") as dev:
        assert dev.url
        parts = dev.parts()
        dev.part("worker").kill()
        assert dev.process.wait(_PATIENCE_SECONDS) == 1
    assert "error: worker ended by itself (signal 9); the others are stopped" in dev.shown
    assert stopped(dev)[0] == "api"
    assert gone(parts)


def test_nothing_outlives_a_kill_and_it_starts_again(tmp_path: Path) -> None:
    with started(tmp_path / "dev") as dev:
        assert dev.url
        parts = dev.parts()
        dev.end(signal.SIGKILL)
    assert gone(parts)
    with started(dev.folder) as again:
        assert again.url
        assert again.end(signal.SIGTERM) == 0


@pytest.mark.neo4j
@pytest.mark.usefixtures("neo4j_distribution")
def test_with_neo4j(tmp_path: Path) -> None:
    with started(tmp_path / "dev", "--neo4j") as dev:
        record_and_see(dev)
        parts = dev.parts()
        assert dev.variables()["MEMTRACE_STORE"].startswith("neo4j://127.0.0.1:")
        password = (dev.folder / "neo4j" / "password").read_text("utf-8").strip()
        assert not any(password in text for text in (dev.shown, *(" ".join(part.cmdline()) for part in parts)))
        assert dev.end(signal.SIGTERM) == 0
    assert stopped(dev) == ["api", "worker", "nats", "neo4j"]
    assert gone(parts)
