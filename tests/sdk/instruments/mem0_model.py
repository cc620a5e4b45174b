"""What the scripted model says to mem0's prompts, of 1.x and 2.x, and to the application's question."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

FACTS = {
    "I have a dog called Bo": "Has a dog called Bo",
    "I live in Berlin": "Lives in Berlin",
    "I moved to Paris": "Lives in Paris now",
    "Bo died": "The dog Bo died",
    "I drink green tea": "Likes to drink green tea",
    "I said it before": "Likes to drink green tea",
}
"""What is extracted from a message that contains a sentence."""

Decision = Callable[[str, list[dict[str, str]]], list[dict[str, str]]]


def model(
    *,
    facts: Mapping[str, str] | None = None,
    decide: Decision | None = None,
    answer: Callable[[str], str] | None = None,
) -> Callable[[dict[str, Any]], str | int]:
    """A model.

    Args:
        facts: the extracted facts by message, in place of ``FACTS``.
        decide: what 1.x does with a fact and the units that were shown.
        answer: makes the reply to the application's prompt.
    """
    known = FACTS if facts is None else facts

    def said(body: dict[str, Any]) -> str | int:
        messages = body["messages"]
        prompt = str(messages[-1]["content"])
        if "fail here" in prompt:
            return 400
        if "## New Messages" in prompt:
            return json.dumps({"memory": _additive(prompt, known)})
        if "The new retrieved facts are mentioned" in prompt:
            return json.dumps({"memory": _decisions(prompt, decide or usual)})
        if prompt.startswith("Input:"):
            return json.dumps({"facts": [fact for words, fact in known.items() if words in prompt]})
        return (answer or usual_answer)(prompt)

    return said


def usual(fact: str, units: list[dict[str, str]]) -> list[dict[str, str]]:
    """Update what the fact contradicts, delete what it ends, and add the rest."""
    if "Paris" in fact:
        for unit in units:
            if "Berlin" in unit["text"]:
                return [
                    {
                        **unit,
                        "text": "Lives in Paris, and before that in Berlin",
                        "event": "UPDATE",
                        "old_memory": unit["text"],
                    }
                ]
    if "died" in fact:
        return [{**unit, "event": "DELETE"} for unit in units if "dog" in unit["text"]]
    same = [unit for unit in units if unit["text"] == fact]
    if same:  # nothing to do; and a unit that does not exist
        return [{**same[0], "event": "NONE"}, {"id": "99", "text": "It never was there", "event": "UPDATE"}]
    return [{"id": str(len(units)), "text": fact, "event": "ADD"}]


def usual_answer(prompt: str) -> str:
    """What the memories in the prompt say about the question."""
    lines = [line for line in prompt.splitlines() if line.startswith("- ")]
    if "live" in prompt:
        return next((line[2:] for line in lines if "Lives" in line), "I do not know where.")
    return next((line[2:] for line in lines if "tea" in line), "I do not know that.")


def _additive(prompt: str, known: Mapping[str, str]) -> list[dict[str, Any]]:
    new = prompt.split("## New Messages", 1)[1].split("## Observation Date", 1)[0]
    found = [fact for words, fact in known.items() if words in new]
    return [{"id": str(number), "text": fact, "attributed_to": "user"} for number, fact in enumerate(found)]


def _decisions(prompt: str, decide: Decision) -> list[dict[str, str]]:
    blocks = re.findall(r"```\n\s*(.*?)\n\s*```", prompt.split("JSON structure only", 1)[0], re.DOTALL)
    facts = ast.literal_eval(blocks[-1].strip())
    is_empty = "Current memory is empty." in prompt
    units = [] if is_empty else ast.literal_eval(blocks[-2].strip())
    return [decision for fact in facts for decision in decide(fact, units)]
