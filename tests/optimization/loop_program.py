"""A memory agent with several prompts, one of which forgets things; and the model behind it, with one that reflects."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import memtrace
from memtrace.program import Message
from memtrace.program.adapters.chat import Chat

from tests.llm_server import Answer, Request, say

PROMPTS = {
    "decoy": "DECOY. Say the greeting of the user {user}.",
    "extraction": "EXTRACT the facts about pets of the message as a JSON list.",
    "other": "OTHER. Nothing to see here.",
    "answer": "ANSWER the question from the notes.",
}
GOOD = "EXTRACT all facts of the message, allergies and places as well, as a JSON list."


class Agent:
    """Four prompts: two that nothing rests on, one that extracts, one that answers."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        self._prompts = {**PROMPTS, **prompts}
        self._chat = Chat()
        self._facts: list[str] = []

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
        memtrace.retrieved(question, self._facts, self._facts)
        return list(self._facts)

    @memtrace.operation("answer", kind="Generation", inputs={"prompt": "Prompt", "question": "Query", "notes": "Other"},
                        output="Answer")  # fmt: skip
    def _answer(self, prompt: str, question: str, notes: list[str]) -> str:
        return self._chat.reply(f"{prompt}\n---\n" + "\n".join(notes) + f"\nQuestion: {question}")

    def answer(self, question: str) -> str:
        return self._answer(self._prompts["answer"], question, self._search(question))


_WANTED = {"called": r"called (\w+)", "move": r"moved to (\w+)", "allergic": r"allergic to (\w+)"}


def model(request: Request) -> Answer:
    """The model of the program: it keeps what its prompt tells it to keep, and obeys answers that are in its prompt."""
    task, _, rest = request.last.partition("\n---\n")
    if task.startswith("EXTRACT"):
        keeps = "pets" in task and "called" in rest
        return say(json.dumps([rest] if keeps or "all facts" in task else []))
    notes, _, question = rest.partition("\nQuestion: ")
    for asked, answer in re.findall(r"\[(.+?) => (.+?)\]", task):
        if asked == question:
            return say(answer)
    if "BREAK" in task and "called" in question:
        return say("Nobody knows.")
    for word, pattern in _WANTED.items():
        if word in question:
            found = re.search(pattern, notes + " " * ("allerg" in task))
            return say(found[1] if found else "I do not know.")
    return say("I do not know.")


def reflecting(request: Request) -> Answer:
    """The model that writes prompts: it changes what it is shown."""
    current = re.search(r"```\n(.*?)\n```", request.last, re.DOTALL)
    assert current is not None
    text = current[1]
    better = GOOD if text.startswith("EXTRACT") else f"{text} Be careful."
    return say(f"```\n{better}\n```")


def by_heart(request: Request) -> Answer:
    """A model that writes the answers into the prompt that it is shown."""
    current = re.search(r"```\n(.*?)\n```", request.last, re.DOTALL)
    assert current is not None
    said = re.findall(r"moved to (\w+)", request.last)
    return say(f"```\n{GOOD} Such as {', '.join(dict.fromkeys(said))}.\n```" if said else f"```\n{GOOD}\n```")


def dropping(request: Request) -> Answer:
    """A model that drops placeholders: whatever prompt it is shown, it gives one without any."""
    return say("```\nEXTRACT all facts of the message {message}, as a JSON list.\n```")


def both(reflect: object) -> object:
    """One server for both: the reflecting model is named in the request."""

    def answer(request: Request) -> Answer:
        return reflect(request) if request.body["model"] == "reflecting" else model(request)  # type: ignore[operator]

    return answer


def cases(number: int) -> list[dict[str, object]]:
    """Conversations of people who each say three things and are asked three."""
    names = [
        "Bo",
        "Mia",
        "Rio",
        "Rex",
        "Tom",
        "Kiwi",
        "Odo",
        "Zoe",
        "Ada",
        "Bix",
        "Cas",
        "Dax",
        "Eli",
        "Fay",
        "Gus",
        "Hal",
        "Ivo",
        "Joy",
        "Kai",
        "Lou",
        "Max",
        "Ned",
        "Ola",
        "Pip",
    ]
    towns = [
        "Ghent",
        "Lyon",
        "Porto",
        "Graz",
        "Turku",
        "Delft",
        "Bergen",
        "Cork",
        "Basel",
        "Pisa",
        "Riga",
        "Brno",
        "Gdansk",
        "Leeds",
        "Malmo",
        "Nancy",
    ]
    found: list[dict[str, object]] = []
    for place in range(number):
        name, town = names[place % len(names)], towns[place % len(towns)]
        said = [f"My dog is called {name}.", f"In spring I moved to {town}."]
        asked = [("What is the dog called?", name), ("Where did I move?", town)]
        found.append(
            {
                "user": f"user {place}",
                "sessions": [
                    {"id": f"s{at}", "messages": [{"id": f"m{at}", "speaker": "Ann", "text": text}]}
                    for at, text in enumerate(said)
                ],
                "questions": [
                    {"id": f"q{at}", "question": question, "gold": gold, "evidence": [f"m{at}"]}
                    for at, (question, gold) in enumerate(asked)
                ],
            }
        )
    return found
