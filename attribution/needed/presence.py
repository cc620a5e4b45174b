"""The needed detail, and how surely it is in a text (``attribution.free_pass.detail_finder`` finds that out)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from attribution.needed.content import Content, Rarity
from attribution.text.segments import Sentence
from schema.models import Failure

HOLDS = 0.55
"""A text with at least this score has the detail."""
_LITERAL_CHARACTERS = 8
"""A sentence of the evidence that is at least this long, and stands in a text word by word, is there."""
LARGE = 4_000_000
"""Texts with more characters are read only around the words that are looked for."""


@dataclass(frozen=True, slots=True)
class Detail:
    """What the answer needs from one message of the evidence, and what must therefore survive every step.

    Attributes:
        message_id: the message.
        core: what the answer needs of it.
        anchors: weights of the other words of its sentence and of the question, which tell what it is about.
        sentence: the sentence that has it, as it stands in the message.
        reference: the day that it was said on.
        support: the part of what the answer needs that the sentence has, 0 to 1.
        unique: whether no other message has the sentence.
        literal: whether the core is told by the gold answer; else it is the sentence as a whole.
    """

    message_id: str
    core: Content
    anchors: Mapping[str, float]
    sentence: Sentence
    reference: int | None
    support: float
    unique: bool
    literal: bool
    rarity: Rarity = field(repr=False, compare=False)

    @property
    def quote(self) -> str:
        """The sentence as it stands in the message, without a quotation mark that begins the whole value."""
        text = self.sentence.text.strip()
        return text[1:] if text[:1] in {'"', "'"} and text.count(text[0]) == 1 else text

    def plain(self, failure: Failure) -> str:
        """The detail in plain words."""
        gold = f"\nGold answer: {' / '.join(failure.gold_answers)}" if self.literal else ""
        return f"Question: {failure.question}{gold}\nSaid in the evidence: {self.quote}"


@dataclass(frozen=True, slots=True)
class Presence:
    """How surely a detail is in a text (0 to 1), and the words that show it."""

    score: float
    quote: str


ABSENT = Presence(0.0, "")


@dataclass(frozen=True, slots=True)
class PresenceQuestion:
    """Is this in that text?

    Attributes:
        detail: what must be there, in plain words.
        text: the value of a variable.
    """

    detail: str
    text: str
    variable_id: str


@dataclass(frozen=True, slots=True)
class PresenceAnswer:
    """Whether it is there, with a quote of the text (empty where it isn't)."""

    present: bool
    quote: str
    confidence: float


class PresenceJudge(Protocol):
    """Decides where words, numbers and dates don't."""

    async def judge(self, questions: Sequence[PresenceQuestion]) -> list[PresenceAnswer | None]:
        """An answer per question; None where it could not decide."""
        ...


@lru_cache(maxsize=10_000)
def spellings(text: str) -> tuple[str, ...]:
    """A sentence as values may have it: as it is, and with its quotes escaped as in JSON or in Python, or not."""
    plain = text.strip().replace('\\"', '"').replace("\\'", "'")
    bare = plain.strip("\"' ")
    found = [text.strip(), plain, plain.replace('"', '\\"'), plain.replace("'", "\\'"), bare]
    return tuple(dict.fromkeys(found))


def literal(detail: Detail, text: str) -> str:
    """The sentence of the evidence as a text has it word by word, empty where it hasn't.

    Also where the sentence alone does not say it: ``last week`` is another week in a text of another day.
    """
    if not detail.unique or len(detail.sentence.text) < _LITERAL_CHARACTERS or _is_relative(detail):
        return ""
    return next((said for said in spellings(detail.sentence.text) if said in text), "")


def _is_relative(detail: Detail) -> bool:
    """Whether what is needed is a date that the sentence tells only with the day that it was said on."""
    is_date = detail.literal and bool(detail.core.dates)
    return is_date and any(one.relative is not None for one in detail.sentence.dates)
