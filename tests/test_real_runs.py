"""`python -m benchmarks.real` with a scripted model: the run is judged, stored and written, and can be repeated."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.real import __main__ as real
from optimization.harness.datasets.registry import read_dataset
from tests.data import ROOT
from tests.sdk.instruments import scripted_openai

CONVERSATIONS = sorted((ROOT / "benchmarks" / "real" / "conversations").glob("*.jsonl"))


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"id": f"call_{tool}", "type": "function", "function": function}


def _model(body: dict[str, Any]) -> str | dict[str, Any]:
    """Keeps the train and the passport as notes, corrects the one and deletes the other, and answers from its notes."""
    asked = body["messages"][0]["content"]
    tools = [one["function"]["name"] for one in body.get("tools", ())]
    if tools == ["search"]:
        words = asked.rpartition("Question: ")[2]
        return f"```json\n{json.dumps({'name': 'search', 'arguments': {'words': words}})}\n```"
    if not tools:
        found = re.search(r"leaves at (\S+)\.", asked)
        is_asked = "what time" in asked.rpartition("Question: ")[2]
        return found[1] if is_asked and found else "I do not know."
    if "passport number ends" in asked.rpartition("Messages:")[2]:
        notes = ("The train to Lisbon leaves at 7:35.", "The passport number of Priya ends in 4471.")
        return {"tool_calls": [_call("remember", text=one) for one in notes]}
    if "I was wrong about the train" in asked:
        calls = [_call("replace", note=1, text="The train to Lisbon leaves at 8:35."), _call("forget", note=2)]
        return {"tool_calls": [*calls, _call("forget", note=99), _call("replace", note=1, text="")]}
    return "Nothing to note."


@pytest.mark.parametrize("path", CONVERSATIONS, ids=lambda path: path.stem)
def test_each_conversation_is_a_whole_data_set(path: Path) -> None:
    (found,) = read_dataset(path).conversations
    assert read_dataset(path).unknown_evidence == ()
    assert len(found.questions) >= 10
    assert any(not one.gold for one in found.questions)
    assert all(one.evidence for one in found.questions if one.gold)
    assert all(session.time is not None for session in found.sessions)


@pytest.mark.full
def test_a_run_of_the_agent_with_memory_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["--program", "notes", "--conversation", "corrections", "--out", str(tmp_path), "--judge", "exact"]
    monkeypatch.setenv("MEMTRACE_REPLAY", str(tmp_path / "replay"))
    monkeypatch.setenv("MEMTRACE_PROGRAM_MODEL", "scripted")
    with scripted_openai.running(_model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert real.main(words) == 0
        asked = len(server.requests)
        assert real.main(words) == 0
        assert len(server.requests) == asked, "the second run was paid again"
    result = json.loads((tmp_path / "notes_corrections.json").read_text("utf-8"))
    assert (result["program"], result["model"]) == ("notes", "scripted")
    right = {one["questionId"] for one in result["users"][0]["answers"] if one["right"]}
    assert right == {"q1", "q2", "q6"}
    lines = (tmp_path / "notes_corrections.ndjson").read_text("utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    units = [one for one in events if one["type"] == "variable" and one.get("kind") == "MemoryUnit"]
    assert [one["value"] for one in units if "train" in str(one["value"])][:2] == [
        "The train to Lisbon leaves at 7:35.",
        "The train to Lisbon leaves at 8:35.",
    ]
    kinds = [one["kind"] for one in events if one["type"] == "operationStarted"]
    assert kinds.count("Deletion") == 1
    assert kinds.count("Retrieval") == 11


def test_what_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("OPENAI_BASE_URL", "MEMTRACE_PROGRAM_MODEL", "MEMTRACE_LLM_BASE_URL", "MEMTRACE_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    words = ["--program", "buffer", "--conversation", "garden", "--out", str(tmp_path)]
    with pytest.raises(SystemExit):
        real.main(words)
    assert "set OPENAI_BASE_URL or MEMTRACE_LLM_BASE_URL and" in capsys.readouterr().err
    monkeypatch.setenv("MEMTRACE_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("MEMTRACE_LLM_MODEL", "m")
    words[3] = "nowhere"
    with pytest.raises(SystemExit):
        real.main(words)
    assert "there is no conversation nowhere" in capsys.readouterr().err
