"""A model for live runs that makes mistakes by rules: it drops facts, overwrites units, and overlooks notes.

It is asked over HTTP, by mem0 1.x, LangChain and the buffer. Each rule depends on the words alone, so a run can be
repeated.
"""

from __future__ import annotations

import re
import zlib
from typing import Any

from benchmarks.proofs_conversations import PEOPLE, Fact
from tests.sdk.instruments.mem0_model import model

_UNKNOWN = "I do not know."
_DROPS, _OVERWRITES, _DELETES, _BLIND = 6, 7, 11, 9
"""One of this many texts is dropped, overwritten, deleted or overlooked."""
_SEEN_LINES = 7
"""The model reads this many last lines of a prompt well, and every second fact in earlier lines."""

_FACTS: dict[str, Fact] = {fact.question: fact for facts in PEOPLE.values() for fact in facts}


def reply(body: dict[str, Any]) -> str | int:
    """What the model says."""
    facts = {
        fact.said: fact.said
        for some in PEOPLE.values()
        for fact in some
        if not _is_chosen(fact.said, "dropped", _DROPS)
    }
    return model(facts=facts, decide=_decide, answer=_answer)(body)


def _decide(fact: str, units: list[dict[str, str]]) -> list[dict[str, str]]:
    """Mostly adds what is new; sometimes it takes it for a new version of something else, or deletes that."""
    if units and _is_chosen(fact, "overwrites", _OVERWRITES):
        return [{**units[0], "text": fact, "event": "UPDATE", "old_memory": units[0]["text"]}]
    added = {"id": str(len(units)), "text": fact, "event": "ADD"}
    if units and _is_chosen(fact, "deletes", _DELETES):
        return [added, {**units[0], "event": "DELETE"}]
    return [added]


def _answer(prompt: str) -> str:
    """Reads the notes for what stands before the answer; sometimes it overlooks it."""
    head, _, question = prompt.rpartition("Question: ")
    fact = _FACTS.get(question.strip())
    if fact is None or _is_chosen(question, "blind", _BLIND):
        return _UNKNOWN
    notes = [line for line in head.splitlines() if line.strip()]
    for place, line in enumerate(reversed(notes)):
        found = re.search(rf"{re.escape(fact.before)} (\w+)", line)
        if found and (place < _SEEN_LINES or not _is_chosen(question, "overlooked", 2)):
            return found[1]
    return _UNKNOWN


def _is_chosen(text: str, what: str, of: int) -> bool:
    return zlib.crc32(f"{what} {text.strip()}".encode()) % of == 0
