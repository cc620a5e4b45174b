"""`memtrace spool`: what an application kept on disk gets to a real server."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from memtrace.exporters.spool import Spool, folder_name

from tests.server.running import RunningServer
from tests.server.wire_events import arrives

pytestmark = [pytest.mark.usefixtures("quiet_environment"), pytest.mark.one_engine]


def message(trace: str, name: str, **fields: Any) -> bytes:
    event = {
        "v": 1,
        "type": "variable",
        "trace": trace,
        "time": "2026-01-01T00:00:00.000000Z",
        "variable": name,
        "name": name,
        "kind": "Message",
        "version": 0,
        "value": "hello",
        "mediaType": "text/plain",
    }
    return json.dumps(event | fields).encode() + b"\n"


def keep(folder: Path, endpoint: str, owner: str, *lines: bytes) -> None:
    """What an application leaves that could not reach its platform."""
    spool = Spool(folder / folder_name(endpoint, owner))
    spool.append(list(lines))
    spool.rotate()


def spool(server: RunningServer, folder: Path, *arguments: str, **said: object) -> subprocess.CompletedProcess[str]:
    """Run the command as the application's environment is."""
    environment = {"endpoint": server.url, "api_key": server.key("writer"), "spool": folder} | said
    return server.place.here("spool", *arguments, **environment)


def told(done: subprocess.CompletedProcess[str]) -> tuple[int, ...]:
    """The exit code, and what was sent, spooled, dropped, rejected and damaged."""
    found = json.loads(done.stdout)
    return done.returncode, *(found[name] for name in ("sent", "spooled", "dropped", "rejected", "damaged"))


def test_what_waits_is_sent(server: RunningServer, tmp_path: Path) -> None:
    trace, key = uuid4().hex, server.key("writer")
    keep(tmp_path, server.url, server.project, *(message(trace, f"m{number}") for number in range(3)))
    keep(tmp_path, server.url, key, message(trace, "m3"))
    done = spool(server, tmp_path, "--project", server.project, "--json")
    assert told(done) == (0, 3, 0, 0, 0, 0)
    assert "1 events wait for other" in done.stderr
    arrives(server, trace, 3)
    done = spool(server, tmp_path)
    assert (done.returncode, done.stdout) == (0, "1 events sent, 0 still wait, 0 dropped, 0 rejected.\n")
    arrives(server, trace, 4)
    done = spool(server, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "0 events sent, 0 still wait, 0 dropped, 0 rejected.\n",
        "",
    )


