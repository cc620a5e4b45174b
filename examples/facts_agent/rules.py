"""Rules in place of a model that extracts facts: a sentence in the first person is about what it names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from examples.shared.model import words

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SPEAKER = re.compile(r"^\w+: ")
_ABOUT = (
    (re.compile(r"\bmy (\w+)"), None),
    (re.compile(r"\bi live\b"), "home"),
    (re.compile(r"\bi work\b"), "work"),
    (re.compile(r"\bi am allergic\b"), "allergy"),
)
_END = re.compile(r"\b(sold|gave away|cancelled|no longer)\b")


@dataclass(frozen=True)
class Fact:
    """One thing that was said.

    Attributes:
        about: what it is about; a memory has one unit of each.
        text: the sentence.
        is_end: whether it says that the thing is no more.
    """

    about: str
    text: str
    is_end: bool


def facts(message: str) -> list[Fact]:
    """The facts of a message: its sentences that a rule knows, but for questions."""
    found = []
    for text in _SENTENCE_END.split(_SPEAKER.sub("", message)):
        about = None if text.endswith("?") else _about(text.lower())
        if about is not None:
            found.append(Fact(about, text, _END.search(text.lower()) is not None))
    return found


def shared(unit: str, question: str) -> int:
    """How many words of meaning a unit shares with a question."""
    return len(set(words(unit)) & set(words(question)))


def _about(text: str) -> str | None:
    for pattern, name in _ABOUT:
        match = pattern.search(text)
        if match is not None:
            return name or match[1]
    return None
