"""What a killed process leaves of traces whose place was undecided, with each exporter that writes to a disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtrace.exporters import segment as segments
from memtrace.exporters import waiting
from memtrace.exporters.http import replay
from memtrace.exporters.local import RUN, recordings_of
from memtrace.exporters.spool import Spool
from memtrace.exporters.waiting import WaitingFiles

from tests.sdk.platform import Platform, running

_BEGIN = """
import os, sys, time
from pathlib import Path
import memtrace
from memtrace import config, undecided
from memtrace.exporters.file import FileExporter
folder, endpoint = Path(sys.argv[1]), sys.argv[2]

def configure():
    if endpoint:
        memtrace.configure(endpoint, "k", "p", spool=str(folder))
    elif "MEMTRACE_RUN" in os.environ:
        config.is_ready()  # as every instrument asks first
    else:
        memtrace.configure(exporter=FileExporter(folder / "events.ndjson"))

def talk(text):
    undecided.hold("talk", lambda trace: True)
    with memtrace.trace(id="talk"):
        memtrace.variable(text)

def until(holds):
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)

def left():
    return [path for path in folder.rglob("*.waiting") if path.stat().st_size]
configure()
"""
_KILLED = """
talk("about the keys to the boathouse")
until(left)
size = left()[0].stat().st_size
talk("about the second key")
until(lambda: left()[0].stat().st_size > size)
os.kill(os.getpid(), 9)
"""
_SAID = ["about the keys to the boathouse", "about the second key"]


def run(program: str, folder: Path, endpoint: str = "") -> int:
    text = _BEGIN + textwrap.dedent(program)
    environment = os.environ | {"XDG_STATE_HOME": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", text, folder, endpoint], env=environment, check=False, timeout=60
    ).returncode


def values(path: Path) -> list[str]:
    return [event["value"] for line in path.read_bytes().splitlines() if "value" in (event := json.loads(line))]


@pytest.fixture
def platform() -> Iterator[Platform]:
    with running() as found:
        yield found


def test_the_next_process_sends_what_a_killed_one_left(platform: Platform, tmp_path: Path) -> None:
    assert run(_KILLED, tmp_path, platform.endpoint) == -signal.SIGKILL
    assert platform.events == []
    assert replay(platform.endpoint, "k", "p", tmp_path).sent == len(platform.events)
    assert [event["value"] for event in platform.events if event["type"] == "variable"] == _SAID
    assert {event["trace"] for event in platform.events} == {"talk"}
    assert [path for path in tmp_path.rglob("*") if path.suffix in {".waiting", ".ndjson"}] == []


def test_the_next_process_writes_to_its_file_what_a_killed_one_left(tmp_path: Path) -> None:
    assert run(_KILLED, tmp_path) == -signal.SIGKILL
    assert not (tmp_path / "events.ndjson").exists()
    assert run("with memtrace.trace(id='later'): memtrace.variable('later')", tmp_path) == 0
    assert values(tmp_path / "events.ndjson") == [*_SAID, "later"]
    assert [path.name for path in tmp_path.iterdir()] == ["events.ndjson"]


def test_a_run_finds_what_its_killed_program_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUN, "0123456789abcdef")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert run(_KILLED, tmp_path) == -signal.SIGKILL
    (path,) = recordings_of("0123456789abcdef")
    assert values(path) == _SAID


def test_what_waits_no_longer_leaves_no_file_and_is_sent_once(platform: Platform, tmp_path: Path) -> None:
    program = """
    talk("about the keys to the boathouse")
    until(left)
    memtrace.flush(30)
    assert not left()
    os.kill(os.getpid(), 9)
    """
    assert run(program, tmp_path, platform.endpoint) == -signal.SIGKILL
    assert [event["value"] for event in platform.events if event["type"] == "variable"] == _SAID[:1]
    assert replay(platform.endpoint, "k", "p", tmp_path).sent == 0


def test_what_sampling_leaves_out_is_not_kept(tmp_path: Path) -> None:
    program = """
    undecided.hold("left out", lambda trace: False)
    with memtrace.trace(id="left out"):
        memtrace.variable("left out")
    talk("kept")
    until(left)
    (path,) = left()
    assert b"left out" not in path.read_bytes()
    memtrace.flush()
    """
    assert run(program, tmp_path) == 0
    assert values(tmp_path / "events.ndjson") == ["kept"]


def test_masked_values_are_masked_on_disk(tmp_path: Path) -> None:
    program = """
    memtrace.configure(exporter=FileExporter(folder / "e"), redact=lambda text: text.replace("4711", "****"))
    talk("the code is 4711")
    until(left)
    data = left()[0].read_bytes()
    assert b"the code is ****" in data and b"4711" not in data
    assert left()[0].stat().st_mode & 0o777 == 0o600
    """
    assert run(program, tmp_path) == 0


def test_a_file_of_a_living_process_stays(tmp_path: Path) -> None:
    files = WaitingFiles(Spool(tmp_path).new_waiting)
    files.keep("talk", [])
    (path,) = tmp_path.glob("*.waiting")
    assert Spool(tmp_path).oldest() is None
    files.forget()  # what a forked child does: its parent has the file
    assert path.exists()
    found = Spool(tmp_path).oldest()
    assert found is not None
    assert found.path == path.with_suffix(".ndjson")
    found.release()


def test_a_worker_that_is_forked_later_looks_again(tmp_path: Path) -> None:
    """A server starts a new worker where one was killed; both are forked from a process that looked long before."""
    spool = Spool(tmp_path)
    assert spool.oldest() is None
    left = spool.new_waiting()
    left.write(b'{"number": 1}\n')
    left.release()
    assert spool.oldest() is None
    spool.forget()
    found = spool.oldest()
    assert found is not None
    assert spool.read(found) == ([b'{"number": 1}\n'], [])
    found.release()


def test_a_slow_disk_holds_nobody_up(tmp_path: Path) -> None:
    """The trace waits no longer while its events are written: who settles it goes on, and the file goes afterwards."""
    begun, may_end = threading.Event(), threading.Event()

    def slow() -> segments.Segment:
        begun.set()
        assert may_end.wait(20)
        return Spool(tmp_path).new_waiting()

    files = WaitingFiles(slow)
    writer = threading.Thread(target=files.keep, args=("talk", []))
    writer.start()
    assert begun.wait(20)
    files.release("talk")
    may_end.set()
    writer.join(20)
    assert list(tmp_path.glob("*.waiting")) == []


def test_a_disk_that_takes_nothing_stops_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def full() -> segments.Segment:
        raise OSError("no room")

    files = WaitingFiles(full)
    files.keep("talk", [])
    files.keep("talk", [])
    assert sum("keeping events that wait on disk" in told for told in caplog.messages) == 1
    files.release("talk")
    files.release("never kept")


def test_without_locks_nothing_is_kept_or_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "HAS_LOCKS", False)
    WaitingFiles(Spool(tmp_path).new_waiting).keep("talk", [])
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "1.waiting").write_text("{}\n")
    waiting.adopt(tmp_path, waiting.rename)
    assert [path.name for path in tmp_path.iterdir()] == ["1.waiting"]
