"""The spool on disks that are full or fail, beside other processes, and with what crashes leave: nothing sticks."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import memtrace
import pytest
from memtrace.exporters import post
from memtrace.exporters import segment as segments
from memtrace.exporters.background import MAX_BATCH_BYTES
from memtrace.exporters.http import _HttpSink, replay
from memtrace.exporters.protocol import FlushResult
from memtrace.exporters.spool import MAX_ASIDE_BYTES, Spool, folder_name
from memtrace.folders import make_private_folder

from tests.sdk.platform import Platform, running

_LIMIT = 20_000
_FULL = """
import os, resource, signal, sys
from pathlib import Path
import memtrace
from memtrace.exporters.spool import Spool

# Beyond the limit the system writes what fits, and then refuses: the same as a disk does that is full.
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def disk(limit):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
"""


@pytest.fixture
def platform() -> Iterator[Platform]:
    with running() as server:
        yield server


def run(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a program whose disk can be full."""
    text = _FULL + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-c", text, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def line(number: int, size: int = 0) -> bytes:
    return json.dumps({"v": 1, "number": number, "text": "x" * size}).encode() + b"\n"


def place(folder: Path, platform: Platform) -> Path:
    """The folder of what waits for a platform and the project ``p``, made."""
    made = folder / folder_name(platform.endpoint, "p")
    made.mkdir(parents=True)
    return made


def numbers(platform: Platform) -> list[int]:
    return [event["number"] for event in platform.events]


def send(folder: Path, platform: Platform) -> FlushResult:
    return replay(platform.endpoint, "k", "p", folder)


def test_what_a_full_disk_takes_no_more_is_dropped_and_all_else_arrives(platform: Platform, tmp_path: Path) -> None:
    """A line of which only a part fits does not stay, and the next one is not glued to it."""
    folder = place(tmp_path, platform)
    program = """
    spool = Spool(Path(sys.argv[1]))
    def line(number, size):
        return b'{"number": %d, "text": "%b"}\\n' % (number, b"x" * size)
    dropped = spool.append([line(0, 0), line(1, 0)])
    disk(20_000)
    dropped += spool.append([line(2, 10), line(3, 30_000)])
    disk(resource.RLIM_INFINITY)
    dropped += spool.append([line(4, 0)])
    spool.append([line(5, 0)])
    print(dropped, memtrace.fault_counts())
    """
    assert run(program, folder).stdout == "2 {'spool': 1}\n"
    assert send(tmp_path, platform) == FlushResult(sent=4)
    assert numbers(platform) == [0, 1, 4, 5]
    assert not list(folder.iterdir())


def test_a_recorder_goes_on_after_a_full_disk(tmp_path: Path) -> None:
    """Seen from an application: the platform is away, the disk is full for a while, the platform comes back."""
    with running() as first:
        port = first.server_address[1]
    program = """
    import memtrace
    memtrace.configure(f"http://127.0.0.1:{sys.argv[2]}", "k", "p", spool=sys.argv[1])
    def record(text):
        with memtrace.trace(id=text):
            memtrace.variable(text, "Message")
        return memtrace.flush(20)
    print(record("before"))
    disk(10)
    print(record("full"))
    disk(resource.RLIM_INFINITY)
    print(record("after"))
    """
    said = run(program, tmp_path, port).stdout.splitlines()
    assert said == [
        str(FlushResult(spooled=2)),
        str(FlushResult(spooled=2, dropped=2)),
        str(FlushResult(spooled=4, dropped=2)),
    ]
    with running(port) as back:
        assert send(tmp_path, back) == FlushResult(sent=4)
        assert [event["value"] for event in back.events if event["type"] == "variable"] == ["before", "after"]


def test_where_a_part_of_a_line_cannot_be_taken_back_nothing_comes_after_it(platform: Platform, tmp_path: Path) -> None:
    folder = place(tmp_path, platform)
    program = """
    spool = Spool(Path(sys.argv[1]))
    assert spool.append([b'{"number": 0}\\n']) == 0
    def fails(*_):
        raise OSError(5, "Input/output error")
    truncate, os.ftruncate = os.ftruncate, fails
    disk(100)
    assert spool.append([b'{"number": 1, "text": "%b"}\\n' % (b"x" * 200)]) == 1
    os.ftruncate = truncate
    disk(resource.RLIM_INFINITY)
    assert spool.append([b'{"number": 2}\\n']) == 0
    """
    run(program, folder)
    assert len(list(folder.glob("*.ndjson"))) == 2
    assert send(tmp_path, platform) == FlushResult(sent=2, damaged=1)
    assert numbers(platform) == [0, 2]
    assert (folder / "damaged.txt").read_bytes().startswith(b'{"number": 1, "text": "xxx')


