"""Our own form of data sets: a line of JSON for each conversation.

    {"user": "ann", "sessions": [{"id": "s1", "time": "2026-03-01T09:00:00Z", "messages":
      [{"id": "m1", "speaker": "Ann", "text": "My dog is called Bo."}]}],
     "questions": [{"id": "q1", "question": "What is the dog called?", "gold": ["Bo"], "evidence": ["m1"]}]}

``time`` of a session, message or question, and ``evidence``, ``kind`` and ``after`` of a question, may be left out.
``gold`` is a text or a list, and empty if the question can't be answered.
"""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from optimization.harness.datasets.form import Record, checked, iso_time, record
from optimization.harness.datasets.model import Conversation, Message, Question, Session


class _Strict(Record):
    """A record of our own form, where an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Message(_Strict):
    id: str
    speaker: str
    text: str
    time: str | None = None


class _Session(_Strict):
    id: str
    messages: list[_Message]
    time: str | None = None


class _Question(_Strict):
    id: str
    question: str
    gold: str | list[str] = Field(default_factory=list)
    evidence: list[str] = Field(default_factory=list)
    kind: str | None = None
    after: str | None = None
    time: str | None = None


class _Conversation(_Strict):
    user: str
    sessions: list[_Session]
    questions: list[_Question]


class Lines:
    """Lines of JSON; the parsed content is the list of the lines' objects."""

    name = "lines"

    def recognises(self, content: Any) -> bool:
        """Whether the content is a list of objects with ``user``, ``sessions`` and ``questions``."""
        first = content[0] if isinstance(content, list) and content else None
        return isinstance(first, dict) and {"user", "sessions", "questions"} <= first.keys()

    def read(self, source: str, content: Any) -> list[Conversation]:
        """The conversations."""
        return [_conversation(value, source, f"line {number}") for number, value in enumerate(content, 1)]


def _conversation(value: object, source: str, place: str) -> Conversation:
    said = record(_Conversation, value, source, place)
    sessions = []
    for number, session in enumerate(said.sessions):
        at = f"{place}.sessions[{number}]"
        time = iso_time(session.time, source, f"{at}.time")
        messages = [
            Message(one.id, one.speaker, one.text, iso_time(one.time, source, f"{at}.messages[{index}].time") or time)
            for index, one in enumerate(session.messages)
        ]
        sessions.append(Session(session.id, tuple(messages), time))
    questions = [
        Question(
            one.id,
            one.question,
            (one.gold,) if isinstance(one.gold, str) else tuple(one.gold),
            tuple(one.evidence),
            one.kind,
            one.after,
            iso_time(one.time, source, f"{place}.questions[{index}].time"),
        )
        for index, one in enumerate(said.questions)
    ]
    return checked(Conversation(said.user, tuple(sessions), tuple(questions)), source, place)
