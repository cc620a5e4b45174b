"""Whatever happens to the recorder, the program has the same results, and what is recorded is whole."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import memtrace
import openai
import pytest
from memtrace import sink
from memtrace.exporters.memory import MemoryExporter
from memtrace.instruments.openai import bodies as openai_bodies
from openai import _base_client

from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.test_openai import script

REQUEST = vars(_base_client.SyncAPIClient)["request"]


@pytest.fixture(scope="module")
def server() -> Iterator[scripted_openai.ScriptedOpenAI]:
    with scripted_openai.running(script) as running:
        yield running


@pytest.fixture
def client(server: scripted_openai.ScriptedOpenAI) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as one:
        yield one


def say(client: openai.OpenAI, words: str) -> str | None:
    return (
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": words}])
        .choices[0]
        .message.content
    )


def operations(recorded: MemoryExporter) -> int:
    ended = [event["operation"] for event in recorded.of("operationEnded")]
    assert sorted(ended) == sorted(event["operation"] for event in recorded.of("operationStarted"))
    return len(ended)


def test_instrument_twice_records_once(client: openai.OpenAI, recorded: MemoryExporter) -> None:
    for _ in range(3):
        memtrace.instrument("openai")
    assert say(client, "say: once") == "once"
    assert operations(recorded) == 1


def test_uninstrument_leaves_the_package_as_it_was(client: openai.OpenAI, recorded: MemoryExporter) -> None:
    memtrace.instrument("openai")
    assert vars(_base_client.SyncAPIClient)["request"] is not REQUEST
    memtrace.uninstrument()
    assert vars(_base_client.SyncAPIClient)["request"] is REQUEST
    assert say(client, "say: unseen") == "unseen"
    assert operations(recorded) == 0


def test_another_patch_on_top_is_left_alone(client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    memtrace.instrument("openai")
    ours = vars(_base_client.SyncAPIClient)["request"]

    def theirs(*args: Any, **kwargs: Any) -> Any:
        return ours(*args, **kwargs)

    monkeypatch.setattr(_base_client.SyncAPIClient, "request", theirs)
    memtrace.uninstrument()
    assert vars(_base_client.SyncAPIClient)["request"] is theirs
    assert say(client, "say: still there") == "still there"
    monkeypatch.undo()
    _base_client.SyncAPIClient.request = REQUEST  # type: ignore[method-assign]


def test_instrument_and_uninstrument_under_load(client: openai.OpenAI, recorded: MemoryExporter) -> None:
    stop = threading.Event()

    def switch() -> None:
        while not stop.is_set():
            memtrace.instrument("openai")
            memtrace.uninstrument("openai")

    with ThreadPoolExecutor(9) as pool:
        switching = pool.submit(switch)
        said = list(pool.map(lambda number: say(client, f"say: number {number}"), range(80)))
        stop.set()
        switching.result()
    assert said == [f"number {number}" for number in range(80)]
    assert operations(recorded) <= 80
    assert vars(_base_client.SyncAPIClient)["request"] is REQUEST


def test_a_stream_that_began_before_uninstrument_ends_recorded(client: openai.OpenAI, recorded: MemoryExporter) -> None:
    memtrace.instrument("openai")
    stream = client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "say: across the end"}], stream=True
    )
    next(stream)
    memtrace.uninstrument()
    words = [chunk.choices[0].delta.content or "" for chunk in stream]
    assert "".join(words) == "across the end"
    assert operations(recorded) == 1
    assert [event["value"] for event in recorded.of("variable") if event["kind"] == "Answer"] == ["across the end"]


def test_hundreds_of_tasks(server: scripted_openai.ScriptedOpenAI, recorded: MemoryExporter) -> None:
    memtrace.instrument("openai")

    async def run() -> list[list[str | None]]:
        async with openai.AsyncOpenAI(base_url=server.url, api_key="k", timeout=300) as client:

            async def talk(number: int) -> list[str | None]:
                messages: list[Any] = []
                for turn in range(2):
                    messages.append({"role": "user", "content": f"say: turn {turn} of {number}"})
                    done = await client.chat.completions.create(model="m", messages=messages)
                    messages.append({"role": "assistant", "content": done.choices[0].message.content})
                return [message["content"] for message in messages[1::2]]

            return await asyncio.gather(*(talk(number) for number in range(200)))

    said = asyncio.run(run())
    assert said == [[f"turn {turn} of {number}" for turn in range(2)] for number in range(200)]
    assert operations(recorded) == 400
    assert len({event["trace"] for event in recorded.of("trace")}) == 200  # each conversation is one
    home = {event["variable"]: event["trace"] for event in recorded.of("variable")}
    assert all(home[edge["source"]] == home[edge["target"]] for edge in recorded.of("derived"))


def test_a_model_that_is_too_slow(recorded: MemoryExporter) -> None:
    memtrace.instrument("openai")
    asked, enough = threading.Event(), threading.Event()

    def slow(body: dict[str, Any]) -> str:
        asked.set()
        enough.wait(60)
        return "too late"

    with scripted_openai.running(slow) as server:
        with (
            openai.OpenAI(base_url=server.url, api_key="k", max_retries=0, timeout=0.5) as hurried,
            pytest.raises(openai.APITimeoutError),
        ):
            say(hurried, "say: something")
        assert asked.is_set()
        enough.set()
    assert operations(recorded) == 1
    (end,) = recorded.of("operationEnded")
    assert (end["status"], end["error"]["type"]) == ("error", "APITimeoutError")


def test_a_recorder_that_fails_is_not_noticed(client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    memtrace.instrument("openai")
    before = memtrace.fault_counts()

    def broken(*_: object) -> None:
        raise OSError("broken on purpose")

    monkeypatch.setattr(sink, "send", broken)
    assert say(client, "say: all the same") == "all the same"
    monkeypatch.setattr(openai_bodies, "asked", broken)
    assert say(client, "say: and again") == "and again"
    with pytest.raises(openai.InternalServerError):
        say(client, "fail: 500")
    monkeypatch.undo()
    assert memtrace.fault_counts() != before
    memtrace.faults._counts.clear()
    memtrace.faults._counts.update(before)


def test_the_platform_is_away_and_the_recorder_is_switched_off_in_flight(
    client: openai.OpenAI, tmp_path: Path, recorded: MemoryExporter
) -> None:
    memtrace.instrument("openai")
    memtrace.configure("http://127.0.0.1:9", spool=tmp_path)
    stream = client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "say: while it is away"}], stream=True
    )
    first = next(stream)
    memtrace.configure(exporter=recorded)  # the exporter of the running call is closed
    words = [chunk.choices[0].delta.content or "" for chunk in (first, *stream)]
    assert "".join(words) == "while it is away"
    memtrace.configure(exporter=MemoryExporter())
    memtrace.configure(exporter=recorded)
    recorded.events.clear()  # the end of a call whose beginning went elsewhere


def test_a_process_that_is_forked_off_records_by_itself(client: openai.OpenAI, tmp_path: Path) -> None:
    """As gunicorn does with --preload: instruments and clients are made before the workers."""
    memtrace.instrument("openai")
    assert say(client, "say: before the fork") == "before the fork"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            own = MemoryExporter()
            memtrace.configure(exporter=own)
            again = openai.OpenAI(base_url=str(client.base_url), api_key="k", max_retries=0)
            code = 0 if say(again, "say: in the child") == "in the child" and operations(own) == 1 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert say(client, "say: after the fork") == "after the fork"
