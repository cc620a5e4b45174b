"""``memtrace run -- program``: the program is recorded, and is otherwise as if it had been started by itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.environments import python
from tests.sdk import platform
from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.running import APPLICATIONS

STARTERS = [
    pytest.param([sys.executable, "-m", "api.cli.main", "run"], id="memtrace run"),
    pytest.param([sys.executable, "-m", "memtrace.instruments"], id="python -m memtrace.instruments"),
]
ROOT = Path(__file__).parents[3]


def started(
    starter: list[str], *program: str, given: str = "", more: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    settings = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE")} | (more or {})
    command = [*starter, "--", *program]
    return subprocess.run(
        command, input=given, capture_output=True, text=True, env=settings, cwd=ROOT, timeout=120, check=False
    )


@pytest.mark.parametrize("starter", STARTERS)
def test_an_application_in_another_environment_is_recorded(starter: list[str], tmp_path: Path) -> None:
    application = str(APPLICATIONS / "openai_matrix.py")
    with scripted_openai.running(lambda body: "well") as model, platform.running() as receiver:
        more = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "k", "MEMTRACE_ENDPOINT": receiver.endpoint}
        more |= {"MEMTRACE_SPOOL": str(tmp_path)}
        done = started(starter, str(python("mem0-2.2.1")), application, "whole", more=more)
    assert json.loads(done.stdout) == {"whole": "well"}
    assert done.stderr == ""
    assert [event["value"] for event in receiver.events if event.get("kind") == "Answer"] == ["well"]


@pytest.mark.parametrize("starter", STARTERS)
def test_input_output_and_exit_code_are_the_program_s(starter: list[str]) -> None:
    code = "import sys; print(sys.stdin.read().upper()); sys.stderr.write('to errors\\n'); sys.exit(7)"
    done = started(starter, sys.executable, "-c", code, given="from input")
    assert (done.stdout, done.returncode) == ("FROM INPUT\n", 7)
    told, *more = done.stderr.splitlines()
    assert told == "to errors"
    assert [line.partition(":")[0] for line in more] == (["MemTrace recorded nothing"] if "run" in starter else [])


_AGENT = """
import memtrace, sys

@memtrace.operation(kind="Generation", output="Answer")
def answer(question):
    return "Bo"

with memtrace.trace("agent"):
    print(answer(memtrace.variable("What is the dog called?", kind="Query")))
sys.exit(3)
"""
_COMMAND = [sys.executable, "-m", "api.cli.main"]


def test_the_recording_is_in_the_store_when_the_program_has_ended(tmp_path: Path) -> None:
    more = {"XDG_STATE_HOME": str(tmp_path), "MEMTRACE_STORE": str(tmp_path / "team.db")}
    done = started([*_COMMAND, "run"], sys.executable, "-c", _AGENT, more=more)
    assert (done.stdout, done.returncode) == ("Bo\n", 3)
    recorded, last, question = done.stderr.splitlines()[-3:]
    assert recorded == (
        f"MemTrace recorded 1 trace, 1 operation, 2 variables, 1 answer in sqlite:///{tmp_path / 'team.db'}."
    )
    assert last.endswith(": Bo")
    assert question.startswith("Is it wrong? memtrace fail ")
    listed = subprocess.run(
        [*_COMMAND, "answers", "--json"], env={**os.environ, **more}, capture_output=True, cwd=ROOT, check=True
    )
    (answer,) = json.loads(listed.stdout)
    assert answer["id"].startswith(question.split()[5])
    assert len(list(tmp_path.rglob("*.ndjson"))) == 1  # the recorded file stays


_TWO_USERS = """
import memtrace

@memtrace.operation(kind="Generation", output="Answer")
def answer(question, said):
    return said

def ask(user, said):
    with memtrace.trace(user, id=user):
        answer(memtrace.variable("What is new?", kind="Query"), said)

ask("ann", "Rain.")
ask("bob", "Sun.")
ask("ann", "Snow, said last.")
"""


def test_the_last_answer_is_the_newest_of_all_traces(tmp_path: Path) -> None:
    more = {"XDG_STATE_HOME": str(tmp_path), "MEMTRACE_STORE": str(tmp_path / "team.db")}
    done = started([*_COMMAND, "run"], sys.executable, "-c", _TWO_USERS, more=more)
    assert done.stderr.splitlines()[-2].endswith("Snow, said last.")


def test_a_recording_that_the_store_cannot_take_is_kept(tmp_path: Path) -> None:
    more = {"XDG_STATE_HOME": str(tmp_path), "MEMTRACE_STORE": str(tmp_path / "no-folder" / "team.db")}
    done = started([*_COMMAND, "run"], sys.executable, "-c", _AGENT, more=more)
    assert (done.stdout, done.returncode) == ("Bo\n", 3)
    (file,) = tmp_path.rglob("*.ndjson")
    assert done.stderr.splitlines()[-1].endswith(f"memtrace import {file}")


def test_the_exit_code_of_a_killed_program_is_that_of_a_shell() -> None:
    done = started([*_COMMAND, "run"], sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    assert done.returncode == 128 + signal.SIGKILL


@pytest.mark.parametrize("starter", STARTERS)
def test_a_signal_reaches_the_program(starter: list[str]) -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(33))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)"
    )
    command = [*starter, "--", sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 33


@pytest.mark.parametrize("starter", STARTERS)
def test_an_environment_without_the_recorder_is_named(starter: list[str], tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True)
    interpreter = str(tmp_path / "bare" / "bin" / "python")
    done = started(starter, interpreter, "-c", "print('ran')")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "the recorder is not installed in the environment of the program" in done.stderr
    assert interpreter in done.stderr.replace("\n", "")
    script = tmp_path / "script"
    script.write_text(f"#!{interpreter}\nprint('ran')\n")
    script.chmod(0o755)
    assert started(starter, str(script)).returncode == 2


@pytest.mark.parametrize("starter", STARTERS)
def test_mistakes_are_told(starter: list[str]) -> None:
    missing = started(starter, "no-such-program-here")
    assert missing.returncode == 2
    assert "no-such-program-here" in missing.stderr
    wrong = started([*starter, "--instrument", "mem"], sys.executable, "-c", "print('ran')")
    assert wrong.returncode == 2
    assert "did you mean 'mem0'?" in wrong.stderr


def test_a_mistake_in_the_environment_does_not_stop_the_program() -> None:
    settings = {**os.environ, "MEMTRACE_INSTRUMENT": "mem"}
    done = subprocess.run(
        [sys.executable, "-c", "print('ran')"], env=settings, capture_output=True, text=True, check=True
    )
    assert done.stdout == "ran\n"
    assert "did you mean 'mem0'?" in done.stderr
