"""Programs for tests: a small memory agent that asks a model over HTTP, and programs that go wrong."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import ClassVar

import memtrace
from memtrace.program import Message
from memtrace.program.adapters.chat import Chat

EXTRACT = "EXTRACT the facts of the message as a JSON list of texts."
ANSWER = "ANSWER from the notes."


class FactsAgent:
    """Extracts facts with a model, retrieves facts by common words with the question, and lets the model answer."""

    own: ClassVar[Mapping[str, str]] = {"extraction": EXTRACT, "answer": ANSWER}

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        self._prompts = {**self.own, **prompts}
        self._chat = Chat()
        self._facts: list[str] = []
        (folder / "user").write_text(user, "utf-8")

    def prompts(self) -> dict[str, str]:
        return self._prompts

    def add(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._facts += self._extract(self._prompts["extraction"], message.text)

    @memtrace.operation("extract", kind="Extraction", inputs={"prompt": "Prompt", "message": "Message"},
                        output="MemoryUnit", each=True)  # fmt: skip
    def _extract(self, prompt: str, message: str) -> list[str]:
        facts: list[str] = json.loads(self._chat.reply(f"{prompt}\n---\n{message}"))
        return facts

    @memtrace.operation("search", kind="Retrieval")
    def _search(self, question: str) -> list[str]:
        asked = set(question.lower().strip("?").split())
        ranked = sorted(self._facts, key=lambda fact: -len(asked & set(fact.lower().strip(".").split())))
        memtrace.retrieved(question, ranked, ranked[:3])
        return ranked[:3]

    @memtrace.operation("answer", kind="Generation", inputs={"prompt": "Prompt", "question": "Query", "notes": "Other"},
                        output="Answer")  # fmt: skip
    def _answer(self, prompt: str, question: str, notes: list[str]) -> str:
        return self._chat.reply(f"{prompt}\n---\n" + "\n".join(notes) + f"\nQuestion: {question}")

    async def answer(self, question: str) -> str:
        return self._answer(self._prompts["answer"], question, self._search(question))


class Failing(FactsAgent):
    """Fails for one user, as ``FAIL`` says: by an error or by ending."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        super().__init__(user=user, prompts=prompts, folder=folder)
        self._how = os.environ["FAIL"] if user == "user 1" else ""

    def add(self, messages: Sequence[Message]) -> None:
        if self._how == "raise":
            raise ValueError("no room for messages")
        if self._how == "end":
            sys.stderr.write("a last word\n")
            os._exit(7)
        super().add(messages)


class Silent:
    """Records nothing, and prints to standard output."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        self._said: list[str] = []

    def prompts(self) -> dict[str, str]:
        return {}

    def add(self, messages: Sequence[Message]) -> None:
        sys.stdout.write("adding\n")
        self._said += [message.text for message in messages]

    def answer(self, question: str) -> str:
        sys.stdout.write("answering\n")
        return self._said[-1].split()[-1].strip(".")


class Answering(Silent):
    """Gives the answer that the question names: of several types, none at all, or the end of its process."""

    def answer(self, question: str, **more: object) -> object:  # type: ignore[override]
        word = question.rstrip("?").split()[-1]
        if word == "fail":
            raise ValueError("no \ud83d answer")
        if word == "leave":
            sys.exit("gone")
        if word == "end":
            os._exit(9)
        if word == "sleep":
            time.sleep(600)
        if word == "when":
            return more["time"]
        answers: dict[str, object] = {
            "digit": "2", "number": 2, "float": 2.5, "list": ["a", "b"], "day": date(2026, 3, 1), "empty": "",
            "none": None, "long": "x " * 200_000, "yes": True, "half": "\ud83d!", "reply": Reply("Bo"),
        }  # fmt: skip
        return answers[word]


class Reply:
    """A message object as clients of models return it."""

    def __init__(self, content: str) -> None:
        self.content = content


class Heading:
    """Writes the date and the speaker before each message that it stores."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        self._notes: list[str] = []

    def prompts(self) -> dict[str, str]:
        return {}

    def add(self, messages: Sequence[Message]) -> None:
        for one in messages:
            self._notes.append(self._note(f"[{one.time:%d %B}] {one.speaker}: {one.text}"))

    @memtrace.operation("note", kind="Extraction", output="MemoryUnit")
    def _note(self, text: str) -> str:
        return text.upper()

    def answer(self, question: str) -> str:
        return self._generate(question, self._notes)

    @memtrace.operation("generate", kind="Generation", output="Answer")
    def _generate(self, question: str, notes: list[str]) -> str:
        return "I do not know."


def nothing(**said: object) -> object:
    """Returns an object that is no program."""
    return object()
