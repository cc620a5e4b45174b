"""What the server writes down: all that is needed to find a request, and nothing that was said in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.server.running import RunningServer, certificates, running, sqlite_place

SECRET = "the-cat-is-called-Mimi"

_PROGRAM = """
import logging, sys
import structlog
from api.logs import set_up_logs
set_up_logs(sys.argv[1], sys.argv[2])
key = "mt_" + "0" * 16 + "_" + "a" * 43
try:
    raise KeyError("SECRET")
except KeyError:
    structlog.get_logger("memtrace.test").exception("it broke", what="a\\nb")
    logging.getLogger("another.library").exception("broken %s", "too")
structlog.get_logger("memtrace.test").info("shown", key=key, parts=["x", {"y": key}])
logging.getLogger("httpx").info("GET https://issuer.example?%s", "SECRET")
logging.getLogger("memtrace.test").debug("details")
"""


def logged(level: str, form: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.replace("SECRET", SECRET), level, form],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert "a" * 43 not in done.stdout
    return done.stdout.splitlines()


def test_json() -> None:
    first, second, third = map(json.loads, logged("info", "json"))
    assert (first["event"], first["level"], first["logger"], first["what"]) == (
        "it broke",
        "error",
        "memtrace.test",
        "a\nb",
    )
    assert first["timestamp"].endswith("Z")
    assert first["error"] == second["error"] == "KeyError"
    assert first["frames"][-1].startswith("<string>:")
    assert SECRET not in json.dumps([first, second])
    assert second["event"] == "broken too"
    assert third["key"] == "mt_0000000000000000_…"
    assert third["parts"] == ["x", {"y": "mt_0000000000000000_…"}]


def test_text() -> None:
    lines = logged("warning", "text")
    assert len(lines) == 2
    assert 'level=error event="it broke"' in lines[0]
    assert r"what=a\nb" in lines[0] or r'what="a\nb"' in lines[0]


STRANGE = {
    "escape": "\x1b[2J",
    "line ends": "\r\n\x0b\x0c\x85\u2028\u2029",
    "zero": "\0",
    "C1": "\x9b31m",
    "direction": "\u202e\u2066\u200f",
    "surrogate": "\ud800",
    "hidden": "\U000e0041\ufeff",
}


@pytest.mark.parametrize("form", ["json", "text"])
def test_no_character_steers_a_terminal(form: str) -> None:
    said = "|".join(STRANGE.values())
    program = f"""
import logging, structlog
from api.logs import set_up_logs
set_up_logs("info", "{form}")
said = {said!r}
structlog.get_logger("memtrace.test").info(said, path=said, more=[said, {{"x": said}}])
logging.getLogger("another.library").warning("broken %s", said)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stderr == b""
    lines = done.stdout.decode().removesuffix("\n").split("\n")
    assert len(lines) == 2
    for line in lines:
        assert line.isprintable(), line
    if form == "json":
        assert json.loads(lines[0])["more"] == [said, {"x": said}]
        assert json.loads(lines[1])["event"] == f"broken {said}"
    else:
        assert r"\x1b[2J|\r" in lines[0].replace(r"\\", "\\")


def test_errors_speak_at_debug_only() -> None:
    lines = [json.loads(line) for line in logged("debug", "json")]
    assert SECRET in lines[0]["error_text"]
    assert lines[-1]["event"] == "details"


@pytest.mark.parametrize("form", ["json", "text"])
def test_requests_and_paths_of_strangers(tmp_path: Path, form: str) -> None:
    with running(sqlite_place(tmp_path), tmp_path, log_format=form) as server:
        key = server.key("writer")
        headers = {"Authorization": f"Bearer {key}", "Cookie": SECRET, "X-Request-Id": "find-me"}
        with httpx.Client(base_url=server.url, headers=headers, verify=certificates(), timeout=300) as client:
            client.get("/v1/export/nothing", params={"q": SECRET, "token": key})
            client.get(f"/v1/export/{key}")
            client.post("/graphql", json={"query": "query($a: String) { __typename }", "variables": {"a": SECRET}})
            client.post("/graphql", content=SECRET, headers={"Content-Type": "application/json"})
            client.get("/v1/export/nothing", headers={"Authorization": f"Bearer {key}{SECRET}"})
            client.post("/v1/import", content=SECRET.encode() * 10, params={"name": f"{SECRET}.json"})
        url = f"ws{server.url.removeprefix('http')}/graphql?token={SECRET}"
        with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")]):
            pass
        with httpx.Client(base_url=server.url, verify=certificates(), timeout=300) as stranger:
            for text in STRANGE.values():
                encoded = quote(text.encode("utf-8", "surrogatepass"))
                stranger.get(f"/{encoded}")
                stranger.get(f"/v1/values/{encoded}")
        assert server.stop() == 0
        for hidden in (SECRET, key, key.split("_", 2)[2]):
            assert hidden not in server.log_text + server.said
        for line in server.log_text.removesuffix("\n").split("\n"):
            assert line.isprintable(), line
        assert "find-me" in server.log_text
        if form == "json":
            check_request(server, key)


def check_request(server: RunningServer, key: str) -> None:
    requests = [line for line in server.log if line["event"] == "request"]
    found = requests[0]
    assert (found["method"], found["path"], found["route"], found["status"]) == (
        "GET",
        "/v1/export/nothing",
        "/v1/export/{trace}",
        404,
    )
    assert (found["actor"], found["client"], found["request_id"]) == (
        f"key:{key.split('_')[1]}",
        "127.0.0.1",
        "find-me",
    )
    assert found["seconds"] > 0
    assert found["bytes"] > 0
    assert [line["logger"] for line in server.log if line["event"] == "Shutting down"] == ["uvicorn.error"]


@pytest.mark.full
@pytest.mark.parametrize(("trusted", "client"), [("", "127.0.0.1"), ("127.0.0.1", "203.0.113.7")])
def test_who_is_believed_about_the_client(tmp_path: Path, trusted: str, client: str) -> None:
    with running(sqlite_place(tmp_path), tmp_path, job_concurrency=0, trusted_proxies=trusted) as server:
        httpx.get(f"{server.url}/healthz", headers={"X-Forwarded-For": "203.0.113.7"}, timeout=300)
        assert server.stop() == 0
        assert [line["client"] for line in server.log if line["event"] == "request"] == [client]
