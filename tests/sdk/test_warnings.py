"""What the recorder says, once in a process, where an application records less than it means to."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from memtrace.exporters import local

HEAD = """
import logging, sys, threading
from concurrent.futures import ThreadPoolExecutor
import memtrace
from memtrace.exporters.memory import MemoryExporter
exporter = MemoryExporter()
if len(sys.argv) == 1:
    memtrace.configure(exporter=exporter)

@memtrace.operation
def step(text):
    return text + "!"
"""
COUNTS = "\nprint(memtrace.fault_counts(), file=sys.stderr)"
LINE = f"<string>:{HEAD.count(chr(10)) + 1}"


def said(program: str, folder: Path, *arguments: str, **environment: str) -> list[str]:
    """What a program says on standard error, line by line; each of its lines but the first stands for itself."""
    without = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HEAD + textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**without, "XDG_STATE_HOME": str(folder), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def test_without_an_endpoint_events_go_to_a_file_that_the_warning_names(tmp_path: Path) -> None:
    program = """
    for number in range(3):
        with memtrace.trace("t"):
            step(f"text {number}")
    """
    (warning,) = said(program, tmp_path, "no exporter")
    assert "no platform is configured" in warning
    (path,) = (tmp_path / "memtrace" / "recordings").iterdir()
    assert f"`memtrace import {path}`" in warning
    assert [path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777] == [0o600, 0o700]
    events = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [event["value"] for event in events if event["type"] == "variable"][1::2] == [
        "text 0!",
        "text 1!",
        "text 2!",
    ]


def test_without_a_trace_nothing_is_written_and_no_file_is_made(tmp_path: Path) -> None:
    (warning,) = said("step('a'), step('b')", tmp_path, "no exporter")
    assert "runs outside any trace" in warning
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("environment", [{"MEMTRACE_ENDPOINT": "http://127.0.0.1:9"}, {"MEMTRACE_ENABLED": "0"}])
def test_with_an_endpoint_or_switched_off_there_is_no_file(tmp_path: Path, environment: dict[str, str]) -> None:
    told = said("with memtrace.trace('t'): step('a')", tmp_path, "no exporter", **environment)
    assert not [line for line in told if "no platform" in line]
    assert not (tmp_path / "memtrace" / "recordings").exists()


def test_where_there_is_no_room_for_the_file_the_application_goes_on(tmp_path: Path) -> None:
    (tmp_path / "memtrace").write_text("not a folder")
    program = "with memtrace.trace('t'): print(step('a'))\nassert memtrace.flush().dropped == 7"
    told = said(program, tmp_path, "no exporter")
    assert any("writing to the file of events failed" in line for line in told)


def test_old_recordings_make_room_and_a_file_does_not_grow_beyond_its_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "MAX_FILE_BYTES", 1_000)
    monkeypatch.setattr(local, "MAX_FOLDER_BYTES", 3_000)
    for number in range(4):
        (tmp_path / f"2026010{number}T000000Z-1-aa.ndjson").write_bytes(b"x" * 900)
    exporter = local.LocalExporter(tmp_path)
    exporter.export([("trace", {"name": "n" * 300}, f"t{number}", 0, f"t{number}") for number in range(2)])
    assert exporter.flush().sent == 2
    exporter.export([("trace", {"name": "n" * 300}, f"t{number}", 0, f"t{number}") for number in range(2)])
    result = exporter.flush()
    exporter.close()
    assert (result.sent, result.dropped) == (2, 2)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left[:-1] == ["20260102T000000Z-1-aa.ndjson", "20260103T000000Z-1-aa.ndjson"]
    assert exporter.path.read_bytes().count(b"\n") == 2


def test_an_operation_outside_any_trace_is_told_once_with_its_line_and_each_is_counted(tmp_path: Path) -> None:
    program = "step('a')\nstep('b')\nwith memtrace.operation('block'): pass\nlist(map(step, 'cd'))"
    warning, counts = said(program + COUNTS, tmp_path)
    assert counts == "{'operation outside a trace': 5}"
    assert f"operation 'step' at {LINE} is not recorded" in warning
    assert "`with memtrace.trace(name):`" in warning


def test_what_is_not_sampled_is_no_mistake(tmp_path: Path) -> None:
    program = "memtrace.configure(exporter=exporter, sampling=0.0)\nwith memtrace.trace('t'): step('a')"
    assert said(program + COUNTS, tmp_path) == ["{}"]


@pytest.mark.parametrize("kind", ["coroutine", "stream", "asynchronous stream", "block"])
def test_every_sort_of_operation_outside_a_trace_is_told(tmp_path: Path, kind: str) -> None:
    program = {
        "coroutine": """
        import asyncio
        @memtrace.operation
        async def f(): return 1
        assert asyncio.run(f()) == 1
        """,
        "stream": """
        @memtrace.operation
        def f(): yield 1
        assert list(f()) == [1]
        """,
        "asynchronous stream": """
        import asyncio
        @memtrace.operation
        async def f(): yield 1
        async def g(): return [x async for x in f()]
        assert asyncio.run(g()) == [1]
        """,
        "block": "with memtrace.operation('f'): pass",
    }[kind]
    (warning,) = said(program, tmp_path)
    assert re.search(r"operation 'f' at <string>:\d+ is not recorded: it runs outside", warning)


THREADS = """
def work(): step("in a thread")
with memtrace.trace("t"):
    for _ in range(2):
        thread = threading.Thread(target=%s)
        thread.start()
        thread.join()
    with %s as pool:
        list(pool.map(step, ["a", "b"]))
