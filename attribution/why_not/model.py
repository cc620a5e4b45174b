"""What is said about a piece that an answer needed, as data. Names are public, in camel case in JSON.

Lists are cut after ``MOST`` items, texts after ``LONGEST`` characters; counts are of all there are.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from schema.kinds import ErrorType, VariableKind

MOST = 20
LONGEST = 500


class Told(Struct, frozen=True, rename="camel", kw_only=True):
    """Base of these models: names in camel case in JSON."""


class Fate(StrEnum):
    """What an operation did to a unit that it was shown."""

    KEPT = "kept"
    REWRITTEN = "rewritten"
    DROPPED = "dropped"


class Held(Told, frozen=True, kw_only=True):
    """A unit that held the piece and was current when the question's search began.

    Attributes:
        label: for people.
        quote: the words of the unit that show the piece.
        confidence: how surely it is there, 0 to 1.
        rank: its place among what a search rated, from 1; None where the recording has no ranking with it.
        score: how that search rated it, on a scale of its own; None where the recording does not say.
        returned: whether a search of the question returned it.
        operation_id: the search that returned or rated it; None where none did.
    """

    variable_id: str
    external_id: str
    label: str
    quote: str
    confidence: float
    rank: int | None
    score: float | None
    returned: bool
    operation_id: str | None


class Returned(Told, frozen=True, kw_only=True):
    """What a search of the question returned.

    Attributes:
        variable_id: the unit that was read; what the search made of it is an occurrence of that.
        label: for people.
        text: how its value begins.
        rank: as in ``Held``.
        score: as in ``Held``.
        holds: whether the piece is in it.
        operation_id: the search.
    """

    variable_id: str
    external_id: str
    label: str
    text: str
    rank: int | None
    score: float | None
    holds: bool
    operation_id: str


class Uncovered(Told, frozen=True, kw_only=True):
    """A sentence that went into an extraction and that nothing which came out covers.

    Attributes:
        variable_id: the message, or other input, that has it.
        is_piece: whether it is the piece that the answer needed.
        nearest: what comes nearest to it of all that came out; empty where nothing does.
    """

    variable_id: str
    text: str
    is_piece: bool
    nearest: str


class Made(Told, frozen=True, kw_only=True):
    """Something that an operation made."""

    variable_id: str
    text: str


class Extraction(Told, frozen=True, kw_only=True):
    """An extraction that did not bring the piece out.

    Attributes:
        operation: its name, for people.
        sentences: of what went in: how many there are that say anything.
        uncovered: those that nothing which came out covers, that of the piece first.
        facts: what came out, for others to go on with.
    """

    operation_id: str
    operation: str
    sentences: int
    uncovered_count: int
    uncovered: list[Uncovered]
    facts: list[Made]


class Candidate(Told, frozen=True, kw_only=True):
    """A unit that an update was shown.

    Attributes:
        label: for people.
        fate: what the operation did to it.
        old: its text before; of a long one the part around the piece, or around what was changed.
        new: the same of its text after; None where it was not rewritten.
        new_variable_id: the next version; None where there is none.
        held: whether the piece was in it.
        holds: whether the piece is in it after the operation.
    """

    variable_id: str
    external_id: str
    label: str
    fate: Fate
    old: str
    new: str | None
    new_variable_id: str | None
    held: bool
    holds: bool


class Change(Told, frozen=True, kw_only=True):
    """An update or deletion that did not carry the piece on.

    Attributes:
        operation: its name, for people.
        given: what it was given, beside units, that had the piece: a message, a fact; each by the words that show it.
        candidates_count: units that it was shown.
        candidates: those that held the piece first, then what was dropped, rewritten and kept.
        added: units that it made beside the candidates' next versions.
    """

    operation_id: str
    operation: str
    given: list[Made]
    candidates_count: int
    candidates: list[Candidate]
    added: list[Made]


class Stood(Told, frozen=True, kw_only=True):
    """A place where the piece stood in what the answer was made from.

    Attributes:
        kind: of the variable that was read: a prompt, a context, a unit.
        label: for people.
        characters: how many the whole value has.
        offset: where the quote begins, in characters from 0.
        before: the text before the quote.
        after: the text after it.
    """

    variable_id: str
    kind: VariableKind
    label: str
    characters: int
    offset: int
    quote: str
    before: str
    after: str


class WhyNot(Told, frozen=True, kw_only=True):
    """A piece that the answer needed, and what became of it.

    Attributes:
        piece: the sentence of the message that tells it.
        message_id: that message.
        message_label: what people know it by.
        said_after: whether no operation used that message before the question's search, so that the memory could not
            have it.
        error_type: what the free pass says of this piece; None where it could not follow it.
        operation_id: the operation that lost it; None where none is named.
        operation: the name of that operation, for people.
        reason: why, in words.
        confidence: how sure the free pass is of that, 0 to 1.
        held_count: units that held the piece and were current when the question's search began.
        held: those, the best ranked first, then the surest.
        considered: how many units the question's searches rated; None where the recording has no ranking.
        returned_count: how many they returned.
        returned: those, by search and rank; without ranks as they were recorded.
        extractions: of the operations in question those that extract.
        changes: of the operations in question those that update or delete.
        context: where the piece stood in what the answering operation, or one on the way to it, read; empty where it
            did not get there.
    """

    piece: str
    message_id: str
    message_external_id: str
    said_after: bool
    error_type: ErrorType | None
    operation_id: str | None
    operation_external_id: str | None
    operation: str | None
    reason: str | None
    confidence: float
    held_count: int
    held: list[Held]
    considered: int | None
    returned_count: int
    returned: list[Returned]
    extractions: list[Extraction]
    changes: list[Change]
    context: list[Stood]
    message_label: str = ""


def shortened(text: str) -> str:
    """A text of at most ``LONGEST`` characters."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def same_beginning(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
