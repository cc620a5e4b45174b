"""RealMem (2026, "Benchmarking LLMs in Real-World Memory-Driven Interaction"): NAME_dialogues_256k.json.

A file is one user's dialogues with an assistant. A turn with ``is_query`` is a question, asked after all earlier turns;
the assistant's next turn is the gold answer. The gold answer's turn names the memories it used by session and content;
the turns from which the data set extracted these memories are the evidence.
"""

from __future__ import annotations

from typing import Any

from optimization.harness.datasets.form import Record, checked, listed, point_in_time, record
from optimization.harness.datasets.model import Conversation, Message, Question, Session

_TIMES = ("%Y-%m-%d (%A)", "%Y-%m-%d")


class _Used(Record):
    session_uuid: str
    content: str


class _Turn(Record):
    speaker: str
    content: str
    is_query: bool = False
    query_id: str | None = None
    category_name: str | None = None
    memory_used: list[_Used] = []  # noqa: RUF012 (pydantic copies it)


class _Extracted(Record):
    content: str
    source_turn: int | None = None


class _Dialogue(Record):
    session_identifier: str
    session_uuid: str
    current_time: str
    dialogue_turns: list[Any]
    extracted_memory: list[Any] = []  # noqa: RUF012 (pydantic copies it)


class _File(Record):
    dialogues: list[Any]


class RealMem:
    """A file is one conversation."""

    name = "realmem"

    def recognises(self, content: Any) -> bool:
        """Whether the content is an object with ``dialogues`` that have ``dialogue_turns``."""
        dialogues = content.get("dialogues") if isinstance(content, dict) else None
        first = dialogues[0] if isinstance(dialogues, list) and dialogues else None
        return isinstance(first, dict) and "dialogue_turns" in first

    def read(self, source: str, content: Any) -> list[Conversation]:
        """The conversation of the file."""
        sessions: list[Session] = []
        questions: list[Question] = []
        sources: dict[tuple[str, str], str] = {}
        before: str | None = None
        for number, value in enumerate(record(_File, content, source, "").dialogues):
            place = f"dialogues[{number}]"
            dialogue = record(_Dialogue, value, source, place)
            time = point_in_time(dialogue.current_time, _TIMES, source, f"{place}.current_time")
            turns = [
                record(_Turn, turn, source, f"{place}.dialogue_turns[{index}]")
                for index, turn in enumerate(dialogue.dialogue_turns)
            ]
            messages = []
            for index, turn in enumerate(turns):
                message = Message(f"{dialogue.session_uuid}:{index + 1}", turn.speaker, turn.content, time)
                reply = turns[index + 1] if index + 1 < len(turns) else None
                if turn.is_query and reply is not None and before is not None:
                    evidence = [sources.get((used.session_uuid, used.content), "") for used in reply.memory_used]
                    questions.append(
                        Question(
                            turn.query_id or message.id,
                            turn.content,
                            (reply.content,),
                            tuple(filter(None, evidence)),
                            turn.category_name,
                            before,
                            time,
                        )
                    )
                messages.append(message)
                before = message.id
            for index, one in enumerate(listed(dialogue.extracted_memory, source, f"{place}.extracted_memory")):
                memory = record(_Extracted, one, source, f"{place}.extracted_memory[{index}]")
                if memory.source_turn is not None and 0 < memory.source_turn <= len(messages):
                    sources[dialogue.session_uuid, memory.content] = messages[memory.source_turn - 1].id
            if messages:
                sessions.append(Session(dialogue.session_uuid, tuple(messages), time))
        name = source.rpartition("/")[2].partition("_dialogues")[0].partition(".")[0]
        return [checked(Conversation(name, tuple(sessions), tuple(questions)), source, "")]
