"""The result for a needed piece, as data. Names are public, in camel case in JSON.

Lists are cut after ``MOST`` items, texts after ``LONGEST`` characters; counts include everything.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from schema.kinds import ErrorType, VariableKind

MOST = 20
LONGEST = 500


class WhyNotPart(Struct, frozen=True, rename="camel", kw_only=True):
    """Base of these models: names in camel case in JSON."""


class Fate(StrEnum):
    """What an operation did to a unit in its inputs."""

    KEPT = "kept"
    REWRITTEN = "rewritten"
    DROPPED = "dropped"


class Held(WhyNotPart, frozen=True, kw_only=True):
    """A unit that held the piece and was current when the question's search began.

    Attributes:
        label: for people.
        quote: the words of the unit that show the piece.
        confidence: that the unit has the piece, 0 to 1.
        rank: in a search's ranking, from 1; None if not recorded.
        score: on the search's own scale; None if not recorded.
        returned: whether a search of the question returned the unit.
        operation_id: the search that returned or ranked the unit; None if none did.
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


class Returned(WhyNotPart, frozen=True, kw_only=True):
    """A result of a search of the question.

    Attributes:
        variable_id: the unit that was read; the search's own output is an occurrence of the unit.
        label: for people.
        text: the beginning of the value.
        rank: as in ``Held``.
        score: as in ``Held``.
        holds: whether the unit has the piece.
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


class Uncovered(WhyNotPart, frozen=True, kw_only=True):
    """A sentence of an extraction's input that no output covers.

    Attributes:
        variable_id: the message or other input with the sentence.
        is_piece: whether the sentence is the needed piece.
        nearest: the most similar text of the outputs; empty if there is none.
    """

    variable_id: str
    text: str
    is_piece: bool
    nearest: str


class Made(WhyNotPart, frozen=True, kw_only=True):
    """An output of an operation."""

    variable_id: str
    text: str


class Extraction(WhyNotPart, frozen=True, kw_only=True):
    """An extraction whose outputs lack the piece.

    Attributes:
        operation: name for people.
        sentences: the number of input sentences with content.
        uncovered: the input sentences that no output covers, the piece's first.
        facts: the outputs that others used.
    """

    operation_id: str
    operation: str
    sentences: int
    uncovered_count: int
    uncovered: list[Uncovered]
    facts: list[Made]


class ShownUnit(WhyNotPart, frozen=True, kw_only=True):
    """A unit in an update's inputs.

    Attributes:
        label: for people.
        fate: what the operation did to the unit.
        old: the text before; of a long text, the part around the piece or around the change.
        new: the text after, cut likewise; None if not rewritten.
        new_variable_id: the next version; None if there is none.
        held: whether the unit had the piece before the operation.
        holds: whether the unit has the piece after the operation.
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


class Change(WhyNotPart, frozen=True, kw_only=True):
    """An update or deletion that did not pass the piece on.

    Attributes:
        operation: name for people.
        given: words of inputs other than units, such as a message or a fact, that show the piece.
        candidates_count: the number of units in the inputs.
        candidates: first the units that held the piece, then dropped, rewritten and kept ones.
        added: new units that are no versions of candidates.
    """

    operation_id: str
    operation: str
    given: list[Made]
    candidates_count: int
    candidates: list[ShownUnit]
    added: list[Made]


class Stood(WhyNotPart, frozen=True, kw_only=True):
    """A place with the piece in a text that the answer was made from.

    Attributes:
        kind: of the read variable: a prompt, a context, a unit.
        label: for people.
        characters: the length of the whole value.
        offset: where the quote begins, in characters from 0.
        before: the text before the quote.
        after: the text after the quote.
    """

    variable_id: str
    kind: VariableKind
    label: str
    characters: int
    offset: int
    quote: str
    before: str
    after: str


class WhyNot(WhyNotPart, frozen=True, kw_only=True):
    """A piece that the answer needed, and what became of the piece.

    Attributes:
        piece: the sentence of the message that states it.
        message_id: of the message.
        message_label: of the message, for people.
        said_after: whether no operation used the message before the question's search, so that the memory could not
            have it.
        error_type: the free pass's result for the piece; None if the piece could not be followed.
        operation_id: the operation that lost the piece; None if unknown.
        operation: name of that operation, for people.
        reason: in words.
        confidence: of the free pass, 0 to 1.
        held_count: the number of units that held the piece and were current when the question's search began.
        held: those units, first by rank, then by confidence.
        considered: the number of units that the question's searches ranked; None if not recorded.
        returned_count: the number of returned units.
        returned: the returned units, by search and rank; without ranks in recorded order.
        extractions: the examined operations that extract.
        changes: the examined operations that update or delete.
        context: where the piece was in the inputs of the answering operation, or of one on the way to it; empty if it
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
    """The number of characters with which both texts begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
