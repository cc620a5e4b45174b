"""The needed detail, and how surely a text has it (computed by ``attribution.free_pass.detail_finder``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from attribution.needed.content import Content, Rarity
from attribution.text.scripts import letters
from attribution.text.segments import Sentence

HOLDS = 0.55
"""A text with at least this score has the detail."""
_LITERAL_LETTERS = 8
"""The minimal length of a sentence, in letters, that is proven by its literal occurrence in a text."""
LARGE = 4_000_000
"""Of texts with more characters, only the surroundings of the needed words are read."""


@dataclass(frozen=True, slots=True)
class Detail:
    """What the answer needs from one message of the evidence: it must survive every step.

    Attributes:
        message_id: the message.
        core: the content that the answer needs.
        anchors: weights of the other words of the sentence and of the question, which tell the topic.
        sentence: the sentence with the core, as written in the message.
        reference: the day on which the sentence was said (an ordinal).
        support: the share of the wanted content that the sentence has, 0 to 1.
        unique: whether no other message has the sentence.
        literal: whether the core is from the gold answer; otherwise it is the whole sentence.
        is_implied: whether the core is the day of the message itself, which its sentence does not name.
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
    is_implied: bool = False

    @property
    def quote(self) -> str:
        """The sentence as written, without a quotation mark that opens the whole value."""
        text = self.sentence.text.strip()
        return text[1:] if text[:1] in {'"', "'"} and text.count(text[0]) == 1 else text


@dataclass(frozen=True, slots=True)
class Presence:
    """How surely a detail is in a text (0 to 1), and a quote that shows it."""

    score: float
    quote: str


ABSENT = Presence(0.0, "")


@lru_cache(maxsize=10_000)
def spellings(text: str) -> tuple[str, ...]:
    """A sentence as values may contain it: plain, with escaped quotes as in JSON or Python, without outer quotes."""
    plain = text.strip().replace('\\"', '"').replace("\\'", "'")
    bare = plain.strip("\"' ")
    found = [text.strip(), plain, plain.replace('"', '\\"'), plain.replace("'", "\\'"), bare]
    return tuple(dict.fromkeys(found))


def literal(detail: Detail, text: str) -> str:
    """The detail's sentence as it occurs literally in a text; empty if it does not.

    Also empty if the sentence alone does not prove the detail: ``last week`` depends on the day of the text.
    """
    if not detail.unique or letters(detail.sentence.text) < _LITERAL_LETTERS or counts_from_its_day(detail):
        return ""
    return next((said for said in spellings(detail.sentence.text) if said in text), "")


def counts_from_its_day(detail: Detail) -> bool:
    """Whether the core is a date that only the day gives on which the sentence was said."""
    is_date = detail.literal and bool(detail.core.dates)
    return detail.is_implied or (is_date and any(one.relative is not None for one in detail.sentence.dates))
