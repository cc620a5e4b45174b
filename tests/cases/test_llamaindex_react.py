"""LlamaIndex: an agent whose replies are thoughts, actions and answers in one text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import recorded, tried
from tests.sdk.instruments.running import Run, check_whole

TURNS = {
    "How wide is the weir?": ("width of the weir", "It is 9 metres wide.", "The weir is 9 metres wide."),
    "Who mows the bank?": ("mowing of the bank", "Signe mows it.", "Torben mows the bank."),
    "Where is the spare oar?": ("place of the spare oar", "That is unknown.", "The book does not tell where it is."),
}
"""What the agent looks for, what the engine replies, and the agent's answer."""


def script(body: dict[str, Any]) -> str:
    last = str(body["messages"][-1]["content"])
    if "Context information is below" in last:
        return next(reply for sought, reply, _ in TURNS.values() if sought in last)
    asked = [str(one["content"]) for one in body["messages"] if one["role"] == "user"]
    sought, _, answer = next(TURNS[one] for one in reversed(asked) if one in TURNS)
    if last.startswith("Observation"):
        return f"Thought: I can answer without using any more tools.\nAnswer: {answer}"
    return f"Thought: I need the book.\nAction: book\nAction Input: {json.dumps({'input': sought})}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("llamaindex_react.py", "langchain", script, tmp_path_factory.mktemp("react"))


def test_each_turn_has_an_answer_without_the_thoughts(run: Run) -> None:
    check_whole(run)
    answers = [one["value"] for one in run.variables() if one["kind"] == "Answer"]
    assert answers == run.said == [answer for _, _, answer in TURNS.values()]
    assert len({event["trace"] for event in run.events}) == 1


@pytest.mark.parametrize(
    ("turn", "gold", "wanted"),
    [
        (0, "6 metres", ("ResponseError", "Generation", "openai_llm")),
        (1, "Signe", ("ResponseError", "Generation", "openai_llm")),
        (2, "in the barn", ("RetrievalError", "Retrieval", "VectorIndexRetriever")),
    ],
)
async def test_the_step_at_fault_is_named(
    run: Run, tmp_path: Path, turn: int, gold: str, wanted: tuple[str, str, str]
) -> None:
    question, (_, reply, answer) = list(TURNS.items())[turn]
    found = await tried(run, tmp_path, answer, gold)
    assert found.said == wanted
    assert found.question == question
    steps = [step.quote for step in found.verdict.path if step.holds]
    assert (reply in steps) is (turn == 1)
