"""What a user says is a Message and the question of the answer: under the key of a question, and before translation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import recorded, tried
from tests.environments import params_of
from tests.sdk.instruments.running import Run, check_whole


def script(body: dict[str, Any]) -> str:
    last = str(body["messages"][-1]["content"])
    replies = {
        "Translate to English": "When does the last ferry leave?",
        "When does the last": "It leaves at 19:45.",
        "Translate to Italian": "Parte alle 7:45.",
        "Who brings": "Maarit.",
    }
    return next((reply for words, reply in replies.items() if last.startswith(words)), "Okay!")


@pytest.fixture(scope="module", params=params_of("langchain", "langchain-0.3"))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("message_history.py", request.param, script, tmp_path_factory.mktemp("history"))


def test_what_reaches_a_history_is_a_message(run: Run) -> None:
    check_whole(run)
    messages = [one["value"] for one in run.variables("Message")]
    assert messages[:2] == ["Aino brings the pots.", "Who brings the pots?"]


@pytest.mark.parametrize(
    ("answer", "question"),
    [("Maarit.", "Who brings the pots?"), ("Parte alle 7:45.", "A che ora parte l'ultimo traghetto?")],
)
async def test_what_the_user_asked_is_the_question(run: Run, answer: str, question: str, tmp_path: Path) -> None:
    assert (await tried(run, tmp_path, answer, "19:45")).question == question
