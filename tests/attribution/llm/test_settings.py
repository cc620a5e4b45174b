"""Settings: from the environment, checked, and never shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attribution.llm.transport.settings import LlmSettings
from schema.errors import InputError

URL = "http://localhost:8000/v1"
SECRET = "sk-very-secret-0123456789"


def _load(**values: Any) -> LlmSettings:
    return LlmSettings.load(**{"base_url": URL, "model": "some-model"} | values)


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "BASE_URL": "https://models.example/v1",
        "MODEL": "some-model",
        "API_KEY": SECRET,
        "INPUT_PRICE": "0.4",
        "OUTPUT_PRICE": "1.6",
        "MAX_TOKENS": "1000",
        "MAX_COST": "0.25",
        "RUN_MAX_TOKENS": "5000",
        "RETRIES": "",
    }.items():
        monkeypatch.setenv(f"MEMTRACE_LLM_{name}", value)
    settings = LlmSettings.load()
    assert settings.base_url == "https://models.example/v1"
    assert settings.key() == SECRET
    assert (settings.case_limits.tokens, settings.case_limits.cost) == (1000, 0.25)
    assert settings.run_limits.tokens == 5000
    assert settings.retries == 5
    assert settings.usage(1_000_000, 500_000).cost == pytest.approx(0.4 + 0.8)


def test_values_go_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRACE_LLM_MODEL", "one")
    assert _load(model="another").model == "another"


def test_a_file_that_lies_around_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("MEMTRACE_LLM_MODEL=another\nMEMTRACE_LLM_RETRIES=7\n")
    monkeypatch.chdir(tmp_path)
    assert _load().retries == 5


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InputError) as caught:
        LlmSettings.load()
    assert str(caught.value) == (
        "settings of the model: MEMTRACE_LLM_BASE_URL is not set; MEMTRACE_LLM_MODEL is not set"
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"timeout": 0}, "MEMTRACE_LLM_TIMEOUT: Input should be greater than 0"),
        ({"max_tokens": "many"}, "MEMTRACE_LLM_MAX_TOKENS: Input should be a valid integer"),
        ({"retries": -1}, "MEMTRACE_LLM_RETRIES: Input should be greater than or equal to 0"),
        ({"max_seconds": float("inf")}, "MEMTRACE_LLM_MAX_SECONDS: Input should be a finite number"),
        ({"base_url": "models.example/v1"}, "MEMTRACE_LLM_BASE_URL is no URL"),
        ({"base_url": f"https://user:{SECRET}@models.example/v1"}, "MEMTRACE_LLM_BASE_URL must hold no user"),
        ({"base_url": f"https://models.example/v1?key={SECRET}"}, "MEMTRACE_LLM_BASE_URL must hold no user"),
        ({"embedding_base_url": "ftp://models.example"}, "MEMTRACE_LLM_EMBEDDING_BASE_URL is no URL"),
        ({"api_key": SECRET, "api_key_file": "key"}, "MEMTRACE_LLM_API_KEY and MEMTRACE_LLM_API_KEY_FILE are both set"),
        ({"embedding_api_key": SECRET}, "MEMTRACE_LLM_EMBEDDING_API_KEY is for MEMTRACE_LLM_EMBEDDING_BASE_URL"),
        ({"max_cost": 1.0}, "a limit on cost needs prices: set MEMTRACE_LLM_INPUT_PRICE"),
        ({"run_max_cost": 1.0, "input_price": 1.0}, "a limit on cost needs prices"),
        (
            {"max_cost": 1.0, "input_price": 1.0, "output_price": 1.0, "embedding_model": "e"},
            "a limit on cost needs prices: set MEMTRACE_LLM_EMBEDDING_PRICE",
        ),
    ],
)
def test_what_is_wrong_is_named_and_no_secret_shown(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        _load(**values)
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_file_holds_the_key(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{SECRET}\n")
    assert _load(api_key_file=file).key() == SECRET


@pytest.mark.parametrize("content", [b"", b"\n", b"two\nlines", b"with space", "kéy".encode(), b"\xff\x00"])
def test_a_file_without_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "key"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"MEMTRACE_LLM_API_KEY_FILE: .*key: must hold one key"):
        _load(api_key_file=file).key()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"MEMTRACE_LLM_API_KEY_FILE: .*nowhere: can't be read: No such file"):
        _load(api_key_file=tmp_path / "nowhere").key()


def test_a_key_that_no_header_can_hold_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        _load(api_key=f"{SECRET}\nX-Other: 1").key()
    assert SECRET not in str(caught.value)


def test_no_key_is_needed() -> None:
    assert _load().key() is None


def test_embeddings_elsewhere_have_a_key_of_their_own() -> None:
    assert _load(api_key=SECRET).embedding_key() == SECRET
    elsewhere = _load(api_key=SECRET, embedding_base_url="http://other:1/v1")
    assert elsewhere.embedding_key() is None
    assert _load(embedding_base_url="http://other:1/v1", embedding_api_key="another").embedding_key() == "another"


def test_settings_do_not_show_the_key() -> None:
    settings = _load(api_key=SECRET)
    assert SECRET not in repr(settings)
    assert SECRET not in str(settings.model_dump())
    assert SECRET not in settings.model_dump_json()


def test_a_reply_leaves_room_in_a_small_context() -> None:
    assert _load(context_tokens=4_000, output_tokens=4_000).reply_tokens == 1_000
    assert _load(context_tokens=128_000, output_tokens=4_000).reply_tokens == 4_000
