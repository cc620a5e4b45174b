"""Forks, exits, process pools and crashes, with real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

from memtrace import events

from tests.sdk.platform import running

PATIENCE_SECONDS = 300

HEAD = """
import multiprocessing, os, sys, time
import memtrace
from memtrace.exporters.file import FileExporter
from memtrace.exporters.http import HttpExporter

def record(text):
    with memtrace.trace(id="t"):
        memtrace.variable(text, "Message", "m")
"""


def run(
    program: str, *arguments: str, check: bool = True, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", HEAD + textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        check=check,
        timeout=PATIENCE_SECONDS,
        env={**os.environ, **(environment or {})},
    )


def decoded(path: Path) -> list[events.Event]:
    return [events.decode(line) for line in path.read_bytes().splitlines()]


def values(path: Path) -> list[str]:
    found = decoded(path)
    return sorted(event.value for event in found if isinstance(event, events.VariableEvent))


def test_what_was_recorded_is_written_when_the_interpreter_ends(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    run("memtrace.configure(exporter=FileExporter(sys.argv[1])); record('the last words')", str(path))
    assert values(path) == ["the last words"]


def test_a_fork_writes_its_own_events_and_its_parent_its_own(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    program = """
    memtrace.configure(exporter=FileExporter(sys.argv[1]))
    record("of the parent before")
    children = []
    for number in range(3):
        child = os.fork()
        if child == 0:
            record(f"of child {number}")
            sys.exit(0)
        children.append(child)
    record("of the parent after")
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    """
    run(program, str(path))
    assert values(path) == ["of child 0", "of child 1", "of child 2", "of the parent after", "of the parent before"]


def test_a_fork_finds_no_thread_of_the_recorder_and_its_parent_has_one_again(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    program = """
    import threading, warnings
    warnings.simplefilter("always")
    at_fork = []
    os.register_at_fork(after_in_parent=lambda: at_fork.append(threading.active_count()))
    memtrace.configure(exporter=FileExporter(sys.argv[1]))
    record("of the parent before")
    assert threading.active_count() == 2
    child = os.fork()
    if child == 0:
        assert threading.active_count() == 1
        record("of the child")
        sys.exit(0)
    assert at_fork == [1]
    assert os.waitpid(child, 0)[1] == 0
    record("of the parent after")
    assert threading.active_count() == 2
    assert memtrace.flush(100).sent == 3
    """
    # From Python 3.12 on a fork beside another thread gives a warning.
    assert run(program, str(path)).stderr == ""
    assert values(path) == ["of the child", "of the parent after", "of the parent before"]


def test_a_fork_does_not_wait_for_a_platform_that_is_slow(tmp_path: Path) -> None:
    has_come, may_answer = tmp_path / "has come", threading.Event()

    def slowly(_events: list[dict[str, Any]], _headers: dict[str, str]) -> None:
        """The parent's request is answered once the child's has come, which was sent after the fork."""
        if has_come.exists():
            may_answer.set()
        else:
            has_come.touch()
            assert may_answer.wait(PATIENCE_SECONDS)

    with running() as platform:
        platform.rule = slowly
        program = """
        memtrace.configure(sys.argv[1], "key", "p", spool=sys.argv[2])
        record("of the parent")
        import threading, warnings
        warnings.simplefilter("ignore")
        waiting = threading.Thread(target=memtrace.flush, args=(200,))
        waiting.start()
        while not os.path.exists(sys.argv[3]):
            time.sleep(0.01)
        child = os.fork()
        if child == 0:
            record("of the child")
            assert memtrace.flush(200).sent == 1
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        waiting.join()
        assert memtrace.flush(200).sent == 2
        """
        run(program, platform.endpoint, str(tmp_path / "spool"), str(has_come))
        texts = sorted(event["value"] for event in platform.events if event["type"] == "variable")
    assert texts == ["of the child", "of the parent"]


def test_ids_of_a_fork_are_its_own(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    program = """
    memtrace.configure(exporter=FileExporter(sys.argv[1]))
    record("first")
    child = os.fork()
    for number in range(300):
        record(f"{child == 0} {number}")
    if child:
        os.waitpid(child, 0)
    """
    run(program, str(path))
    ids = [event.variable for event in decoded(path) if isinstance(event, events.VariableEvent)]
    assert len(ids) == len(set(ids)) == 601


def test_a_process_of_multiprocessing_goes_on_where_the_carrier_says(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    program = """
    def work(carrier, text):
        with memtrace.extract(carrier), memtrace.operation("inner"):
            memtrace.variable(text, "Message")

    memtrace.configure(exporter=FileExporter(sys.argv[1]))
    with memtrace.trace(id="over there"), memtrace.session(id="s"), memtrace.operation("outer"):
        process = multiprocessing.get_context("fork").Process(target=work, args=(memtrace.inject(), "in a process"))
        process.start()
        process.join()
    assert process.exitcode == 0
    """
    run(program, str(path))
    assert values(path) == ["in a process"]
    found = [json.loads(line) for line in path.read_bytes().splitlines()]
    outer, inner = sorted((e for e in found if e["type"] == "operationStarted"), key=lambda e: e["time"])
    assert inner["parent"] == outer["operation"]
    assert inner["trace"] == "over there"
    assert inner["session"] == "s"


def test_a_preloaded_application_sends_from_its_workers(tmp_path: Path) -> None:
    with running() as platform:
        program = """
        memtrace.configure(sys.argv[1], "key", "p", spool=sys.argv[2])
        record("of the master")
        memtrace.flush(100)
        children = [os.fork() for _ in range(1)]
        if children == [0]:
            record("of the worker")
            result = memtrace.flush(100)
            assert (result.sent, result.dropped) == (1, 0), result
            os._exit(0)
        assert os.waitpid(children[0], 0)[1] == 0
        """
        run(program, platform.endpoint, str(tmp_path))
        texts = sorted(event["value"] for event in platform.events if event["type"] == "variable")
    assert texts == ["of the master", "of the worker"]


def test_a_platform_that_is_away_at_the_end_leaves_a_spool_and_a_word(tmp_path: Path) -> None:
    with running() as platform:
        endpoint = platform.endpoint
    program = "memtrace.configure(sys.argv[1], 'secret-key', 'p', spool=sys.argv[2]); record('kept')"
    done = run(program, endpoint, str(tmp_path))
    assert "0 events sent, 2 spooled, 0 dropped, 0 rejected" in done.stderr
    assert done.stderr.count("spooled") == 1
    assert "secret-key" not in done.stderr
    with running(int(endpoint.rpartition(":")[2])) as back:
        run(
            "memtrace.configure(sys.argv[1], 'k', 'p', spool=sys.argv[2]); memtrace.flush(100)", endpoint, str(tmp_path)
        )
        assert [event["value"] for event in back.events if event["type"] == "variable"] == ["kept"]


def test_an_operation_whose_process_is_killed_has_begun_and_not_ended(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    program = """
    memtrace.configure(exporter=FileExporter(sys.argv[1]))
    with memtrace.trace(id="t"), memtrace.operation("crashes") as step:
        step.input("what it had in hand")
        memtrace.flush(100)
        os.kill(os.getpid(), 9)
    """
    assert run(program, str(path), check=False).returncode == -signal.SIGKILL
    kinds = [json.loads(line)["type"] for line in path.read_bytes().splitlines()]
    assert kinds == ["trace", "operationStarted", "variable", "used"]


def test_switched_off_it_costs_nothing_and_imports_little(tmp_path: Path) -> None:
    program = """
    assert not {"httpx", "pydantic"} & set(sys.modules)
    def f(text): return text
    assert memtrace.operation(kind="Update")(f) is f
    memtrace.configure("http://127.0.0.1:9", "k", "p")
    with memtrace.trace() as t, memtrace.operation("x", kind="Update", inputs=["text"], each=True) as step:
        assert step.output(f) is f and step.input(f) is f
        assert memtrace.variable(program := "text") is program
    assert not t.is_recorded
    for name in set(memtrace.__all__) - {"configure", "enabled", "flush", "fault_counts", "inject", "extract"}:
        assert hasattr(memtrace, name)
    assert memtrace.carry(f) is f and memtrace.find(f) is None
    with memtrace.session("s"), memtrace.mutation([]), memtrace.extract({}):
        memtrace.link(1, 2), memtrace.deleted(1), memtrace.retrieved("q", [], [])
    for error in (KeyError, GeneratorExit):
        try:
            with memtrace.operation("fails"), memtrace.trace(), memtrace.operation("inside") as again:
                assert again is step
                raise error
        except error:
            pass
        else:
            raise AssertionError("an error was swallowed")
    import asyncio, inspect
    async def go():
        async with memtrace.operation("x") as step, memtrace.trace("t", id="t", attributes={}):
            return step.output("text")
    assert asyncio.run(go()) == "text"
    from memtrace import off, operations
    real = inspect.signature(operations.operation).parameters
    assert list(real) == list(inspect.signature(off.operation).parameters)
    assert memtrace.flush().sent == 0
    assert "httpx" not in sys.modules
    """
    run(program, environment={"MEMTRACE_ENABLED": "0"})


def test_the_environment_says_where_to(tmp_path: Path) -> None:
    with running() as platform:
        program = "record('by the environment'); assert memtrace.flush(100).sent == 2"
        said = {"ENDPOINT": platform.endpoint, "API_KEY": "k1", "PROJECT": "p1", "SPOOL": str(tmp_path)}
        run(program, environment={f"MEMTRACE_{name}": text for name, text in said.items()})
        assert platform.requests[0]["authorization"] == "Bearer k1"
        assert platform.requests[0]["path"] == "/v1/events?project=p1"


def test_an_environment_that_is_wrong_never_stops_the_application() -> None:
    done = run("record('x')", environment={"MEMTRACE_ENDPOINT": "no address"})
    assert "configuration from the environment failed at <string>:" in done.stderr
    assert "endpoint must be an address such as https://host:port" in done.stderr
