"""A service under ``gunicorn --preload``: the instrument and the recorder's thread are there before the workers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from tests.environments import python
from tests.sdk import platform
from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.running import APPLICATIONS, Run, check_whole

WORKERS = 3
REQUESTS = 30
FAILING = 7
"""Every seventh request fails at the model."""
_START_SECONDS = 120


class Model:
    """The scripted model. The first requests wait for each other, so each worker gets one."""

    def __init__(self) -> None:
        self.all_at_once = threading.Barrier(WORKERS)

    def __call__(self, body: dict[str, Any]) -> str | int:
        words = str(body["messages"][-1]["content"])
        if words.startswith("together: "):
            self.all_at_once.wait(_START_SECONDS)
        return 500 if words.startswith("fail: ") else words.partition(": ")[2]


@contextmanager
def service(folder: Path, more: dict[str, str]) -> Iterator[str]:
    """The address of a running service."""
    folder.mkdir()
    log = folder / "log"
    command = [python("gunicorn"), "-m", "gunicorn", "--preload", "--workers", str(WORKERS), "--bind", "127.0.0.1:0"]
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("MEMTRACE", "PYTHON"))}
    with log.open("w") as out:
        process = subprocess.Popen(
            [*map(str, command), "--timeout", "300", "web_service:application"],
            env=settings | more,
            cwd=APPLICATIONS,
            stdout=out,
            stderr=out,
        )
        try:
            yield _address(process, log)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(_START_SECONDS)
    assert process.returncode == 0, log.read_text()
    assert not re.search("Traceback|failed at|is not recorded", log.read_text())


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while (found := re.search(r"Listening at: (http://\S+)", log.read_text())) is None:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
    return found[1]


def served(folder: Path, instrument: bool) -> tuple[list[dict[str, Any]], Run]:
    """The service's answers, and the recorded run."""
    words = [f"together: {number} of all" for number in range(WORKERS)]
    words += [f"{'fail' if number % FAILING == 0 else 'say'}: word {number}" for number in range(REQUESTS)]
    with scripted_openai.running(Model()) as model, platform.running() as receiver:
        more = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "k"}
        if instrument:
            more |= {"MEMTRACE_INSTRUMENT": "openai", "MEMTRACE_ENDPOINT": receiver.endpoint}
            more |= {"MEMTRACE_SPOOL": str(folder / "spool")}
        with (
            service(folder, more) as address,
            httpx.Client(timeout=300, transport=httpx.HTTPTransport(retries=3)) as client,
            ThreadPoolExecutor(WORKERS) as pool,
        ):
            answers = list(pool.map(lambda one: client.get(f"{address}/?{quote(one)}").json(), words))
        return answers, Run(None, list(receiver.events))


def test_workers_that_are_forked_off_record_all(tmp_path: Path) -> None:
    plain, nothing = served(tmp_path / "without", False)
    answers, recorded = served(tmp_path / "with", True)
    assert not nothing.events
    assert [one["said"] for one in answers] == [one["said"] for one in plain]
    assert {one["greeting"] for one in answers} == {"welcome"}
    assert len({one["process"] for one in answers}) == WORKERS
    check_whole(recorded)
    assert recorded.operations() == [("openai chat", "Generation")] * (1 + WORKERS + REQUESTS)
    statuses = [event["status"] for event in recorded.of("operationEnded")]
    assert statuses.count("error") == len(range(0, REQUESTS, FAILING))
    said = sorted(event["value"] for event in recorded.variables("Answer"))
    assert said == sorted(["welcome", *(one["said"] for one in answers if one["said"] != "InternalServerError")])
    assert len({event["session"] for event in recorded.of("session")}) == 1 + WORKERS + REQUESTS
