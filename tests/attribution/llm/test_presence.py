"""The judge of presence: in batches, kept by content, and without false quotes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from attribution.llm.agent.presence import LlmPresence
from attribution.llm.transport.cache import FileCache
from attribution.needed.presence import PresenceAnswer, PresenceJudge, PresenceQuestion
from tests.attribution.llm.caches import MemoryCache
from tests.attribution.llm.conftest import Clients
from tests.llm_server import HANG, Answer, LlmServer, Request, fail, give, refuse, say

DETAIL = "When did Mara move? March 2025"
HELD = "Mara moved in March 2025."


def _asked(request: Request) -> list[dict[str, Any]]:
    text = request.messages[1]["content"]
    questions: list[dict[str, Any]] = json.loads(text.partition("<data>")[2].partition("</data>")[0])
    return questions


def judge_words(request: Request) -> Answer:
    """A model that looks for the month; it answers in no particular order."""
    judgements = []
    for question in _asked(request):
        there = "March 2025" in question["text"]
        quote = "March 2025" if there else ""
        judgements.append({"number": question["number"], "present": there, "quote": quote, "confidence": 0.9})
    return give({"judgements": judgements[::-1]})


def _questions(*texts: str) -> list[PresenceQuestion]:
    return [PresenceQuestion(DETAIL, text, f"variable-{number}") for number, text in enumerate(texts)]


def _judge(clients: Clients, cache: MemoryCache | FileCache | None = None, **settings: Any) -> LlmPresence:
    client = clients(cache, **settings)
    return LlmPresence(client, client.case_budget())


async def test_an_answer_for_each_question_in_order(clients: Clients, server: LlmServer) -> None:
    server.script(judge_words)
    judge: PresenceJudge = _judge(clients)
    there, absent = PresenceAnswer(True, "March 2025", 0.9), PresenceAnswer(False, "", 0.9)
    assert await judge.judge(_questions(HELD, "Mara moved.", HELD)) == [there, absent, there]
    # Equal questions are asked once.
    assert [question["text"] for question in _asked(server.requests[0])] == [HELD, "Mara moved."]


async def test_questions_go_in_batches(clients: Clients, server: LlmServer) -> None:
    server.script(judge_words, repeat=True)
    answers = await _judge(clients).judge(_questions(*[f"{n}. {HELD}" for n in range(20)]))
    assert all(answer is not None and answer.present for answer in answers)
    assert [len(_asked(request)) for request in server.requests] == [8, 8, 4]


async def test_long_texts_are_judged_part_by_part(clients: Clients, server: LlmServer) -> None:
    server.script(judge_words, repeat=True)
    filler = "Nothing of that. " * 4_000
    for text, expected in [
        (filler + HELD, True),
        (HELD + filler, True),
        (filler + HELD + filler, True),
        (filler, False),
    ]:
        (answer,) = await _judge(clients).judge(_questions(text))
        assert answer is not None
        assert answer.present is expected
    parts = [question["text"] for request in server.requests for question in _asked(request)]
    assert max(map(len, parts)) <= 16_000
    assert max(len(request.messages[1]["content"]) for request in server.requests) < 40_000


async def test_no_detail_falls_between_two_parts(clients: Clients, server: LlmServer) -> None:
    server.script(judge_words, repeat=True)
    judge = _judge(clients, context_tokens=2_000, max_calls=None, max_tokens=None)
    for offset in range(1_986, 2_006, 2):
        (answer,) = await judge.judge(_questions("." * offset + "March 2025" + "." * 2_000))
        assert answer is not None
        assert answer.present


async def test_a_small_context_gets_small_batches(clients: Clients, server: LlmServer) -> None:
    server.script(judge_words, repeat=True)
    await _judge(clients, context_tokens=4_000).judge(_questions(*[f"{n} {'filler ' * 300}" for n in range(6)]))
    assert max(len(request.messages[1]["content"]) for request in server.requests) < 8_000


@pytest.mark.parametrize(
    "judgement",
    [
        {"number": 0, "present": True, "quote": "April 2025", "confidence": 0.9},
        {"number": 0, "present": True, "quote": "", "confidence": 0.9},
        {"number": 7, "present": True, "quote": "March 2025", "confidence": 0.9},
    ],
    ids=["false quote", "no quote", "another number"],
)
async def test_what_can_not_be_verified_is_undecided(
    clients: Clients, server: LlmServer, judgement: dict[str, Any]
) -> None:
    server.script(give({"judgements": [judgement]}))
    assert await _judge(clients).judge(_questions(HELD)) == [None]


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([refuse("no")], "refused"),
        ([say("yes"), say("yes!")], "not valid"),
        ([fail(400, "no")] * 3, "400"),
        ([fail(500, "broken")] * 3, "500: broken"),
        ([HANG] * 3, "did not answer"),
    ],
    ids=["refusal", "nonsense", "400", "500", "hang"],
)
async def test_without_a_reply_it_is_undecided_and_says_why(
    clients: Clients, server: LlmServer, answers: list[Answer], reason: str
) -> None:
    server.script(*answers)
    judge = _judge(clients, timeout=0.2 if answers[0] is HANG else 20)
    assert await judge.judge(_questions(HELD, "Mara moved.")) == [None, None]
    assert len(judge.problems) == 1
    assert reason in judge.problems[0]


async def test_a_batch_without_a_reply_does_not_stop_the_next(clients: Clients, server: LlmServer) -> None:
    server.script(refuse("no"), judge_words)
    answers = await _judge(clients).judge(_questions(*[f"{n}. {HELD}" for n in range(10)]))
    assert [answer is None for answer in answers] == [True] * 8 + [False] * 2


async def test_a_server_that_is_away_is_not_asked_again(clients: Clients, server: LlmServer) -> None:
    server.script(fail(401, "no"))
    judge = _judge(clients)
    assert await judge.judge(_questions(*[f"{n}. {HELD}" for n in range(20)])) == [None] * 20
    assert await judge.judge(_questions("another")) == [None]
    assert len(server.requests) == 1


async def test_the_budget_holds(clients: Clients, server: LlmServer) -> None:
    server.script(judge_words, repeat=True)
    client = clients(max_calls=2)
    budget = client.case_budget()
    judge = LlmPresence(client, budget)
    answers = await judge.judge(_questions(*[f"{n}. {HELD}" for n in range(24)]))
    assert [answer is None for answer in answers] == [False] * 16 + [True] * 8
    assert budget.spent.calls == 2
    assert "2 of 2 calls" in judge.problems[0]


async def test_answers_are_kept_by_content(clients: Clients, server: LlmServer, tmp_path: Path) -> None:
    server.script(judge_words, repeat=True)
    first = await _judge(clients, FileCache(tmp_path)).judge(_questions(HELD, "Mara moved."))
    again = await _judge(clients, FileCache(tmp_path)).judge(_questions("Mara moved.", "York", HELD))
    assert [again[2], again[0]] == first
    assert [question["text"] for question in _asked(server.requests[1])] == ["York"]
    await _judge(clients, FileCache(tmp_path), model="another").judge(_questions(HELD))
    assert len(server.requests) == 3


async def test_a_killed_run_does_not_pay_twice(clients: Clients, server: LlmServer) -> None:
    cache = MemoryCache()
    questions = _questions(*[f"{n}. {HELD}" for n in range(16)])
    server.script(judge_words, HANG)
    killed = asyncio.create_task(_judge(clients, cache).judge(questions))
    assert await asyncio.to_thread(server.hanging.wait, 30)
    killed.cancel()
    with pytest.raises(asyncio.CancelledError):
        await killed
    server.script(judge_words)
    # The reversed order makes different batches.
    answers = await _judge(clients, cache).judge(questions[::-1])
    assert None not in answers
    assert sorted(question["text"] for question in _asked(server.requests[2])) == sorted(q.text for q in questions[8:])


async def test_no_questions_no_request(clients: Clients, server: LlmServer) -> None:
    assert await _judge(clients).judge([]) == []
    assert server.requests == []


async def test_an_empty_text_is_a_text(clients: Clients, server: LlmServer) -> None:
    server.script(judge_words)
    assert await _judge(clients).judge(_questions("")) == [PresenceAnswer(False, "", 0.9)]
