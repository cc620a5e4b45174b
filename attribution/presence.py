"""Whether the needed detail is in a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from attribution.detail import DATE_WEIGHT, Content, Rarity, credit, found, matches, tells
from attribution.text.segments import Placed, Sentence, passage
from schema.models import Failure

HOLDS = 0.55
"""The score from which a text has the detail."""
_LITERAL_CHARACTERS = 20
"""A sentence of the evidence that is at least this long, and stands in a text word by word, is there."""
_NEED = 0.15
"""The part of the anchors that must be near a core that is told by its own words; twice that for another one."""
_OWN = 1.3
"""Weight of the core's own words that needs few anchors."""
_SHARED = 0.4
_PRECISION = 0.6
"""Or the part of the words beside the core that are anchors."""


@dataclass(frozen=True, slots=True)
class Detail:
    """What must survive from one message of the evidence.

    Attributes:
        message_id: the message.
        core: what the answer needs of it.
        anchors: weights of the other words of its sentence and of the question, which tell what it is about.
        sentence: the sentence that has it, as it stands in the message.
        reference: the day that it was said on.
        support: the part of what the answer needs that the sentence has, 0 to 1.
        literal: whether the core is told by the gold answer; else it is the sentence as a whole.
    """

    message_id: str
    core: Content
    anchors: Mapping[str, float]
    sentence: Sentence
    reference: int | None
    support: float
    literal: bool
    rarity: Rarity = field(repr=False, compare=False)

    def plain(self, failure: Failure) -> str:
        """The detail in plain words."""
        gold = f"\nGold answer: {' / '.join(failure.gold_answers)}" if self.literal else ""
        return f"Question: {failure.question}{gold}\nSaid in the evidence: {self.sentence.text.strip()}"


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


def is_literal(detail: Detail, text: str) -> bool:
    """Whether a text has the sentence of the evidence word by word."""
    said = detail.sentence.text.strip()
    return len(said) >= _LITERAL_CHARACTERS and said in text


def presence(
    detail: Detail,
    text: str,
    is_foreign: Callable[[Sentence], bool],
    scores: dict[tuple[str, int | None, bool], float],
    sole: bool = False,
) -> Presence:
    """How surely the detail is in a text.

    Args:
        is_foreign: whether a sentence is what another message says: then it doesn't count.
        scores: what sentences scored for this detail; versions of a buffer share most of theirs.
        sole: whether the text was made from no other message: then it can't be about anything else.
    """
    if is_literal(detail, text):
        return Presence(1.0, detail.sentence.text.strip())
    places = passage(text)
    singles = []
    for placed in places:
        key = placed.sentence.text, placed.reference, sole
        if key not in scores:
            touched = _touches(detail.core, placed) and not is_foreign(placed.sentence)
            scores[key] = _score(detail, [placed], sole) if touched else 0.0
        singles.append(scores[key])
    best = ABSENT
    for number, score in enumerate(singles):
        if score > best.score:
            best = Presence(score, places[number].sentence.text)
    if best.score < 1.0:
        for number in range(len(places) - 1):
            if (singles[number] or singles[number + 1]) and not (
                is_foreign(places[number].sentence) or is_foreign(places[number + 1].sentence)
            ):
                together = 0.97 * _score(detail, places[number : number + 2], sole)
                if together > best.score:
                    best = Presence(together, places[number if singles[number] else number + 1].sentence.text)
    return best


def _touches(core: Content, placed: Placed) -> bool:
    one = placed.sentence
    if not one.stems and not one.dates:
        return False
    return found(core, placed) > 0


def _score(detail: Detail, places: Sequence[Placed], sole: bool) -> float:
    core, anchors = detail.core, detail.anchors
    words = list(dict.fromkeys(stem for placed in places for stem in placed.sentence.stems))
    matched = matches(core.words, words)
    got = sum(core.words[word] * credit(word, other) for word, other in matched.items())
    got += sum(any(value in placed.sentence.numbers for placed in places) for value in core.numbers)
    got += DATE_WEIGHT * sum(any(tells(p.sentence, days, p.reference) for p in places) for days in core.dates)
    cover = got / core.weight if core.weight else 0.0
    if cover == 0 or sole:
        return cover
    left = [word for word in words if word not in matched.values()]
    near = matches(anchors, left)
    total = sum(anchors.values())
    shared = sum(anchors[word] for word in near)
    recall = shared / total if total else 1.0
    precision = shared / sum(map(detail.rarity, left)) if shared >= _SHARED else 0.0
    # Rare words of the core speak for themselves; a date, a number or another word could be that of anything.
    own = sum(sorted((core.words[word] for word, other in matched.items() if word == other), reverse=True)[:3])
    return cover * min(1.0, max(recall / (_NEED if own >= _OWN else 2 * _NEED), precision / _PRECISION))

