"""LoCoMo (Maharana et al., ACL 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents"): locomo10.json.

A file is a list of samples. Evidence names turns by ``dia_id``, with some spelling mistakes (``D8:6; D9:17``).
"""

from __future__ import annotations

import re
from typing import Any

from optimization.harness.datasets.form import Record, checked, point_in_time, record
from optimization.harness.datasets.model import Conversation, Message, Question, Session
from schema.errors import InputError

_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D\d+:\d+")
_TIMES = ("%I:%M %p on %d %B, %Y",)
_KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_UNANSWERABLE = 5


class _Turn(Record):
    speaker: str
    dia_id: str
    text: str = ""
    blip_caption: str | None = None


class _Asked(Record):
    question: str
    answer: str | int | float | None = None
    evidence: list[str] = []  # noqa: RUF012 (pydantic copies it)
    category: int


class _Sample(Record):
    sample_id: str
    conversation: dict[str, Any]
    qa: list[Any]


class LoCoMo:
    """A sample is a conversation of two people; captions stand for pictures."""

    name = "locomo"

    def recognises(self, content: Any) -> bool:
        """Whether the content is a list of samples with ``conversation`` and ``qa``."""
        first = content[0] if isinstance(content, list) and content else None
        return isinstance(first, dict) and {"sample_id", "conversation", "qa"} <= first.keys()

    def read(self, source: str, content: Any) -> list[Conversation]:
        """The conversations; questions of the category adversarial have no gold answer."""
        found = []
        for number, value in enumerate(content):
            place = f"[{number}]"
            sample = record(_Sample, value, source, place)
            questions = [
                _question(record(_Asked, asked, source, f"{place}.qa[{index}]"), index)
                for index, asked in enumerate(sample.qa)
            ]
            sessions = tuple(_sessions(sample.conversation, source, f"{place}.conversation"))
            found.append(checked(Conversation(sample.sample_id, sessions, tuple(questions)), source, place))
        return found


def _sessions(conversation: dict[str, Any], source: str, place: str) -> list[Session]:
    numbers = sorted(int(match[1]) for name in conversation if (match := _SESSION.fullmatch(name)))
    found = []
    for number in numbers:
        name = f"session_{number}"
        turns = conversation[name]
        if not isinstance(turns, list):
            raise InputError(source, f"{place}.{name}", f"must be a list of turns, not {type(turns).__name__}")
        if not turns:
            continue
        said = conversation.get(f"{name}_date_time")
        if not isinstance(said, str):
            raise InputError(source, f"{place}.{name}_date_time", "is missing, or no text")
        time = point_in_time(said, _TIMES, source, f"{place}.{name}_date_time")
        messages = [
            Message(turn.dia_id, turn.speaker, _text(turn), time)
            for turn in (record(_Turn, turn, source, f"{place}.{name}[{index}]") for index, turn in enumerate(turns))
        ]
        found.append(Session(name, tuple(messages), time))
    return found


def _text(turn: _Turn) -> str:
    picture = f"[picture: {turn.blip_caption}]" if turn.blip_caption else ""
    return " ".join(part for part in (turn.text.strip(), picture) if part)


def _question(asked: _Asked, number: int) -> Question:
    can_be_answered = asked.category != _UNANSWERABLE and asked.answer is not None
    evidence = [turn for reference in asked.evidence for turn in (_TURN.findall(reference) or [reference])]
    return Question(
        f"q{number + 1}",
        asked.question,
        (str(asked.answer),) if can_be_answered else (),
        tuple(evidence),
        _KINDS.get(asked.category, str(asked.category)),
    )
