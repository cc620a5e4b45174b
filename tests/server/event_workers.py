"""`memtrace worker` beside a server, and a NATS server that can be stopped."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex

from api.local_servers.nats import LocalNats
from tests.nats_server import NatsServer
from tests.server.running import START_SECONDS, Place, command


@dataclass(frozen=True)
class EventWorker:
    """A worker that writes events.

    Attributes:
        log: its log.
        process: its process.
        url: where its metrics are.
    """

    log: Path
    process: subprocess.Popen[bytes]
    url: str


@contextmanager
def event_worker(place: Place, folder: Path, **settings: object) -> Iterator[EventWorker]:
    """A worker with metrics, stopped at the end."""
    log, said = (folder / f"worker-{token_hex(4)}.{end}" for end in ("log", "txt"))
    with log.open("wb") as out, said.open("wb") as err:
        process = subprocess.Popen(
            command("worker", "--metrics-port", "0"), env=place.variables(**settings), stdout=out, stderr=err
        )
    try:
        yield EventWorker(log, process, _url(process, said))
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(START_SECONDS) == 0, said.read_text("utf-8")


def _url(process: subprocess.Popen[bytes], said: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while "writes events" not in (text := said.read_text("utf-8")):
        assert process.poll() is None, text
        assert time.monotonic() < deadline, text
        time.sleep(0.02)
    (found,) = re.findall(r"http://\S+(?=/metrics)", text)
    return str(found)


@contextmanager
def own_nats(folder: Path) -> Iterator[NatsServer]:
    """A server that nobody else uses."""
    local = LocalNats(folder / "nats", port=0)
    try:
        yield NatsServer(local, local.start(guarded=True))
    finally:
        local.stop(kill=True)


def behind(place: Place, nats: NatsServer) -> Place:
    """The place, with its events in NATS."""
    return replace(place, environment={**place.environment, **nats.environment()})
