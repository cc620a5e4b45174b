"""Texts that programs hand to models without saying what they are: users' words under any key, equal instructions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import recorded, tried
from tests.environments import params_of
from tests.sdk.instruments.running import Run, check_whole

TASTE = {"tipo": "gusto", "fatto": "La zia Berta beve soltanto orzo tostato"}
VISIT = {"tipo": "visita", "fatto": "Il falegname Ugo viene lunedì alle nove"}


def script(body: dict[str, Any]) -> str:
    said = str(body["messages"][-1]["content"])
    if said.startswith("Fatti in JSON"):
        return json.dumps([TASTE if "Berta" in said else VISIT], ensure_ascii=False)
    replies = {"Che": "Beve tè.", "Qua": "Non si sa.", "Wha": "The mower.", "On ": "On shelf 9."}
    return replies[said[:3]]


@pytest.fixture(params=params_of("langchain"))
def italian(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    return recorded("input_in_italian.py", request.param, script, tmp_path)


async def test_what_a_user_says_under_any_key_is_a_message(italian: Run, tmp_path: Path) -> None:
    check_whole(italian)
    messages = [one["value"] for one in italian.variables("Message")]
    assert messages[:2] == ["La zia Berta beve soltanto orzo tostato.", "Il falegname Ugo viene lunedì alle nove."]
    (unit,) = [one for one in italian.variables("MemoryUnit") if TASTE["fatto"] in str(one["value"])][:1]
    # A model of embeddings got the text first: the unit comes from the reply all the same.
    assert messages[0] in [one["value"] for one in italian.closure(unit)]
    wrong = await tried(italian, tmp_path, "Beve tè.", "orzo tostato")
    assert wrong.said == ("ResponseError", "Generation", "ChatOpenAI")


async def test_a_reply_that_was_not_stored_as_others_were(italian: Run, tmp_path: Path) -> None:
    found = await tried(italian, tmp_path, "Non si sa.", "lunedì alle nove")
    assert found.said == ("UpdateError", "Generation", "ChatOpenAI")
    assert "lost between the reply and the store, as it was of other replies" in found.verdict.reason
    assert found.verdict.confidence < 0.9


@pytest.mark.parametrize("environment", params_of("langchain"))
async def test_equal_instructions_of_two_questions_are_two_prompts(environment: str, tmp_path: Path) -> None:
    run = recorded("equal_instructions.py", environment, script, tmp_path)
    check_whole(run)
    assert run.said == ["The mower.", "On shelf 9."]
    for reply, question in zip(run.said, ("What stands", "On which"), strict=True):
        (answer,) = [one for one in run.variables() if one["value"] == reply]
        past = run.closure(answer)
        (asked,) = [one["value"] for one in past if one["kind"] == "Query"]
        assert asked.startswith(question)
    found = await tried(run, tmp_path, "On shelf 9.", "shelf 6")
    assert found.said == ("ResponseError", "Generation", "openai chat")


def reads_letters(body: dict[str, Any]) -> str | dict[str, Any]:
    said = str(body["messages"][-1]["content"])
    if body["messages"][0]["content"] == "Read the letter.":
        sale = {"sender": "Hector Gunn", "matter": "entry for the ram sale", "due": "3rd of August"}
        card = sale if "ram" in said else {"sender": "Iona Tait", "matter": "can shear nineteen ewes"}
        called = {"name": "Card", "arguments": json.dumps(card)}
        return {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": called}]}
    return "The cards give no date." if said.startswith("By when") else "Nineteen ewes."


@pytest.mark.parametrize("environment", params_of("langchain"))
async def test_each_of_several_texts_is_a_message(environment: str, tmp_path: Path) -> None:
    run = recorded("letters.py", environment, reads_letters, tmp_path)
    check_whole(run)
    assert [one["value"][:9] for one in run.variables("Message")] == ["The ram s", "I can she"]
    # A question that mentions a known name is a question all the same.
    asked = {one["value"][:7] for one in run.variables("Query")}
    assert asked == {"By when", "How man"}
    dropped = await tried(run, tmp_path, "The cards give no date.", "by the 3rd of August")
    assert dropped.said[0] == "UpdateError"
    misread = await tried(run, tmp_path, "Nineteen ewes.", "ninety ewes")
    assert misread.said == ("ExtractionError", "Generation", "ChatOpenAI")
