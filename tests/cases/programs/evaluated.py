"""Programs for ``memtrace evaluate`` that lose the date of a message, keep it, or correct the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import memtrace
from memtrace.program import Message

REPLIES = {
    "tandem": "Ben has no painted tandem; the tandem is Ada's.",
    "June": "Nothing went wrong in June; she slipped in May 2026.",
    "parrot": "You haven't told me about a parrot, only about your tortoise.",
}


class Keeps:
    """Writes the day of each message into its note, and answers wrongly."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        self._notes: list[str] = []
        self._day = datetime.min

    def prompts(self) -> dict[str, str]:
        return {}

    def add(self, messages: Sequence[Message]) -> None:
        for one in messages:
            assert one.time is not None
            self._day = one.time
            self._notes.append(self._note(one.text, one.speaker))

    @memtrace.operation("note", kind="Extraction", inputs={"text": "Message"}, output="MemoryUnit")
    def _note(self, text: str, speaker: str) -> str:
        return f"{speaker}: {self._dated(text)}"

    def _dated(self, text: str) -> str:
        return text.replace("yesterday", f"on {self._day - timedelta(days=1):%d %B %Y}")

    def answer(self, question: str, time: datetime | None = None) -> str:
        return self._reply(question, self._notes, time)

    @memtrace.operation(
        "reply", kind="Generation", inputs={"question": "Query", "notes": "MemoryUnit"}, output="Answer"
    )
    def _reply(self, question: str, notes: list[str], time: datetime | None) -> str:
        if time is not None:
            return f"It is {time:%A}."
        return next((reply for word, reply in REPLIES.items() if word in question), "On 2 January 2020.")


class Drops(Keeps):
    """Leaves the day out."""

    def _dated(self, text: str) -> str:
        return text.replace("yesterday", "")
