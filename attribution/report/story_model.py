"""The story of a wrong answer, as pages and reports show it. Names are public, in camel case in JSON.

The state of a part of a text is ``same``; ``mark`` for needed words; ``key`` for needed words that the gold answer has;
``gone`` or ``new`` for words that stand only in the text before or after a change.
"""

from __future__ import annotations

from msgspec import Struct

Part = tuple[str, str]
"""A part of a text, and its state."""


class StoryPart(Struct, frozen=True, rename="camel", kw_only=True):
    """Base of these models: names in camel case in JSON."""


class Phrase(StoryPart, frozen=True, kw_only=True):
    """A part of the sentence: words of the story, or a quote."""

    parts: list[Part]
    is_quote: bool


class At(StoryPart, frozen=True, kw_only=True):
    """An operation.

    Attributes:
        sequence: its place in the trace, from 0.
    """

    id: str
    name: str
    kind: str
    sequence: int


class Candidate(StoryPart, frozen=True, kw_only=True):
    """A unit that a search rated or returned, or that it missed.

    Attributes:
        rank: from 1; None if not recorded.
        score: on the search's own scale; None if not recorded.
        is_missed: whether the unit has the needed words and was not returned.
    """

    text: list[Part]
    rank: int | None
    score: float | None
    is_missed: bool


class Card(StoryPart, frozen=True, kw_only=True):
    """A place on the way of the needed words.

    Attributes:
        title: what happened, in a word or two.
        state: ``held``: the text has the needed words; ``lost``: the words were lost here; ``gone``: it lacks them.
        text: in parts.
        candidates: what a search returned, with the missed unit at its place; empty for other cards.
        note: a sentence below the text; empty if there is nothing to say.
        operation: the operation that made the text; None for what came from outside.
        variable_id: of the variable with the text; None for an answer or a gold answer that is no variable.
        variable: name of the variable, for people.
        time: when the text was made, as ISO 8601; None if not recorded.
    """

    title: str
    state: str
    text: list[Part]
    candidates: list[Candidate] = []
    note: str = ""
    operation: At | None = None
    variable_id: str | None = None
    variable: str = ""
    time: str | None = None


class Story(StoryPart, frozen=True, kw_only=True):
    """What went wrong with an answer.

    Attributes:
        sentence: what the operation did.
        operation: the operation at fault, which is the subject of the sentence; None if the sentence has its own.
        cards: the way of the needed words; empty if the verdict has no path.
    """

    sentence: list[Phrase]
    operation: At | None
    cards: list[Card]