@pytest.mark.parametrize(
    "bad",
    [
        b'{"v": 1, "type": "tr{"v": 1, "number": 9}\n',  # a part of a line, and the next one glued to it
        b'{"number": 9, "text": "\xff"}\n',
        b"\0" * 512 + b"\n",  # what some file systems leave of a block after the power failed
        b'"no object"\n',
        b"[" * 100_000 + b"\n",
        b'{"number": 9, "text": "cut sh',
    ],
    ids=["glued", "not UTF-8", "zeros", "no object", "deep", "torn"],
)
def test_a_bad_line_is_set_aside_and_its_neighbours_go(
    platform: Platform, tmp_path: Path, caplog: pytest.LogCaptureFixture, bad: bytes
) -> None:
    folder = place(tmp_path, platform)
    (folder / f"{1:020d}-1-a.ndjson").write_bytes(line(1) + line(2) + bad)
    (folder / f"{2:020d}-1-b.ndjson").write_bytes(line(3) + bad + (line(4) if bad.endswith(b"\n") else b""))
    assert send(tmp_path, platform) == FlushResult(sent=4 if bad.endswith(b"\n") else 3, damaged=2)
    assert numbers(platform) == [1, 2, 3, 4][: len(platform.events)]
    (kept,) = folder.iterdir()
    assert (kept.name, kept.read_bytes()) == ("damaged.txt", (bad.rstrip(b"\n") + b"\n") * 2)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert [told for told in caplog.messages if str(kept) in told]
    assert send(tmp_path, platform) == FlushResult()


def test_a_process_that_is_killed_while_it_writes_loses_no_whole_line(platform: Platform, tmp_path: Path) -> None:
    folder = place(tmp_path, platform)
    program = """
    write = os.write
    def killed(descriptor, data):
        if len(data) > 100_000:
            write(descriptor, data[:50_000])
            os.kill(os.getpid(), signal.SIGKILL)
        return write(descriptor, data)
    child = os.fork()
    if child == 0:
        os.write = killed
        spool = Spool(Path(sys.argv[1]))
        spool.append([b'{"number": 1}\\n'])
        spool.append([b'{"number": 2}\\n', b'{"number": 3, "text": "%b"}\\n' % (b"x" * 200_000)])
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    """
    run(program, folder)
    assert send(tmp_path, platform) == FlushResult(sent=2, damaged=1)
    assert numbers(platform) == [1, 2]


