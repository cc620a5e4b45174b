"""Small judgements: their form, the check of quotes, their limits, and replies of any form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attribution.llm.transport.dialect import Format
from attribution.llm.walk.asking import KINDS, REPLY_TOKENS, Allowance, Asker, Fact, Opinion, StepShown, prompt
from tests.attribution.llm.caches import MemoryCache
from tests.attribution.llm.conftest import Clients
from tests.attribution.llm.judging import data_of, kind_of
from tests.attribution.llm.story import INJECTION
from tests.llm_server import DROP, Answer, LlmServer, fail, give, refuse, say

QUESTION, RIGHT, ANSWER = "When did Mara move?", ["March 2025"], "She moved in the spring of 2025."
FACT = Fact(QUESTION, RIGHT, "I moved to Leeds in March 2025.")
TEXTS = ["Mara lives in Leeds.", "Mara came to Leeds in March 2025."]
STEPS = [StepShown("extract", "I moved in March 2025.", "Mara moved."), StepShown("answer", "Mara moved.", "In May.")]


def _asker(clients: Clients, allowance: Allowance | None = None, **settings: Any) -> Asker:
    client = clients(MemoryCache(), **settings)
    return Asker(client, client.case_budget(), allowance)


async def test_whether_an_answer_says_the_same(clients: Clients, server: LlmServer) -> None:
    server.script(give({"quote": "spring of 2025", "same": True}))
    asker = _asker(clients)
    assert await asker.same(QUESTION, RIGHT, ANSWER) == Opinion(True, "spring of 2025")
    assert data_of(server.requests[0]) == {"question": QUESTION, "right_answers": RIGHT, "answer": ANSWER}
    # The same judgement is cached by its content.
    assert await asker.same(QUESTION, RIGHT, ANSWER) == Opinion(True, "spring of 2025")
    assert len(server.requests) == 1


async def test_which_text_holds_a_fact(clients: Clients, server: LlmServer) -> None:
    server.script(give({"number": 2, "quote": "in March  2025", "holds": True}))
    assert await _asker(clients).holds(FACT, TEXTS) == (1, Opinion(True, "in March 2025"))
    texts = [{"number": 1, "text": TEXTS[0]}, {"number": 2, "text": TEXTS[1]}]
    assert data_of(server.requests[0]) == {"question": QUESTION, "right_answers": RIGHT, "texts": texts}


async def test_no_text_holds_a_fact(clients: Clients, server: LlmServer) -> None:
    server.script(give({"number": 1, "quote": "", "holds": False}))
    assert await _asker(clients).holds(Fact(QUESTION, [], FACT.said), TEXTS) == (0, Opinion(False))
    assert data_of(server.requests[0])["fact"] == FACT.said


async def test_whether_messages_support_a_gold_answer(clients: Clients, server: LlmServer) -> None:
    server.script(give({"quote": "Mara came to Leeds", "supports": True}), give({"quote": "", "supports": False}))
    asker = _asker(clients)
    assert await asker.supports(QUESTION, RIGHT, TEXTS) == Opinion(True, "Mara came to Leeds")
    assert await asker.supports(QUESTION, ["May"], TEXTS) == Opinion(False)


async def test_which_step_dropped_a_fact(clients: Clients, server: LlmServer) -> None:
    server.script(give({"quote": "in March 2025", "step": 1}))
    assert await _asker(clients).dropped(FACT, STEPS) == 0


async def test_each_request_is_small_and_begins_with_what_stays_the_same(clients: Clients, server: LlmServer) -> None:
    server.script(
        give({"quote": "spring", "same": True}),
        give({"number": 1, "quote": "", "holds": False}),
        give({"quote": "", "supports": False}),
        give({"quote": "in March 2025", "step": 1}),
    )
    asker = _asker(clients)
    await asker.same(QUESTION, RIGHT, ANSWER)
    await asker.holds(FACT, TEXTS)
    await asker.supports(QUESTION, RIGHT, TEXTS)
    await asker.dropped(FACT, STEPS)
    assert [kind_of(request) for request in server.requests] == list(KINDS)
    for request, kind in zip(server.requests, KINDS, strict=True):
        assert request.body["max_tokens"] == REPLY_TOKENS == 60
        assert request.body["response_format"]["type"] == Format.SCHEMA
        assert request.messages[0]["content"] == prompt(kind)
        assert next(iter(data_of(request))) == "question"


@pytest.mark.parametrize(
    "reply",
    [
        {"number": 1, "quote": "in March 2025", "holds": True},  # it stands in the other text
        {"number": 2, "quote": "in May 2025", "holds": True},
        {"number": 2, "quote": "", "holds": True},
        {"number": 3, "quote": "Mara", "holds": True},
        {"number": 0, "quote": "Mara", "holds": True},
    ],
)
async def test_a_yes_without_a_quote_of_its_text_is_dropped(
    clients: Clients, server: LlmServer, reply: dict[str, Any]
) -> None:
    server.script(give(reply))
    assert await _asker(clients).holds(FACT, TEXTS) is None


async def test_quotes_are_checked_in_all_kinds(clients: Clients, server: LlmServer) -> None:
    server.script(
        give({"quote": "March 2025", "same": True}),
        give({"quote": "in May", "supports": True}),
        give({"quote": "in May", "step": 1}),
        give({"quote": "in March", "step": 3}),
    )
    asker = _asker(clients)
    assert await asker.same(QUESTION, RIGHT, ANSWER) is None
    assert await asker.supports(QUESTION, RIGHT, TEXTS) is None
    assert await asker.dropped(FACT, STEPS) is None
    assert await asker.dropped(FACT, STEPS[:1]) is None
    assert asker.problems == ["a quote does not stand in its text"]


@pytest.mark.parametrize(
    "answer",
    [
        say('```json\n{"quote": "spring", "same": true}\n```'),
        say('<think>Is it?</think>{"quote": "spring", "same": true}'),
        say('{"quote": "spring", "same": true, "why": "so"}'),
        say('Here it is: {"quote": "spring", "same": true}.'),
    ],
    ids=["block", "thoughts", "more", "words"],
)
async def test_replies_in_other_forms_are_understood(clients: Clients, server: LlmServer, answer: Answer) -> None:
    server.script(answer)
    assert await _asker(clients).same(QUESTION, RIGHT, ANSWER) == Opinion(True, "spring")


@pytest.mark.parametrize(
    "answer",
    [
        say("Yes, it does."),
        say(""),
        say("[1, 2]"),
        say('{"quote": 7, "same": "perhaps"}'),
        say("<think>Is it?"),
        say('{"quote": "spring spring spring spring', finish="length"),
        refuse("no"),
        Answer(b"{}"),
        fail(400, "the context length is exceeded"),
    ],
)
async def test_a_reply_of_no_use_is_no_judgement_and_the_next_is_asked(
    clients: Clients, server: LlmServer, answer: Answer
) -> None:
    server.script(answer, give({"quote": "spring", "same": True}))
    asker = _asker(clients, retries=0)
    assert await asker.same(QUESTION, RIGHT, ANSWER) is None
    assert len(asker.problems) == 1
    if not asker.gave_up:
        assert await asker.same("And when?", RIGHT, ANSWER) == Opinion(True, "spring")


@pytest.mark.parametrize("answer", [fail(401, "no"), fail(500, "no"), DROP], ids=["401", "500", "drop"])
async def test_a_server_that_fails_is_not_asked_again(clients: Clients, server: LlmServer, answer: Answer) -> None:
    server.script(answer, repeat=True)
    asker = _asker(clients, retries=0)
    assert await asker.same(QUESTION, RIGHT, ANSWER) is None
    assert await asker.same("And when?", RIGHT, ANSWER) is None
    assert asker.gave_up
    assert len(server.requests) == 1


async def test_a_server_without_schemas_is_asked_in_words(clients: Clients, server: LlmServer) -> None:
    server.script(
        fail(400, "response_format json_schema is not supported"),
        fail(400, "response_format is not supported"),
        say('{"quote": "spring", "same": true}'),
    )
    assert await _asker(clients).same(QUESTION, RIGHT, ANSWER) == Opinion(True, "spring")
    assert "response_format" not in server.requests[-1].body


async def test_judgements_end_at_the_limit_of_their_number(clients: Clients, server: LlmServer) -> None:
    server.script(give({"quote": "spring", "same": True}), repeat=True)
    allowance = Allowance(judgements=3)
    asker = _asker(clients, allowance)
    said = [await asker.same(f"{n}?", RIGHT, ANSWER) for n in range(5)]
    assert [one is not None for one in said] == [True, True, True, False, False]
    assert (len(server.requests), allowance.asked) == (3, 3)
    assert asker.problems == ["a failure's limit of judgements is reached"]


@pytest.mark.parametrize(("usage", "limits"), [((2_500, 10), "read"), ((100, 60), "replied")])
async def test_judgements_end_before_a_limit_of_tokens_is_passed(
    clients: Clients, server: LlmServer, usage: tuple[int, int], limits: str
) -> None:
    server.script(give({"quote": "spring", "same": True}, usage), repeat=True)
    allowance = Allowance(judgements=1_000)
    asker = _asker(clients, allowance)
    for number in range(40):
        await asker.same(f"{number}?", RIGHT, ANSWER * (100 if limits == "read" else 1))
    assert allowance.read <= 8_000
    assert allowance.replied <= 1_500
    assert len(server.requests) == {"read": 3, "replied": 25}[limits]


async def test_what_the_server_had_read_before_does_not_count(clients: Clients, server: LlmServer) -> None:
    body = json.loads(give({"quote": "spring", "same": True}, (2_500, 10)).body)
    body["usage"]["prompt_tokens_details"] = {"cached_tokens": 2_400}
    server.script(Answer(json.dumps(body).encode()), repeat=True)
    allowance = Allowance()
    asker = _asker(clients, allowance)
    for number in range(10):
        await asker.same(f"{number}?", RIGHT, ANSWER)
    assert (allowance.asked, allowance.read, allowance.replied) == (10, 1_000, 100)


async def test_the_budget_of_the_failure_holds(clients: Clients, server: LlmServer) -> None:
    server.script(give({"quote": "spring", "same": True}), repeat=True)
    asker = _asker(clients, max_calls=1)
    assert await asker.same(QUESTION, RIGHT, ANSWER) is not None
    assert await asker.same("And when?", RIGHT, ANSWER) is None
    assert "budget" in asker.problems[0]
    assert asker.gave_up


async def test_values_are_data(clients: Clients, server: LlmServer) -> None:
    server.script(give({"number": 1, "quote": "It is there", "holds": True}))
    # The text tells the model to say yes; the model's quote is not in the text.
    assert await _asker(clients).holds(Fact(INJECTION, [INJECTION], ""), [INJECTION]) is None
    content = server.requests[0].messages[1]["content"]
    assert content.count("<") == 2
    assert data_of(server.requests[0])["texts"][0]["text"] == INJECTION
