"""Rules in place of a language model: each function reads what a prompt would hold and writes a reply.

Replies have the form that language models give (JSON in a code fence), so that the agent must parse them.
Comments name the weaknesses of the rules; all wrong answers come from these weaknesses.
"""

import json
import re
from collections.abc import Sequence
from typing import NotRequired, TypedDict

from .conversation import Message
from .words import content_words, likeness, shared, words

EXTRACTION_PROMPT = """You keep the notes of a personal assistant.
From the message, list the facts that the person states about their own life, one sentence each.
Leave out greetings, questions and remarks of the assistant.
Reply with JSON: {"facts": ["<name>: <fact>", ...]}"""

UPDATE_PROMPT = """You keep the memory of a personal assistant up to date.
Compare each new fact with the existing memories and choose one event for each:
ADD a fact that is new, UPDATE a memory that is about the same thing, DELETE a memory that is no longer true,
NONE where nothing changes.
Existing memories:
$memories
New facts:
$facts
Reply with JSON: {"memory": [{"id": "...", "text": "...", "event": "ADD|UPDATE|DELETE|NONE"}]}"""

ANSWER_PROMPT = """Answer the question from these memories only.
$context
Question: $question"""

JUDGE_PROMPT = """Say whether the answer agrees with the golden answer.
Question: $question
Golden answers: $golden_answers
Answer: $prediction
Reply with JSON: {"label": "CORRECT"} or {"label": "WRONG"}"""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_RELATIVE_CLAUSE = re.compile(r",\s+(?:who|which|where|whose)\b.*")
_FIRST_PERSON = frozenset({"i", "my", "me", "mine", "we", "our", "us"})
_RETRACTION = re.compile(r"\bno longer\b|\bnot any ?more\b|\bcancelled\b")
_SAME_SUBJECT = 0.5
_MEMORY_LINE = re.compile(r"Memory \d+ \([^)]*\): \w+: (.*)")


class Action(TypedDict):
    """One decision about the memory; ``id`` is absent where a unit is to be added."""

    event: str
    text: str
    id: NotRequired[str]
    old_memory: NotRequired[str]


def extract(message: Message) -> str:
    """Replies with the facts of a message: what the person says in the first person.

    Weakness: a relative clause after a comma counts as an aside and is dropped, whatever it says.
    """
    facts = []
    for sentence in _SENTENCE_END.split(message.text):
        if message.role != "user" or sentence.endswith("?") or not _FIRST_PERSON & set(words(sentence)):
            continue
        clause = _RELATIVE_CLAUSE.sub("", sentence).rstrip(".!")
        facts.append(f"{message.speaker}: {clause}.")
    return _fenced({"facts": facts})


def decide(facts: Sequence[str], existing: Sequence[tuple[str, str]]) -> str:
    """Replies with the actions for new facts, given the id and text of each similar memory.

    Weakness: an update keeps the newer wording alone. What only the older one said is lost.
    """
    actions: list[Action] = []
    for fact in facts:
        said = without_name(fact)
        unit_id, text = max(existing, key=lambda unit: likeness(without_name(unit[1]), said), default=("", ""))
        if likeness(without_name(text), said) <= _SAME_SUBJECT:
            actions.append({"event": "ADD", "text": fact})
        elif _RETRACTION.search(fact):
            actions.append({"event": "DELETE", "id": unit_id, "text": text})
            actions.append({"event": "ADD", "text": fact})
        elif content_words(fact) <= content_words(text):
            actions.append({"event": "NONE", "id": unit_id, "text": text})
        else:
            actions.append({"event": "UPDATE", "id": unit_id, "text": fact, "old_memory": text})
    return _fenced({"memory": actions})


def answer(question: str, context: str) -> str:
    """Replies with the memory of the context that shares most words with the question.

    Weakness: it never says that it doesn't know as long as any word is shared.
    """
    memories = _MEMORY_LINE.findall(context)
    best = max(memories, key=lambda memory: shared(question, memory), default="")
    return best if shared(question, best) else "I don't know."


def judge(golden_answers: Sequence[str], prediction: str) -> str:
    """Replies CORRECT if the prediction holds every word of one of the golden answers."""
    said = set(words(prediction))
    right = any(set(words(golden)) <= said for golden in golden_answers)
    return json.dumps({"label": "CORRECT" if right else "WRONG"})


def without_name(memory: str) -> str:
    """Returns a memory without the leading name, which would match every question about that person."""
    return memory.partition(": ")[2]


def remove_code_fence(reply: str) -> str:
    """Returns a reply without the code fence around it."""
    return re.sub(r"^```\w*\n|\n```$", "", reply.strip())


def _fenced(reply: object) -> str:
    return f"```json\n{json.dumps(reply, ensure_ascii=False)}\n```"
