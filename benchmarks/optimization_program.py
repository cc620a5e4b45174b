"""Memory agents with several prompts of which one is at fault, and the model behind them; ``FAULT`` says which."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import memtrace
from memtrace.program import Message
from memtrace.program.adapters.chat import Chat

FAULTS: dict[str, tuple[str, ...]] = {
    "extraction, 3 prompts": ("answer", "extraction", "rewrite"),
    "extraction, 6 prompts": ("answer", "decoy-1", "decoy-2", "decoy-3", "extraction", "rewrite"),
    "rewrite, 5 prompts": ("answer", "decoy-1", "decoy-2", "extraction", "rewrite"),
    "answer, 4 prompts": ("decoy-1", "extraction", "rewrite", "answer"),
}
"""The prompts of each program, by what is at fault."""

_TASKS = {
    "extraction": "EXTRACT the facts of the message as a JSON list.",
    "rewrite": "REWRITE the fact in words of your own.",
    "answer": "ANSWER the question from the notes.",
}
_NARROW = {
    "extraction": "EXTRACT the facts about pets of the message as a JSON list.",
    "rewrite": "REWRITE the fact about pets in words of your own.",
    "answer": "ANSWER the question about pets from the notes.",
}


def prompts_of(fault: str) -> dict[str, str]:
    """The prompts of a program; the one at fault is too narrow."""
    at_fault = fault.partition(",")[0]
    return {
        name: _NARROW[name] if name == at_fault else _TASKS.get(name, f"DECOY {name}: be kind.")
        for name in FAULTS[fault]
    }


class Agent:
    """Extracts, rewrites, keeps, and answers."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        self._prompts = {**prompts_of(os.environ["FAULT"]), **prompts}
        self._chat = Chat()
        self._units: list[str] = []

    def prompts(self) -> dict[str, str]:
        """All of them."""
        return self._prompts

    def add(self, messages: Sequence[Message]) -> None:
        """Extract facts, and keep each in other words."""
        for message in messages:
            for fact in self.extract(self._prompts["extraction"], message.text):
                self._units.append(self.rewrite(self._prompts["rewrite"], fact))

    def answer(self, question: str) -> str:
        """Answer from all units."""
        return self.generate(self._prompts["answer"], question, self.search(question))

    @memtrace.operation(
        kind="Extraction", inputs={"prompt": "Prompt", "message": "Message"}, output="Response", each=True
    )
    def extract(self, prompt: str, message: str) -> list[str]:
        """Ask the model for facts."""
        facts: list[str] = json.loads(self._chat.reply(f"{prompt}\n---\n{message}"))
        return facts

    @memtrace.operation(kind="Update", inputs={"prompt": "Prompt", "fact": "Response"}, output="MemoryUnit")
    def rewrite(self, prompt: str, fact: str) -> str:
        """Ask the model for a unit."""
        return self._chat.reply(f"{prompt}\n---\n{fact}")

    @memtrace.operation(kind="Retrieval")
    def search(self, question: str) -> list[str]:
        """Everything."""
        memtrace.retrieved(question, self._units, self._units)
        return list(self._units)

    @memtrace.operation(
        kind="Generation", inputs={"prompt": "Prompt", "question": "Query", "notes": "Other"}, output="Answer"
    )
    def generate(self, prompt: str, question: str, notes: list[str]) -> str:
        """Ask the model for an answer."""
        return self._chat.reply(f"{prompt}\n---\n" + "\n".join(notes) + f"\nQuestion: {question}")


def reply(prompt: str) -> str:
    """The reply of the agents' model, which follows the prompt literally."""
    task, _, rest = prompt.partition("\n---\n")
    cares = "about pets" not in task or "dog" in rest.rpartition("Question:")[2]
    if task.startswith("EXTRACT"):
        return json.dumps([rest] if cares else [])
    if task.startswith("REWRITE"):
        return f"It was said: {rest}" if cares else "Something was said."
    notes, _, question = rest.partition("\nQuestion: ")
    for word, pattern in (("called", r"called (\w+)"), ("move", r"moved to (\w+)")):
        found = re.search(pattern, notes) if word in question and cares else None
        if found is not None:
            return found[1]
    return "I do not know."


def improved(prompt: str) -> str:
    """What the reflecting model says: it widens a prompt that is too narrow, and changes nothing of use in others."""
    current = prompt.split("```")[1].strip()
    better = current.replace(" about pets", "")
    return f"```\n{better if better != current else f'{current} Be careful.'}\n```"
