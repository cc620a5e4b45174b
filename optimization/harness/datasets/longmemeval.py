"""LongMemEval (Wu et al., ICLR 2025): longmemeval_s.json, longmemeval_m.json, longmemeval_oracle.json.

A file is a list of questions, each with a history of its own. Turns with ``has_answer`` are the evidence. Questions
whose id ends in ``_abs`` can't be answered.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from optimization.harness.datasets.form import Record, checked, listed, point_in_time, record
from optimization.harness.datasets.model import Conversation, Message, Question, Session
from schema.errors import InputError

_TIMES = ("%Y/%m/%d (%a) %H:%M", "%Y/%m/%d")


class _Turn(Record):
    role: str
    content: str
    has_answer: bool | None = None


class _Instance(Record):
    question_id: str
    question_type: str
    question: str
    answer: str | int | float
    question_date: str | None = None
    haystack_session_ids: list[str]
    haystack_dates: list[str]
    haystack_sessions: list[Any]


class LongMemEval:
    """A question is a conversation of its own: a user's sessions with an assistant, sorted by date."""

    name = "longmemeval"

    def recognises(self, content: Any) -> bool:
        """Whether the content is a list of questions with ``haystack_sessions``."""
        first = content[0] if isinstance(content, list) and content else None
        return isinstance(first, dict) and {"question_id", "haystack_sessions"} <= first.keys()

    def read(self, source: str, content: Any) -> list[Conversation]:
        """The conversations, one per question."""
        found = []
        for number, value in enumerate(content):
            place = f"[{number}]"
            instance = record(_Instance, value, source, place)
            counts = len(instance.haystack_sessions), len(instance.haystack_session_ids), len(instance.haystack_dates)
            if len(set(counts)) > 1:
                raise InputError(
                    source, place, f"has {counts[0]} sessions, but {counts[1]} ids and {counts[2]} dates of sessions"
                )
            evidence: list[str] = []
            sessions = [
                _session(instance, index, source, f"{place}.haystack_sessions[{index}]", evidence)
                for index in range(counts[0])
            ]
            can_be_answered = not instance.question_id.endswith("_abs")
            question = Question(
                instance.question_id,
                instance.question,
                (str(instance.answer),) if can_be_answered else (),
                tuple(evidence),
                instance.question_type,
                time=_asked_at(instance, source, place),
            )
            ordered = sorted((one for one in sessions if one.messages), key=lambda one: (one.time is None, one.time))
            found.append(checked(Conversation(instance.question_id, tuple(ordered), (question,)), source, place))
        return found


def _asked_at(instance: _Instance, source: str, place: str) -> datetime | None:
    if instance.question_date is None:
        return None
    return point_in_time(instance.question_date, _TIMES, source, f"{place}.question_date")


def _session(instance: _Instance, index: int, source: str, place: str, evidence: list[str]) -> Session:
    # A history may contain the same session twice.
    id_ = instance.haystack_session_ids[index]
    if instance.haystack_session_ids.index(id_) != index:
        id_ = f"{id_}#{index}"
    time = point_in_time(instance.haystack_dates[index], _TIMES, source, place)
    messages = []
    for number, value in enumerate(listed(instance.haystack_sessions[index], source, place), 1):
        turn = record(_Turn, value, source, f"{place}[{number - 1}]")
        message = Message(f"{id_}:{number}", turn.role, turn.content, time)
        messages.append(message)
        if turn.has_answer:
            evidence.append(message.id)
    return Session(id_, tuple(messages), time)
