"""A memory agent with several prompts (one prompt forgets facts), its scripted model, and reflecting models."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from examples.better_prompts.conversations import lines
from tests.llm_server import Answer, Request, say
from tests.optimization.harness.programs import FactsAgent

PROMPTS = {
    "decoy": "DECOY. Say the greeting of the user {user}.",
    "extraction": "EXTRACT the facts about pets of the message as a JSON list.",
    "other": "OTHER. Nothing to see here.",
    "answer": "ANSWER the question from the notes.",
}
GOOD = "EXTRACT all facts of the message, allergies and places as well, as a JSON list."


class Agent(FactsAgent):
    """Has four prompts: two have no effect, one extracts, one answers."""

    own = PROMPTS


_WANTED = {"called": r"called (\w+)", "move": r"moved to (\w+)"}


def model(request: Request) -> Answer:
    """The program's model: keeps the kinds of facts that the prompt names, and answers from the notes."""
    task, _, rest = request.last.partition("\n---\n")
    if task.startswith("EXTRACT"):
        keeps = "pets" in task and "called" in rest
        return say(json.dumps([rest] if keeps or "all facts" in task else []))
    notes, _, question = rest.partition("\nQuestion: ")
    for word, pattern in _WANTED.items():
        found = re.search(pattern, notes) if word in question else None
        if found is not None:
            return say(found[1])
    return say("I do not know.")


def reflecting(request: Request) -> Answer:
    """A reflecting model that improves the extraction prompt, and changes other prompts without effect."""
    current = re.search(r"```\n(.*?)\n```", request.last, re.DOTALL)
    assert current is not None
    text = current[1]
    better = GOOD if text.startswith("EXTRACT") else f"{text} Be careful."
    return say(f"```\n{better}\n```")


def by_heart(request: Request) -> Answer:
    """A reflecting model that writes the gold answers into the prompt."""
    current = re.search(r"```\n(.*?)\n```", request.last, re.DOTALL)
    assert current is not None
    said = re.findall(r"moved to (\w+)", request.last)
    return say(f"```\n{GOOD} Such as {', '.join(dict.fromkeys(said))}.\n```" if said else f"```\n{GOOD}\n```")


def dropping(request: Request) -> Answer:
    """A reflecting model that drops the prompt's placeholders."""
    return say("```\nEXTRACT all facts of the message {message}, as a JSON list.\n```")


def both(reflect: Callable[[Request], Answer]) -> Callable[[Request], Answer]:
    """One server for both: the reflecting model is named in the request."""

    def answer(request: Request) -> Answer:
        return reflect(request) if request.body["model"] == "reflecting" else model(request)

    return answer


def cases(number: int) -> list[dict[str, Any]]:
    """Conversations of ``number`` people; each person states two facts and is asked for both."""
    return lines()[:number]
