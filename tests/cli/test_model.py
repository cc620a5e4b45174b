"""`memtrace model check` shows the trial of a model, which tests/attribution/llm/test_trial.py tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.conftest import Cli
from tests.llm_server import LlmServer, call, fail, give, list_models, llm_server, say

WEATHER = {"city": "Leeds", "degrees": 21}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlmServer]:
    """A scripted model that the settings name, and a cache of its own."""
    with llm_server() as running:
        monkeypatch.setenv("MEMTRACE_LLM_BASE_URL", running.url)
        monkeypatch.setenv("MEMTRACE_LLM_MODEL", "scripted")
        monkeypatch.setenv("MEMTRACE_LLM_INPUT_PRICE", "1")
        monkeypatch.setenv("MEMTRACE_LLM_OUTPUT_PRICE", "2")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield running


def _script(server: LlmServer) -> None:
    server.models = list_models("scripted", "other")
    server.script(say("1, 2, 3"), call(("look_up", {"words": "grey parrot"})), give(WEATHER), say("no JSON"))
    server.script(give(WEATHER), say("yes"))


def test_a_check_as_json(cli: Cli, server: LlmServer) -> None:
    _script(server)
    found = cli("model", "check", "--json").json
    assert (found["server"], found["model"], found["listed"]) == (server.url, "scripted", ["scripted", "other"])
    assert {one["form"]: one["works"] for one in found["forms"]} == {
        "tools": True,
        "json_schema": True,
        "json_object": False,
        "text": True,
    }
    assert found["usable"]
    assert found["error"] is None
    assert found["tokensPerSecond"]["input"] > 0
    assert all(one["cost"] > 0 and one["verdicts"] == 0 for one in found["failure"])
    assert found["spent"]["calls"] == 6
    assert server.left == 0


def test_a_check_for_people(cli: Cli, server: LlmServer) -> None:
    _script(server)
    shown = cli("model", "check")
    for part in ("2 models listed", "json_schema", "a failure with", "oneshot", "estimate"):
        assert part in shown.out
    assert "is estimated without verdicts of the project: there is no store" in shown.err


def test_a_check_that_fails(cli: Cli, server: LlmServer) -> None:
    server.script(fail(401, "bad key"), repeat=True)
    shown = cli("model", "check", code=1)
    assert "error: the server answered 401: bad key. The server wants a key" in shown.err
    server.script(say("I can't."), repeat=True)
    shown = cli("model", "check", code=1)
    assert "error: no form of replies works with this model" in shown.err


def test_a_check_without_settings(cli: Cli) -> None:
    assert "MEMTRACE_LLM_BASE_URL is not set" in cli("model", "check", code=4).err
