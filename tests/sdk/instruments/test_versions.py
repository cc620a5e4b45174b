"""A version of a package that nobody has tested: that is told once, what still fits is recorded, and nothing breaks."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from memtrace.instruments.registry import advice

from tests.sdk.instruments import scripted_openai

# The package as a later version may be: another number, and its asynchronous client without the method that is wrapped.
_PROGRAM = """
import importlib.metadata, json
known = importlib.metadata.version
importlib.metadata.version = lambda name: "99.1.0" if name == "openai" else known(name)
import memtrace
from memtrace.exporters.memory import MemoryExporter
from openai import OpenAI, _base_client
del _base_client.AsyncAPIClient.request
exporter = MemoryExporter()
memtrace.configure(exporter=exporter)
for _ in range(3):
    memtrace.instrument("openai")
    memtrace.uninstrument()
memtrace.instrument("openai")
reply = OpenAI().chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}])
memtrace.uninstrument()
print(json.dumps([reply.choices[0].message.content, len(exporter.of("operationEnded")), memtrace.fault_counts()]))
"""


@pytest.mark.parametrize(
    ("version", "is_told"),
    [
        ("1.109.1", False),
        ("2.0", False),
        ("3.54.0", False),
        ("3.54", False),
        ("1.109.0", True),
        ("3.54.1", True),
        ("4.0.0rc1", True),
        (None, False),
    ],
)
def test_the_tested_range(version: str | None, is_told: bool) -> None:
    told = advice("openai", version, ("1.109.1", "3.54.0"))
    assert (told is not None) == is_told
    assert told is None or (told.startswith(f"openai {version} ") and "1.109.1 to 3.54.0" in told)


def test_a_later_version_is_recorded_as_far_as_it_fits() -> None:
    with scripted_openai.running(lambda body: "hello, too") as server:
        settings = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE")}
        settings |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM], env=settings, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[:2] == ["hello, too", 1]
    assert done.stderr.count("openai 99.1.0 is recorded as far as it is like the versions that were tested") == 1
    assert done.stderr.count("AsyncAPIClient.request: what goes through it is not recorded") == 1
    assert "Traceback" not in done.stderr
