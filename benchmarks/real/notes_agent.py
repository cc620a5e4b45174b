"""An agent that keeps its notes itself, with tools: it remembers, replaces, forgets and searches."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import memtrace
from memtrace.program.adapters.heading import with_date, with_heading
from memtrace.program.adapters.prompts import ANSWER, filled
from memtrace.program.protocol import Message

from attribution.llm.transport.reply import read_reply
from attribution.llm.transport.text_calls import calls_in

_TOP = 5
_KEEP = (
    "You keep notes for the people who talk to you. You get the notes so far, each with its number, and new messages. "
    "Call the tools: remember for each new fact, replace for a note that is no longer right, forget for a note that "
    "somebody asks you to delete. A note is one whole sentence with names, and with the date in place of words such as "
    "yesterday."
)
_SEARCH = "Call the tool search with the words that find the notes for this question.\n\nQuestion: {question}"
_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_KEEPING = {"remember": {"text": _TEXT}, "replace": {"note": _NUMBER, "text": _TEXT}, "forget": {"note": _NUMBER}}
_SEARCHING = {"search": {"words": _TEXT}}


class NotesAgent:
    """Run it as ``benchmarks.real.notes_agent:NotesAgent``, in an environment of MemTrace."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        self._prompts = {"keep": _KEEP, "search": _SEARCH, "answer": ANSWER, **prompts}
        self._model = os.environ["MEMTRACE_PROGRAM_MODEL"]
        key = os.environ.get("OPENAI_API_KEY", "")
        self._http = httpx.Client(
            base_url=os.environ["OPENAI_BASE_URL"].rstrip("/") + "/",
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(600.0, connect=30.0),
        )
        self._notes: dict[int, str] = {}
        self._made = 0

    def prompts(self) -> dict[str, str]:
        """The prompts for keeping notes, for searching them, and for an answer."""
        return self._prompts

    def add(self, messages: Sequence[Message]) -> None:
        """Let the model change the notes after a sitting."""
        said = [with_heading(one) for one in messages]
        reply = self._read(self._prompts["keep"], said, list(self._notes.values()))
        for call in json.loads(reply):
            name, arguments = call["name"], call["arguments"]
            number, text = arguments.get("note"), arguments.get("text")
            if name == "remember" and isinstance(text, str) and text:
                self._made += 1
                self._notes[self._made] = self._remember(reply, text, self._made)
            elif number in self._notes and name == "replace" and isinstance(text, str) and text:
                self._notes[number] = self._replace(reply, self._notes[number], text)
            elif number in self._notes and name == "forget":
                self._forget(reply, self._notes.pop(number))

    @memtrace.operation(
        "keep notes",
        kind="Extraction",
        inputs={"prompt": "Prompt", "messages": "Message", "notes": "MemoryUnit"},
        output="Response",
    )
    def _read(self, prompt: str, messages: list[str], notes: list[str]) -> str:
        numbered = "\n".join(f"{number}: {note}" for number, note in self._notes.items()) or "(none)"
        asked = f"{prompt}\n\nNotes:\n{numbered}\n\nMessages:\n" + "\n".join(messages)
        return json.dumps(self._calls(asked, _KEEPING), ensure_ascii=False)

    @memtrace.operation("remember", kind="Update", inputs={"reply": "Response"})
    def _remember(self, reply: str, text: str, number: int) -> str:
        return memtrace.variable(text, kind="MemoryUnit", name=f"note {number}")

    @memtrace.operation("replace", kind="Update", inputs={"reply": "Response", "old": "MemoryUnit"})
    def _replace(self, reply: str, old: str, text: str) -> str:
        return memtrace.variable(text, kind="MemoryUnit", revises=old)

    @memtrace.operation("forget", kind="Deletion", inputs={"reply": "Response", "note": "MemoryUnit"}, output=False)
    def _forget(self, reply: str, note: str) -> None:
        memtrace.deleted(note)

    def answer(self, question: str, time: datetime | None = None) -> str:
        """Let the model search its notes, and answer from the notes that were found."""
        words = self._words(self._prompts["search"], question)
        return self._reply(self._prompts["answer"], question, self._search(words, list(self._notes.values())), time)

    @memtrace.operation(
        "choose words", kind="Generation", inputs={"prompt": "Prompt", "question": "Query"}, output="RefinedQuery"
    )
    def _words(self, prompt: str, question: str) -> str:
        calls = self._calls(prompt.replace("{question}", question), _SEARCHING)
        said = next((one["arguments"].get("words") for one in calls), None)
        return said if isinstance(said, str) and said.strip() else question

    @memtrace.operation("search", kind="Retrieval", inputs={"words": "RefinedQuery", "notes": "MemoryUnit"})
    def _search(self, words: str, notes: list[str]) -> list[str]:
        wanted = _stems(words)
        ranked = sorted(((note, len(wanted & _stems(note))) for note in notes), key=lambda pair: -pair[1])
        found = [note for note, _ in ranked[:_TOP]]
        memtrace.retrieved(words, ranked, found)
        return found

    @memtrace.operation(
        "answer",
        kind="Generation",
        inputs={"prompt": "Prompt", "question": "Query", "notes": "MemoryUnit"},
        output="Answer",
    )
    def _reply(self, prompt: str, question: str, notes: list[str], time: datetime | None) -> str:
        return str(self._ask(filled(prompt, notes, with_date(question, time)), {}).content)

    def _calls(self, text: str, tools: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The calls in a reply of the model; many models and servers write them as text."""
        reply = self._ask(text, tools)
        calls = reply.calls or calls_in(reply.content, list(tools))
        return [{"name": one.name, "arguments": one.arguments or {}} for one in calls if one.name in tools]

    def _ask(self, text: str, tools: Mapping[str, Mapping[str, Any]]) -> Any:
        body: dict[str, Any] = {"model": self._model, "temperature": 0, "max_tokens": 1_024}
        body["messages"] = [{"role": "user", "content": text}]
        if tools:
            body["tools"] = [_described(name, given) for name, given in tools.items()]
        response = self._http.post("chat/completions", json=body)
        response.raise_for_status()
        return read_reply(response.text)


def _described(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": dict(given), "required": list(given)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def _stems(text: str) -> set[str]:
    """The beginnings of the words of a text: enough to find the forms of a word."""
    return {word[:5] for word in re.findall(r"\w+", text.casefold()) if len(word) > 2}
