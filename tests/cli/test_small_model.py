"""The whole way to a real model. Replies of SmolLM2-135M are rubbish, so every end of it must be a good one.

With a larger model in ``MEMTRACE_TEST_MODEL`` (the path of a GGUF file), the same tests run with that model, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from attribution.verdicts.verdict import Method
from schema.kinds import ErrorType
from tests.cli.conftest import SAMPLE, Cli
from tests.small_model import CONTEXT_TOKENS, NAMED, served, small_model

pytestmark = pytest.mark.full

_LIMITS = {"OUTPUT_TOKENS": 160, "CONTEXT_TOKENS": CONTEXT_TOKENS // 2, "MAX_CALLS": 4, "CONCURRENCY": 1}
_SECONDS = {"TIMEOUT": 1_800, "MAX_SECONDS": 3_600}
_DATASET = {
    "user": "ann",
    "sessions": [
        {
            "id": "s1",
            "time": "2026-03-01T09:00:00Z",
            "messages": [
                {"id": "m1", "speaker": "Ann", "text": "My dog is called Bo."},
                {"id": "m2", "speaker": "Ann", "text": "I moved to Ghent last week."},
            ],
        }
    ],
    "questions": [
        {"id": "q1", "question": "What is Ann's dog called?", "gold": ["Bo"], "evidence": ["m1"]},
        {"id": "q2", "question": "Where does Ann live?", "gold": ["Ghent"], "evidence": ["m2"]},
    ],
}


@pytest.fixture(scope="module", params=["smollm2", "named"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real model."""
    if request.param == "named" and not os.environ.get(NAMED):
        pytest.skip(f"no larger model is there: set {NAMED} to the path of a GGUF file")
    python, file = small_model()
    chosen = Path(os.environ[NAMED]) if request.param == "named" else file
    with served(chosen, python, tmp_path_factory.mktemp("model") / "server.log") as url:
        yield url


@pytest.fixture(scope="module")
def cache(model: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for replies, and for what the first test finds out about the model."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _settings(model: str, cache: Path, _quiet_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that name the model, with short replies."""
    monkeypatch.setenv("MEMTRACE_LLM_BASE_URL", model)
    monkeypatch.setenv("MEMTRACE_LLM_MODEL", "small")
    for name, value in (_LIMITS | _SECONDS).items():
        monkeypatch.setenv(f"MEMTRACE_LLM_{name}", str(value))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


def test_a_check_says_of_each_form_whether_it_works(cli: Cli) -> None:
    found = json.loads(cli("model", "check", "--json").out)
    assert [one["form"] for one in found["forms"]] == ["tools", "json_schema", "json_object", "text"]
    # llama.cpp lets a model write nothing else than the schema allows.
    assert {one["form"]: one["works"] for one in found["forms"]}["json_schema"]
    assert all(one["works"] == (one["how"] == "as asked" or "understood" in one["how"]) for one in found["forms"])
    assert found["error"] is None
    assert found["tokensPerSecond"]["input"] > 0
    assert found["spent"]["calls"] == 6


@pytest.mark.parametrize("method", [one for one in Method if one is not Method.FLOW])
def test_a_failure_ends_in_a_checked_verdict_or_an_abstention_with_a_reason(cli: Cli, method: Method) -> None:
    cli("import", SAMPLE)
    failure = cli("failures", "--json").json[0]
    # Without gold answers the free pass is unsure, so that no method does without the model.
    (verdict,) = cli("attribute", failure["id"], "--method", method, "--gold-free", "--json").json
    assert verdict["method"] == method
    if method in (Method.LLM, Method.ONESHOT):  # others may find that the model can't be relied on
        assert verdict["model"] == "small"
        assert verdict["tokens"] > 0
    assert verdict["reason"]
    # An unexpected error would be an abstention with the name of its type.
    assert "attribution failed (" not in verdict["reason"]
    if verdict["errorType"] is None:
        assert verdict["confidence"] is None or verdict["confidence"] < 1
        return
    assert verdict["errorType"] in list(ErrorType)
    operations = {one["id"] for one in cli("operations", "--json").json}
    assert verdict["operationId"] is None or verdict["operationId"] in operations


def test_a_run_with_a_judge_keeps_every_question(
    cli: Cli, model: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model)
    monkeypatch.setenv("MEMTRACE_PROGRAM_MODEL", "small")
    monkeypatch.setenv("MEMTRACE_REPLAY", str(tmp_path / "replay"))
    dataset = tmp_path / "ann.jsonl"
    dataset.write_text(json.dumps(_DATASET) + "\n", "utf-8")
    program = "memtrace.program.adapters.buffer:LongContextBuffer"
    command = ("evaluate", program, "--dataset", dataset, "--run", tmp_path / "run", "--judge", "llm", "--json")
    process = cli.process(*command)
    out, err = process.communicate(timeout=3_600)
    assert process.returncode in (0, 1), err
    (user,) = json.loads(out)["users"]
    # A judgement that the model can't give fails its question, and no other one.
    asked = {one["questionId"]: one for one in (*user["answers"], *user["failed"])}
    assert set(asked) == {"q1", "q2"}
    assert user["error"] is None
    assert all(one["error"].startswith("judge: ") for one in user["failed"])
    assert process.returncode == bool(user["failed"])
    stored = {one["question"] for one in cli("answers", "--json").json}
    assert {one["question"] for one in user["answers"]} <= stored
