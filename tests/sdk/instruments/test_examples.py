"""The examples of integrations: short, runnable, and recorded whole by ``MEMTRACE_INSTRUMENT`` alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.environments import python
from tests.sdk import platform
from tests.sdk.instruments import scripted_everos, scripted_openai
from tests.sdk.instruments.mem0_model import model
from tests.sdk.instruments.running import Run, check_whole
from tests.sdk.instruments.test_langmem import script as langmem_script

INTEGRATIONS = Path(__file__).parents[3] / "examples" / "integrations"
MOST_LINES = 60


def recorded(
    name: str, environment: str, folder: Path, script: Any, more: Mapping[str, str] | None = None
) -> tuple[str, Run]:
    """What an example printed, and what was recorded."""
    file = INTEGRATIONS / f"{name}.py"
    assert len(file.read_text().splitlines()) < MOST_LINES
    with scripted_openai.running(script) as server, platform.running() as receiver:
        settings = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE")}
        settings |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k", "MEM0_TELEMETRY": "False"}
        settings |= {"OPENAI_API_BASE": server.url, "LANGSMITH_TRACING": "false", **(more or {})}
        settings |= {"MEMORY": str(folder), "MEM0_DIR": str(folder / "mem0"), "EMBEDDING_SIZE": "512"}
        settings |= {"MEMTRACE_INSTRUMENT": "all", "MEMTRACE_ENDPOINT": receiver.endpoint}
        settings |= {"MEMTRACE_SPOOL": str(folder / "spool")}
        done = subprocess.run(
            [str(python(environment)), str(file)], env=settings, capture_output=True, text=True, timeout=240, check=True
        )
        run = Run(None, list(receiver.events), done.stderr)
    check_whole(run)
    return done.stdout, run


def test_openai(tmp_path: Path) -> None:
    said, run = recorded("openai_chat", "mem0-2.2.1", tmp_path, lambda body: f"reply {len(body['messages'])}, of words")
    assert said == "reply 1, of words\nreply 3, of words\n"
    assert run.operations() == [("openai chat", "Generation")] * 2
    assert len(run.of("trace")) == 1
    assert len(run.closure(run.only("reply 3, of words"))) == 4


def test_mem0(tmp_path: Path) -> None:
    said, run = recorded("mem0_assistant", "mem0-2.2.1", tmp_path, model())
    assert said == "Lives in Berlin\n"
    answer = run.only("Lives in Berlin", "Answer")
    closure = [(event["kind"], event["value"]) for event in run.closure(answer)]
    assert ("Message", "I live in Berlin.") in closure
    assert [value for kind, value in closure if kind == "Query"] == ["Where do I live?"]


def test_langchain(tmp_path: Path) -> None:
    said, run = recorded("langchain_documents", "langchain", tmp_path, lambda body: "In the city of Berlin.")
    assert said == "In the city of Berlin.\n"
    closure = [(event["kind"], event["value"]) for event in run.closure(run.only("In the city of Berlin.", "Answer"))]
    assert [value for kind, value in closure if kind == "Message"] == ["Alice lives in Berlin."]
    assert [value for kind, value in closure if kind == "Query"] == ["Where does Alice live?"]


def test_langgraph(tmp_path: Path) -> None:
    said, run = recorded("langgraph_memory", "langchain", tmp_path, lambda body: f"{len(body['messages'])} were read")
    assert said == "2 were read\n2 were read\n"
    last = run.variables("Answer")[-1]
    closure = [(event["kind"], event["value"]) for event in run.closure(last)]
    assert ("Message", "I live in Berlin.") in closure
    assert [value for kind, value in closure if kind == "Query"] == ["Where do I live?"]


def test_langmem(tmp_path: Path) -> None:
    said, run = recorded("langmem_manager", "langchain", tmp_path, langmem_script)
    assert said == "In Rome.\n"
    closure = [(event["kind"], event["value"]) for event in run.closure(run.only("In Rome.", "Answer"))]
    assert {value for kind, value in closure if kind == "Message"} == {"I live in Berlin.", "I have moved to Paris."}
    assert [value for kind, value in closure if kind == "Query"] == ["Where do I live?"]


def test_llamaindex(tmp_path: Path) -> None:
    said, run = recorded("llamaindex_documents", "langchain", tmp_path, lambda body: "In the city of Berlin.")
    assert said == "In the city of Berlin.\n"
    closure = [(event["kind"], event["value"]) for event in run.closure(run.only("In the city of Berlin.", "Answer"))]
    assert {value for kind, value in closure if kind == "Message"} == {"Bo is a dog.", "Alice lives in Berlin."}
    assert [value for kind, value in closure if kind == "Query"] == ["Where does Alice live?"]


def test_everos(tmp_path: Path) -> None:
    with scripted_everos.running() as server:
        more = {"EVEROS_URL": server.url, "EVEROS_API_KEY": "k"}
        said, run = recorded("everos_client", "langchain", tmp_path, lambda body: 500, more)
    assert said == "alice said: I live in Berlin.\n"
    assert [name for name, _ in run.operations()] == ["everos.add", "everos.flush", "everos.search"]
