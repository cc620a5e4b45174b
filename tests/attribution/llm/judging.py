"""A scripted model that makes small judgements: it knows the controls, and a test says what it makes of the rest."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from attribution.llm.walk.asking import DROPPED, HOLDS, KINDS, SAME, SUPPORTS, controls, prompt
from attribution.llm.walk.reliability import Reliability
from attribution.llm.walk.walk import Known
from tests.llm_server import Answer, Request, give


def knowing(reliability: Reliability) -> Known:
    """What is known of a model's judgements, without controls."""

    async def known(_kind: str) -> Reliability:
        return reliability

    return known


Said = Callable[[str, dict[str, Any]], dict[str, Any] | Answer]
"""The reply to a judgement, by its kind and data."""


def kind_of(request: Request) -> str | None:
    """The kind of a judgement; None for another request."""
    system = request.messages[0]["content"]
    return next((kind for kind in KINDS if system.startswith(prompt(kind))), None)


def data_of(request: Request) -> dict[str, Any]:
    """The data of a judgement."""
    text = request.messages[1]["content"]
    document: dict[str, Any] = json.loads(text.partition("<data>")[2].partition("</data>")[0])
    return document


def right_reply(kind: str, data: dict[str, Any]) -> dict[str, Any] | None:
    """The right reply to a control; None for another judgement."""
    for one in json.loads(controls())[kind]:
        if one["question"] != data["question"]:
            continue
        right = data.get("right_answers") or data.get("expected_answers")
        if one["right"] != right:
            continue
        if kind == SAME and one["answer"] == data["answer"]:
            return {"quote": one["answer"].split()[0], "same": one["same"]}
        if kind == HOLDS and one["texts"] == [text["text"] for text in data["texts"]]:
            number = (one["holds"] or [1])[0]
            return {"number": number, "quote": one["texts"][number - 1], "holds": bool(one["holds"])}
        if kind == SUPPORTS and one["messages"] == data["messages"]:
            return {"quote": one["messages"][0], "supports": one["supports"]}
        if kind == DROPPED and [step["given"] for step in one["steps"]] == [step["given"] for step in data["steps"]]:
            return {"quote": one["steps"][one["step"] - 1]["given"], "step": one["step"]}
    return None


def judging(said: Said, *, guesses: bool = False) -> Callable[[Request], Answer]:
    """A script of a model.

    Args:
        said: replies to judgements that are no controls.
        guesses: whether the model says yes to all controls, and always names the first step or text.
    """

    def script(request: Request) -> Answer:
        kind, data = kind_of(request), data_of(request)
        assert kind is not None, "no judgement"
        known = right_reply(kind, data)
        if known is not None and guesses:
            known |= {name: True for name in ("same", "holds", "supports") if name in known}
            if kind == HOLDS:
                known |= {"number": 1, "quote": data["texts"][0]["text"]}
            if kind == DROPPED:
                known |= {"step": 1, "quote": data["steps"][0]["given"]}
        found = said(kind, data) if known is None else known
        return found if isinstance(found, Answer) else give(found)

    return script
