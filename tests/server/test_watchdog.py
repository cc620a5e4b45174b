"""The watchdog of the servers of tests: it sees what holds the loop, names it, and fails the test."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.server.running import ROOT, running, sqlite_place
from tests.server.watchdog import LIMIT_SECONDS, Found

_SERVER = """
import asyncio, sys, threading, time, uvicorn
from tests.server.watchdog import watch

watch(sys.argv[1])

def work(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(100))

async def held():
    work(float(sys.argv[2]))

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        work(0.3)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        work(0.3)
        await send({"type": "lifespan.shutdown.complete"})

class Server(uvicorn.Server):
    async def main_loop(self):
        await asyncio.create_task(held())
        await asyncio.to_thread(work, 0.3)
        time.sleep(0.3)

Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on")).run()
"""


def findings(folder: Path, seconds: float) -> list[dict[str, object]]:
    """What the watchdog writes of a server whose loop works this long, at a time when a request could."""
    file = folder / "held"
    program = [sys.executable, "-c", _SERVER, str(file), str(seconds)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_what_holds_the_loop_is_named(tmp_path: Path) -> None:
    """Work of a task, but neither that of the start and the end, nor of other threads, nor time without work."""
    (found,) = findings(tmp_path, 20 * LIMIT_SECONDS)
    assert "held" in str(found["ran"])
    assert "in work" in str(found["seen"])


def test_a_free_loop_is_not_complained_of(tmp_path: Path) -> None:
    assert findings(tmp_path, 0.0) == []


def test_a_server_of_a_test_is_watched(tmp_path: Path) -> None:
    """Whatever the fixture hands out writes its findings where the tests look, and a finding fails them."""
    with ExitStack() as stack:
        server = stack.enter_context(running(sqlite_place(tmp_path), tmp_path, job_concurrency=0))
        assert str(server.held.path) in Path(f"/proc/{server.process.pid}/cmdline").read_text()
        found = {"seconds": 0.06, "slowness": 1.0, "collecting": {}, "ran": "a test", "seen": [["  here", 2]]}
        server.held.path.write_text(json.dumps(found) + "\n")
        with pytest.raises(pytest.fail.Exception, match=r"held for 60 ms .* by a test; the limit is 50 ms"):
            stack.close()


def test_each_finding_is_told_once(tmp_path: Path) -> None:
    """A finding that is being written is told when it is whole."""
    found = Found(tmp_path / "held")
    assert found.new() == []
    line = json.dumps({"seconds": 0.06, "slowness": 1.0, "collecting": {"2": 0.01}, "ran": "x", "seen": []})
    found.path.write_text(line + "\n" + line[:10])
    assert ["10 ms of it collecting garbage of generation 2" in text for text in found.new()] == [True]
    found.path.write_text(line + "\n" + line + "\n")
    assert len(found.new()) == 1
    assert found.new() == []