print(len(exporter.of("operationStarted")), file=sys.stderr)
"""


def test_a_thread_that_loses_the_trace_is_told_how_to_keep_it(tmp_path: Path) -> None:
    warning, count, counts = said(THREADS % ("work", "ThreadPoolExecutor()") + COUNTS, tmp_path)
    assert counts == "{'operation in a thread without a trace': 4}"
    assert "runs in a thread that has no trace, while one is open in another" in warning
    assert "memtrace.carry(function)" in warning
    assert "memtrace.executor(pool)" in warning
    assert count == "0"


def test_what_is_a_threads_own_function_has_no_line(tmp_path: Path) -> None:
    own = "__import__('functools').partial(step, 'x')"
    warning, _ = said(THREADS % (own, "ThreadPoolExecutor()"), tmp_path)
    assert "operation 'step' is not recorded: it runs in a thread" in warning


def test_a_thread_that_carries_the_trace_is_recorded(tmp_path: Path) -> None:
    assert said(THREADS % ("memtrace.carry(work)", "memtrace.executor(ThreadPoolExecutor())") + COUNTS, tmp_path) == [
        "4",
        "{}",
    ]


def test_a_trace_that_is_only_made_is_told(tmp_path: Path) -> None:
    program = "for _ in range(2): memtrace.trace('mine')\nwith memtrace.trace('other'): step('a')\n"
    (warning,) = said(program, tmp_path)
    assert f"memtrace.trace('mine') at {LINE} records nothing" in warning


def test_mistakes_about_values_name_line_and_value_but_no_secret(tmp_path: Path) -> None:
    program = """
    with memtrace.trace("t"):
        memtrace.deleted("what nobody knows")
        memtrace.deleted("what nobody knows")
        memtrace.link("ann@mail.example and sk-abcdefghijklmnop1234", object())
        old, new = memtrace.variable("old text", "Message"), memtrace.variable("new text", "Message")
        memtrace.link(new, old)
    """
    told = said(program, tmp_path)
    lines = [re.search(r"at <string>:(\d+) ", line) for line in told]
    first = HEAD.count("\n") + 3
    assert [int(line[1]) - first for line in lines if line] == [0, 1, 2, 4]
    assert "'what nobody knows' (a text of 17 characters) is no known variable" in told[0]
    assert "'[EMAIL] and [TOKEN]'" in told[2]
    assert "Message named 'Message'" in told[3]
    assert "is younger than its target" in told[3]


MEMORY = """
memory = []

@memtrace.operation(kind="Extraction", output="MemoryUnit", each=True)
def extract(message): return [part.strip() for part in message.split(" and ")]

@memtrace.operation(kind="Retrieval")
def search(query): return found(query)

@memtrace.operation(kind="Retrieval")
def decide(query): return "search for it"

def found(query): return [f"found for {query}"]

def ask(number=1):
    for each in range(number):
        search(memtrace.variable(f"question {each}?", "Query"))
"""
CONNECTED = """
memory += extract(memtrace.variable('the cat sleeps and the dog barks', 'Message'))
def found(query): return memory[:1]
"""
NOT_CONNECTED = "retrievals are not connected to memory"


@pytest.mark.parametrize(
    ("inside", "count"),
    [
        ("ask(2)", "2 of 2"),
        (f"ask(1)\n{CONNECTED}\nask(1)", "1 of 2"),
        (f"{CONNECTED}\nask(3)", None),
        (f"{CONNECTED}\nq = memtrace.variable('q?', 'Query')\ndecide(q), search(q)", None),
        ("def found(query): return []\nask(1)", None),
        ("def found(query): return ''\nask(1)", None),
        ("memory += [memtrace.variable('from outside', 'MemoryUnit')]\ndef found(q): return memory\nask(1)", "1 of 1"),
        (f"{CONNECTED}\nmemtrace.retrieved('q?', memory, memory[:1])", None),
        ("with memtrace.operation('search', kind='Retrieval') as s:\n    s.input('q?')\n    s.output([])", None),
        ("with memtrace.operation('search', kind='Retrieval') as s:\n    s.input('q?')\n    s.output('x')", "1 of 1"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["memtrace.flush()\nmemtrace.flush()", ""])
def test_retrievals_that_no_message_led_to_are_told_at_the_end(
    tmp_path: Path, inside: str, count: str | None, end: str
) -> None:
    exporter = (
        "from memtrace.exporters.file import FileExporter\nmemtrace.configure(exporter=FileExporter(sys.argv[1]))"
    )
    trace = "with memtrace.trace('t'):\n" + textwrap.indent(inside, "    ")
    told = said(f"{MEMORY}\n{exporter}\n{trace}\n{end}", tmp_path, str(tmp_path / "events.ndjson"))
    about = [line for line in told if NOT_CONNECTED in line]
    if count is None:
        assert about == []
    else:
        (line,) = about
        assert line.startswith(f"{count} {NOT_CONNECTED}")
        assert "memtrace.retrieved(" in line
