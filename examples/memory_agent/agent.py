"""The agent: a store of memory units, and the steps that fill, search and read it.

The agent has no code for tracing. Each step returns its inputs and results, for a recorder.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template

from . import models
from .conversation import Message
from .models import Action
from .words import shared

SIMILAR = 5
TOP_K = 3


@dataclass(frozen=True)
class Unit:
    """One version of a memory unit; ``memory`` begins with the name of who said it."""

    id: str
    memory: str
    timestamp: str

    def shares(self, text: str) -> int:
        """Returns how many content words the unit shares with a text."""
        return shared(text, models.without_name(self.memory))


@dataclass(frozen=True)
class Change:
    """What an action did to the store: ADD has no ``before``, DELETE no ``after``."""

    before: Unit | None
    after: Unit | None


@dataclass(frozen=True)
class Remembered:
    """All steps of taking in one message; without facts there is no instruction and no decision."""

    extraction_reply: str
    extraction: str
    facts: list[str]
    similar: int
    instruction: str
    decision_reply: str
    decision: str
    actions: list[Action]
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Answered:
    """The context that was read for a question, and the answer."""

    context: str
    prediction: str


class MemoryAgent:
    """Remembers what a person says, and answers from it."""

    def __init__(self) -> None:
        self._units: dict[str, Unit] = {}
        self._made = 0

    def remember(self, message: Message) -> Remembered:
        """Extracts the facts of a message and brings the store up to date."""
        extraction_reply = models.extract(message)
        extraction = models.remove_code_fence(extraction_reply)
        facts: list[str] = json.loads(extraction)["facts"]
        if not facts:
            return Remembered(extraction_reply, extraction, facts, 0, "", "", "", [], ())
        similar = self._similar(facts)
        instruction = Template(models.UPDATE_PROMPT).substitute(
            memories="\n".join(f"{unit.id}: {unit.memory}" for unit in similar) or "(none)",
            facts="\n".join(facts),
        )
        decision_reply = models.decide(facts, [(unit.id, unit.memory) for unit in similar])
        decision = models.remove_code_fence(decision_reply)
        actions: list[Action] = json.loads(decision)["memory"]
        changes = tuple(self._apply(action, message) for action in actions if action["event"] != "NONE")
        return Remembered(
            extraction_reply,
            extraction,
            facts,
            len(similar),
            instruction,
            decision_reply,
            decision,
            actions,
            changes,
        )

    def search(self, question: str) -> list[tuple[Unit, int]]:
        """Returns the ``TOP_K`` units that share most words with the question, each with their number.

        Weakness: the score is a count of equal words, and only ``TOP_K`` units are returned; see ``words``.
        """
        return [(unit, unit.shares(question)) for unit in self._ranked(question)[:TOP_K]]

    def answer(self, question: str, units: Sequence[Unit]) -> Answered:
        """Answers a question from the units that were retrieved for it."""
        context = "\n".join(
            f"Memory {number} ({unit.timestamp}): {unit.memory}" for number, unit in enumerate(units, 1)
        )
        return Answered(context, models.answer(question, context))

    def _similar(self, facts: Sequence[str]) -> list[Unit]:
        found: dict[str, Unit] = {}
        for fact in facts:
            said = models.without_name(fact)
            found |= {unit.id: unit for unit in self._ranked(said)[:SIMILAR] if unit.shares(said)}
        return list(found.values())

    def _ranked(self, text: str) -> list[Unit]:
        """Returns all units, most shared words first and the newest first among equals."""
        newest_first = sorted(self._units.values(), key=lambda unit: (unit.timestamp, unit.id), reverse=True)
        return sorted(newest_first, key=lambda unit: -unit.shares(text))

    def _apply(self, action: Action, message: Message) -> Change:
        if action["event"] == "DELETE":
            return Change(self._units.pop(action["id"]), None)
        if action["event"] == "UPDATE":
            before = self._units[action["id"]]
            after = Unit(before.id, action["text"], message.timestamp)
        else:
            self._made += 1
            before = None
            after = Unit(f"{self._made:02d}", action["text"], message.timestamp)
        self._units[after.id] = after
        return Change(before, after)
