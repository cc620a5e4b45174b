"""The proxy between a program and its models: limits of a reply, and clients that give up and ask again."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import memtrace.replay.proxy
import pytest
from memtrace.replay.proxy import Proxy
from memtrace.replay.replies import Replies

from tests.llm_server import ENDLESS, HANG, Answer, Request, llm_server, say

ASKED = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def test_an_endless_reply_is_cut_off_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memtrace.replay.proxy, "MAX_REPLY_BYTES", 1_000_000)
    with llm_server() as server, Proxy(Replies(tmp_path, "record")) as proxy, httpx.Client() as client:
        url = proxy.url_of(server.url) + "/chat/completions"
        server.script(ENDLESS, say("hello"))
        with pytest.raises(httpx.RemoteProtocolError):
            client.post(url, json=ASKED)
        assert proxy.problems == ["a model's reply is longer than 1,000,000 bytes"]
        assert _text(client.post(url, json=ASKED)) == "hello"
    assert len([path for path in tmp_path.iterdir() if path.stat().st_size > 100_000]) == 0


class _Slow:
    """A model that replies when it is told to."""

    def __init__(self) -> None:
        self.asked, self.may_reply = threading.Event(), threading.Event()

    def __call__(self, request: Request) -> Answer:
        self.asked.set()
        assert self.may_reply.wait(30)
        return say("slow")


@pytest.mark.parametrize("mode", ["record", "resume"])
def test_a_reply_that_a_client_did_not_wait_for_is_given_when_it_asks_again(tmp_path: Path, mode: str) -> None:
    slow = _Slow()
    with llm_server() as server, Proxy(Replies(tmp_path, mode)) as proxy:
        server.script(slow, say("paid twice"))
        url = proxy.url_of(server.url) + "/chat/completions"
        _give_up(url, slow)
        slow.may_reply.set()
        _wait_for(lambda: any(path.name.endswith(".0") for path in tmp_path.iterdir()))
        assert _text(httpx.post(url, json=ASKED)) == "slow"
        assert len(server.requests) == 1
        # An equal request of its own still gets a reply of its own.
        assert _text(httpx.post(url, json=ASKED)) == "paid twice"


def test_a_client_that_asks_again_waits_for_the_reply_that_is_under_way(tmp_path: Path) -> None:
    slow = _Slow()
    with llm_server() as server, Proxy(Replies(tmp_path, "resume")) as proxy, ThreadPoolExecutor() as threads:
        server.script(slow, say("paid twice"))
        url = proxy.url_of(server.url) + "/chat/completions"
        for _ in range(2):  # clients of models usually try three times
            _give_up(url, slow)
        last = threads.submit(httpx.post, url, json=ASKED, timeout=30)
        time.sleep(0.2)
        slow.may_reply.set()
        assert _text(last.result()) == "slow"
        assert len(server.requests) == 1
        assert proxy.spent().calls == 1


def test_clients_that_wait_for_equal_requests_get_replies_of_their_own(tmp_path: Path) -> None:
    slow = _Slow()
    with llm_server() as server, Proxy(Replies(tmp_path, "resume")) as proxy, ThreadPoolExecutor() as threads:
        server.script(slow, slow)
        url = proxy.url_of(server.url) + "/chat/completions"
        both = [threads.submit(httpx.post, url, json=ASKED, timeout=30) for _ in range(2)]
        _wait_for(lambda: len(server.requests) == 2)
        slow.may_reply.set()
        assert [_text(one.result()) for one in both] == ["slow", "slow"]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_failed_reply_is_asked_for_again_by_the_client_that_waits_for_it(tmp_path: Path) -> None:
    slow = _Slow()

    def broken(request: Request) -> Answer:
        slow(request)
        return Answer(b"{}", 500)

    with llm_server() as server, Proxy(Replies(tmp_path, "resume")) as proxy, ThreadPoolExecutor() as threads:
        server.script(broken, say("second try"))
        url = proxy.url_of(server.url) + "/chat/completions"
        _give_up(url, slow)
        again = threads.submit(httpx.post, url, json=ASKED, timeout=30)
        time.sleep(0.2)
        slow.may_reply.set()
        assert _text(again.result()) == "second try"
    assert [path.name[-2:] for path in tmp_path.iterdir()] == [".0"]


def test_a_silent_server_is_given_up_after_the_set_time(tmp_path: Path) -> None:
    with llm_server() as server, Proxy(Replies(tmp_path, "record"), seconds=0.3) as proxy:
        server.script(HANG)
        found = httpx.post(proxy.url_of(server.url) + "/chat/completions", json=ASKED, timeout=30)
        assert found.status_code == 400
        assert proxy.problems == ["the model's server did not reply within 0.3 seconds"]


def _give_up(url: str, slow: _Slow) -> None:
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(url, json=ASKED, timeout=httpx.Timeout(30, read=0.3))
    assert slow.asked.wait(30)


def _wait_for(holds: Any) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def _text(response: httpx.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])
