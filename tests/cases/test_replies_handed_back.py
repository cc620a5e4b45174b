"""A function that hands a model's reply back as it is: the reply derives from the argument inside the prompt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import recorded, tried
from tests.environments import params_of
from tests.sdk.instruments.running import check_whole

FACTS = {
    "Runa": ["the guest is Runa", "Runa has room 41", "nuts make Runa ill"],
    "bicycle": ["the guest has a bicycle"],
}


def script(body: dict[str, Any]) -> str:
    text = str(body["messages"][-1]["content"])
    if text.startswith("FACTS"):
        return json.dumps(next(facts for word, facts in FACTS.items() if word in text))
    return "Nothing does." if "ill?" in text else "I cannot tell."


@pytest.mark.parametrize("environment", params_of("langchain"))
async def test_the_step_after_the_reply_is_told_from_the_model(environment: str, tmp_path: Path) -> None:
    run = recorded("reply_handed_back.py", environment, script, tmp_path)
    check_whole(run)
    assert run.said == ["Nothing does.", "I cannot tell."]
    dropped = await tried(run, tmp_path, "Nothing does.", "nuts")
    assert dropped.said == ("UpdateError", "Update", "keep")
    never_written = await tried(run, tmp_path, "I cannot tell.", "yellow")
    assert never_written.said == ("ExtractionError", "Generation", "openai chat")