def test_the_key_may_stand_in_a_file(server: RunningServer, tmp_path: Path) -> None:
    trace, file = uuid4().hex, tmp_path / "key"
    file.write_text(server.key("writer") + "\n", "utf-8")
    keep(tmp_path / "spool", server.url, server.key("writer"), message(trace, "m"))
    arguments = ("--endpoint", server.url, "--api-key-file", str(file), "--spool", str(tmp_path / "spool"))
    done = server.place.here("spool", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    arrives(server, trace, 1)


@pytest.mark.parametrize("role", ["reader", None])
def test_a_key_that_may_not_write_leaves_all_where_it_is(
    server: RunningServer, tmp_path: Path, role: str | None
) -> None:
    key = server.key(role) if role else server.key("writer")[:-4] + "aaaa"
    keep(tmp_path, server.url, key, message("t", "m"))
    done = spool(server, tmp_path, api_key=key)
    assert done.returncode == 5
    assert "takes no events: status 40" in done.stderr
    assert "nothing was sent; 1 events still wait" in done.stderr
    assert key not in done.stdout + done.stderr
    (waiting,) = json.loads(spool(server, tmp_path, "list", "--json").stdout)
    assert waiting["events"] == 1


def test_a_platform_that_is_away_leaves_all_where_it_is(server: RunningServer, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        away = f"http://127.0.0.1:{taken.getsockname()[1]}"
        keep(tmp_path, away, "shop", message("t", "m"))
        done = spool(server, tmp_path, "--project", "shop", endpoint=away)
    assert done.returncode == 5
    assert "can't be reached" in done.stderr
    assert "1 event since 20" in spool(server, tmp_path, "list").stdout


def test_what_is_refused_is_kept_with_the_reason(server: RunningServer, tmp_path: Path) -> None:
    trace = uuid4().hex
    lines = [message(trace, "m"), message(trace, "bad", kind="NoSuchKind")]
    keep(tmp_path, server.url, server.project, *lines)
    done = spool(server, tmp_path, "--json", project=server.project)
    assert told(done) == (4, 1, 0, 0, 1, 0)
    assert "rejected.jsonl" in done.stderr
    (path,) = tmp_path.rglob("rejected.jsonl")
    kept = json.loads(path.read_bytes())
    assert kept["event"]["variable"] == "bad"
    assert "kind" in kept["reason"]


def test_what_is_no_event_is_set_aside_and_its_neighbours_are_sent(server: RunningServer, tmp_path: Path) -> None:
    trace = uuid4().hex
    folder = tmp_path / folder_name(server.url, server.project)
    folder.mkdir(parents=True)
    glued = message(trace, "cut")[:-30] + message(trace, "glued")
    (folder / f"{1:020d}-1-a.ndjson").write_bytes(message(trace, "m0") + glued + message(trace, "m1"))
    (folder / f"{2:020d}-1-b.ndjson").write_bytes(message(trace, "m2") + message(trace, "torn")[:50])
    done = spool(server, tmp_path, "--json", project=server.project)
    assert told(done) == (0, 3, 0, 0, 0, 2)
    assert "2 lines are no events" in done.stderr
    assert str(folder / "damaged.txt") in done.stderr
    arrives(server, trace, 3)
    (listed,) = json.loads(spool(server, tmp_path, "list", "--json").stdout)
    assert (listed["events"], listed["oldest"], listed["damaged"]) == (0, None, 2)
    shown = spool(server, tmp_path, "list").stdout
    assert "no event (0 bytes)" in shown
    assert "2 lines" in shown
    assert told(spool(server, tmp_path, "--json", project=server.project)) == (0, 0, 0, 0, 0, 0)


def test_what_a_running_application_has_in_hand_is_left_to_it(server: RunningServer, tmp_path: Path) -> None:
    owned = Spool(tmp_path / folder_name(server.url, server.project))
    owned.append([message("t", "m")])
    done = spool(server, tmp_path, "--json", project=server.project)
    owned.rotate()
    assert told(done) == (1, 0, 1, 0, 0, 0)
    assert "has them in hand" in done.stderr


def test_waiting_folders_are_listed_the_longest_wait_first(server: RunningServer, tmp_path: Path) -> None:
    line = message("t", "m")
    keep(tmp_path, "http://one", "a", line)
    keep(tmp_path, "http://two", "b", line, line)
    keep(tmp_path, "http://two", "b", line)
    (tmp_path / "empty").mkdir()
    found = json.loads(spool(server, tmp_path, "list", "--json").stdout)
    assert {(Path(one["folder"]).name, one["events"], one["bytes"]) for one in found} == {
        (folder_name("http://one", "a"), 1, len(line)),
        (folder_name("http://two", "b"), 3, 3 * len(line)),
    }
    assert [one["oldest"] for one in found] == sorted(one["oldest"] for one in found)
    assert json.loads(spool(server, tmp_path / "none", "list", "--json").stdout) == []


KEY = "mt_0123456789abcdef_" + "s3cret" * 7 + "x"


_APPLICATION = """
import sys, memtrace
endpoint, key, project, folder = sys.argv[1:]
memtrace.configure(endpoint, key or None, project or None, spool=folder)
with memtrace.trace(id="t"):
    memtrace.variable("text", "Message")
print(memtrace.flush(20).spooled)
"""


def leave(folder: Path, endpoint: str, key: str, project: str) -> None:
    """The spool of an application that can't reach its platform: a trace and a variable."""
    command = [sys.executable, "-c", _APPLICATION, endpoint, key, project, str(folder)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "2\n"


def test_it_is_told_where_events_are_to_be_sent(server: RunningServer, tmp_path: Path) -> None:
    away = "http://127.0.0.1:9"
    leave(tmp_path, f"{away}/memtrace/", KEY, "")
    leave(tmp_path, "http://user:s3cret-word@127.0.0.1:9?token=s3cret", "a.token.s3cret", "")
    leave(tmp_path, away, KEY, "shop")
    leave(tmp_path, away, "", "")
    keep(tmp_path, away, "of an earlier recorder", message("t", "m"))
    listed = spool(server, tmp_path, "list", "--json")
    found = Counter((one["endpoint"], one["project"], one["key"]) for one in json.loads(listed.stdout))
    assert found == {
        (f"{away}/memtrace/", None, KEY[:19]): 1,
        (away, None, None): 2,
        (away, "shop", KEY[:19]): 1,
        (None, None, None): 1,
    }
    shown = spool(server, tmp_path, "list")
    for said in (
        f"{away}/memtrace/, key mt_0123456789abcdef_…",
        f"{away}, project shop, key mt_0123456789abcdef_…",
        f"{away}, no API key",
        "unknown: the folder does not say it",
    ):
        assert said in shown.stdout
    sent = spool(server, tmp_path, project=server.project)
    said = " ".join(sent.stderr.split())
    assert "9 events wait for other platforms, projects or keys (" in said
    assert away in said
    assert " …): see `memtrace spool list`." in said
    for done in (listed, shown, sent):
        assert "s3cret" not in done.stdout + done.stderr
    assert "s3cret" not in "".join(path.read_text("utf-8") for path in tmp_path.rglob("purpose.json*"))
    assert {path.stat().st_mode & 0o777 for path in tmp_path.rglob("purpose.json")} == {0o600}


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ({"endpoint": ""}, "MEMTRACE_ENDPOINT"),
        ({"endpoint": "example.com"}, "no address"),
        ({"endpoint": "ftp://example.com"}, "no address"),
        ({"endpoint": "http://user:s3cret-word@example.com"}, "without user and password"),
    ],
)
def test_what_cannot_be_meant(server: RunningServer, tmp_path: Path, said: dict[str, str], wanted: str) -> None:
    done = spool(server, tmp_path, **said)
    assert done.returncode == 2
    assert wanted in done.stderr
    assert "s3cret-word" not in done.stdout + done.stderr


@pytest.mark.parametrize("content", [None, b"", b"two words", b"\xff\xfe"])
def test_a_key_file_that_holds_none(server: RunningServer, tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    done = spool(server, tmp_path, "--api-key-file", str(file))
    assert done.returncode == 2
    assert str(file) in done.stderr
    assert "two words" not in done.stderr
