"""No key reaches logs, errors, verdicts or files, even where the server repeats it."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

import pytest

from attribution.llm.agent.agent import Agent
from attribution.llm.transport.cache import FileCache
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.errors import LlmError
from attribution.verdicts.verdict import Method, to_attribution
from tests.attribution.llm.conftest import KEY, Clients
from tests.attribution.llm.story import Story
from tests.llm_server import DROP, GARBAGE, HANG, Answer, LlmServer, call, fail, refuse, say


def _timeout(answer: Answer) -> float:
    return 0.2 if answer is HANG else 20


def _contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "answers",
    [
        [fail(401, f"Incorrect API key provided: {KEY}.")],
        [fail(400, f"{KEY} is wrong")],
        [fail(429, KEY, retry_after="1")] * 3,
        [fail(500, f"headers: Authorization: Bearer {KEY}")] * 3,
        [Answer(f'{{"detail": "{KEY}"}}'.encode(), 403)],
        [Answer(f'"{KEY}"'.encode())] * 3,
        [GARBAGE] * 3,
        [HANG] * 3,
        [DROP] * 3,
        [refuse(f"not for {KEY}")],
        [call(("propose_verdict", {"error_type": None, "confidence": 0.1, "reason": f"the key is {KEY}"}))],
        [call((f"tool_{KEY}", {"argument": KEY})), say(KEY), say(KEY), say(KEY)],
    ],
    ids=["401", "400", "429", "500", "403", "200", "garbage", "hang", "drop", "refusal", "reason", "calls"],
)
async def test_the_key_is_nowhere(
    clients: Clients,
    server: LlmServer,
    story: Story,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    answers: list[Answer],
) -> None:
    server.script(*answers)
    with caplog.at_level(logging.DEBUG):
        for name in ("openai", "httpx", "httpcore", "httpx2", "httpcore2", "asyncio"):
            caplog.set_level(logging.DEBUG, name)
        client = clients(FileCache(tmp_path), timeout=_timeout(answers[0]))
        verdict = await Agent(client).attribute(story.graph, story.failure, story.evidence)
    assert {request.headers["Authorization"] for request in server.requests} <= {f"Bearer {KEY}"}
    assert server.left == 0 or answers[0] is HANG
    assert verdict.error_type is None
    assert verdict.reason
    stored = to_attribution(verdict, story.failure, Method.LLM, "inputs")
    assert KEY not in repr(verdict)
    assert KEY not in repr(stored)
    assert len(caplog.records) > 0
    assert KEY not in caplog.text
    assert KEY not in "".join(repr(vars(record)) for record in caplog.records)
    assert KEY not in "".join(capfd.readouterr())
    assert KEY.encode() not in b"".join(_contents(tmp_path))


@pytest.mark.parametrize(
    "answer", [fail(401, KEY), GARBAGE, HANG, DROP, fail(503, KEY)], ids=["401", "garbage", "hang", "drop", "503"]
)
async def test_an_error_leads_to_no_request(clients: Clients, server: LlmServer, answer: Answer) -> None:
    """Handlers that print the variables of a traceback must not find a request with its headers."""
    server.script(answer)
    client = clients(retries=0, timeout=_timeout(answer))
    with pytest.raises(LlmError) as caught:
        await client.complete(Conversation("system", "user"), client.case_budget())
    error: BaseException | None = caught.value
    assert error is not None
    assert error.__cause__ is None
    assert error.__context__ is None
    assert caught.tb.tb_next is not None
    # Without the frame of this test, which knows the key.
    shown = traceback.TracebackException(type(error), error, caught.tb.tb_next, capture_locals=True)
    assert KEY not in "".join(shown.format())
