"""The proxy between a program and its models reads a reply only up to a limit."""

from __future__ import annotations

from pathlib import Path

import httpx
import memtrace.replay.proxy
import pytest
from memtrace.replay.proxy import Proxy
from memtrace.replay.replies import Replies

from tests.llm_server import ENDLESS, llm_server, say


def test_an_endless_reply_is_cut_off_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memtrace.replay.proxy, "MAX_REPLY_BYTES", 1_000_000)
    asked = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    with llm_server() as server, Proxy(Replies(tmp_path, "record")) as proxy, httpx.Client() as client:
        url = proxy.url_of(server.url) + "/chat/completions"
        server.script(ENDLESS, say("hello"))
        with pytest.raises(httpx.RemoteProtocolError):
            client.post(url, json=asked)
        assert proxy.problems == ["a model's reply is longer than 1,000,000 bytes"]
        assert client.post(url, json=asked).json()["choices"][0]["message"]["content"] == "hello"
    assert len([path for path in tmp_path.iterdir() if path.stat().st_size > 100_000]) == 0