def test_a_file_that_another_process_took_for_left_behind_is_not_written_to(
    platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the making of a file and its lock another process may find it empty, and remove it."""
    folder = place(tmp_path, platform)
    writer, other = Spool(folder), Spool(folder)
    lock = segments._lock
    races: list[bool] = []

    def late(descriptor: int) -> bool:
        if not races:
            races.append(True)
            found = other.oldest()
            assert found is not None
            assert other.read(found) == ([], [])
            other.finish(found)
        return lock(descriptor)

    monkeypatch.setattr(segments, "_lock", late)
    assert writer.append([line(1)]) == 0
    writer.rotate()
    assert races
    assert send(tmp_path, platform) == FlushResult(sent=1)


def test_a_folder_that_somebody_removed_is_made_again(platform: Platform, tmp_path: Path) -> None:
    folder = place(tmp_path, platform)
    spool = Spool(folder)
    assert spool.append([line(1)]) == 0
    for path in (*folder.iterdir(), folder):
        path.unlink() if path.is_file() else path.rmdir()
    assert spool.append([line(2)]) == 0
    spool.rotate()
    assert send(tmp_path, platform) == FlushResult(sent=1)
    assert numbers(platform) == [2]


def refuse(*_: Any, **__: Any) -> Any:
    raise OSError(5, "Input/output error")


@pytest.mark.parametrize("can_truncate", [True, False])
def test_what_cannot_be_removed_is_sent_once(
    platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_truncate: bool
) -> None:
    folder = place(tmp_path, platform)
    (folder / f"{1:020d}-1-a.ndjson").write_bytes(line(1))
    (folder / f"{2:020d}-1-b.ndjson").write_bytes(line(2))
    with monkeypatch.context() as failing:
        failing.setattr(Path, "unlink", refuse)
        if not can_truncate:
            failing.setattr(os, "ftruncate", refuse)
        result = send(tmp_path, platform)
    assert (result.sent, result.dropped, result.damaged) == (2, 0, 0)
    assert numbers(platform) == [1, 2]
    assert send(tmp_path, platform) == FlushResult(sent=0 if can_truncate else 2)
    assert not list(folder.iterdir())


def test_a_segment_that_cannot_be_read_holds_nobody_up(
    platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = place(tmp_path, platform)
    bad = folder / f"{1:020d}-1-a.ndjson"
    bad.write_bytes(line(1))
    (folder / f"{2:020d}-1-b.ndjson").write_bytes(line(2))
    read = Path.read_bytes
    with monkeypatch.context() as failing:
        failing.setattr(Path, "read_bytes", lambda path: refuse() if path == bad else read(path))
        assert send(tmp_path, platform) == FlushResult(sent=1, spooled=1)
    assert send(tmp_path, platform) == FlushResult(sent=1)
    assert numbers(platform) == [2, 1]


def test_without_a_folder_to_write_to_events_still_go_to_the_platform(platform: Platform, tmp_path: Path) -> None:
    (tmp_path / "a file").write_bytes(b"")
    program = """
    memtrace.configure(sys.argv[1], "k", "p", spool=sys.argv[2])
    with memtrace.trace(id="t"):
        memtrace.variable("text", "Message")
    print(memtrace.flush(20))
    """
    assert run(program, platform.endpoint, tmp_path / "a file").stdout.strip() == str(FlushResult(sent=2))


def test_a_set_aside_file_is_bounded_and_mends_itself(platform: Platform, tmp_path: Path) -> None:
    folder = place(tmp_path, platform)
    spool = Spool(folder)
    aside = folder / "rejected.jsonl"
    aside.write_bytes(b'{"reason": "cut sh')
    spool.reject([(line(1), "not \ud800 so")])
    assert json.loads(aside.read_bytes().splitlines()[-1]) == {"reason": "not \ud800 so", "event": json.loads(line(1))}
    assert len(aside.read_bytes().splitlines()) == 2
    os.truncate(aside, MAX_ASIDE_BYTES)
    spool.reject([(line(2), "no room")])
    assert aside.stat().st_size == MAX_ASIDE_BYTES


def test_a_refused_event_with_half_a_character_does_not_hold_up_the_others(platform: Platform, tmp_path: Path) -> None:
    folder = place(tmp_path, platform)
    (folder / f"{1:020d}-1-a.ndjson").write_bytes(b'{"number": 1, "text": "\\ud800"}\n' + line(2))
    platform.replies.append((200, {}, {"accepted": 1, "rejected": [{"index": 0, "reason": "half a character"}]}))
    assert send(tmp_path, platform) == FlushResult(sent=1, rejected=1)
    (kept,) = folder.iterdir()
    assert json.loads(kept.read_bytes())["event"] == {"number": 1, "text": "\ud800"}


def test_what_the_platform_refuses_wholly_is_kept_beside_and_not_sent_again(platform: Platform, tmp_path: Path) -> None:
    folder = place(tmp_path, platform)
    (folder / f"{1:020d}-1-a.ndjson").write_bytes(line(1) + line(2))
    (folder / f"{2:020d}-1-b.ndjson").write_bytes(line(3))
    platform.replies.append((400, {}, {"title": "Bad Request"}))
    assert send(tmp_path, platform) == FlushResult(sent=1, rejected=2)
    assert send(tmp_path, platform) == FlushResult()
    assert numbers(platform) == [3]
    assert len((folder / "rejected.jsonl").read_bytes().splitlines()) == 2


def test_a_line_that_no_request_has_room_for_is_kept_beside_and_its_neighbours_go(
    platform: Platform, tmp_path: Path
) -> None:
    folder = place(tmp_path, platform)
    (folder / f"{1:020d}-1-a.ndjson").write_bytes(line(1) + line(2, 50_000) + line(3))
    platform.rule = lambda found, _: (413, {}, {"detail": "too large"}) if len(json.dumps(found)) > 40_000 else None
    assert send(tmp_path, platform) == FlushResult(sent=2, rejected=1)
    assert numbers(platform) == [1, 3]


@pytest.mark.parametrize("status", [301, 307, 405, 407])
def test_an_address_that_is_wrong_loses_no_events(platform: Platform, tmp_path: Path, status: int) -> None:
    folder = place(tmp_path, platform)
    (folder / f"{1:020d}-1-a.ndjson").write_bytes(line(1))
    platform.replies.append((status, {"Location": "http://127.0.0.1:9"}, {}))
    assert send(tmp_path, platform) == FlushResult(spooled=1)
    assert send(tmp_path, platform) == FlushResult(sent=1)


def test_what_is_sent_of_a_segment_is_not_sent_again(tmp_path: Path, platform: Platform) -> None:
    spool = Spool(tmp_path / "spool")
    spool.append([line(number, MAX_BATCH_BYTES // 2) for number in range(4)])  # each is a batch
    spool.rotate()
    platform.replies = [None, None, (503, {}, {})]
    sink = _HttpSink(post.Platform(platform.endpoint, "k", "p"), spool)
    sink.tick()
    sink.hurry()
    sink.tick()
    sink.abandon([])
    assert [event["number"] for event in platform.events] == [0, 1, 2, 3]
    assert spool.is_empty()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of folders")
def test_all_folders_above_a_spool_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_private_folder(tmp_path / "state" / "memtrace" / "spool" / "x")
        Spool(tmp_path / "other" / "state" / "spool").append([b"{}\n"])
    finally:
        os.umask(before)
    made = [path for path in tmp_path.rglob("*") if path.is_dir()]
    assert len(made) == 7
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}


@pytest.mark.parametrize("error", [FileNotFoundError, PermissionError, IsADirectoryError, OSError])
def test_a_spool_that_can_not_tell_its_purpose_keeps_events(tmp_path: Path, error: type[OSError]) -> None:
    told: list[Path] = []

    class Purpose:
        def write(self, folder: Path) -> None:
            told.append(folder)
            raise error("no")

    before = memtrace.fault_counts().get("telling what a spool is for", 0)
    spool = Spool(tmp_path / "spool", purpose=cast("Any", Purpose()))
    assert spool.append([b"a line"]) == 0
    assert told == [tmp_path / "spool"]
    assert memtrace.fault_counts()["telling what a spool is for"] == before + 1
