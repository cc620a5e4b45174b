"""What the story of a wrong answer is made from: the failure, the verdict on it, and the way of the needed words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.report.story_model import At


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the path that proves a verdict.

    Attributes:
        holds: whether the variable has the needed words; ``quote``: those words.
        kind: of the variable; None if the variable is gone.
        value: the beginning of the variable's value.
        variable: name of the variable, for people.
        operation: the operation that made the variable.
        time: as in ``Card``; for a message that tells its day, that day.
    """

    holds: bool
    quote: str
    kind: str | None
    value: str
    variable_id: str | None = None
    variable: str = ""
    operation: At | None = None
    time: str | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """What became of the needed words in the searches of a question.

    Attributes:
        returned: what they returned: each unit's text, rank, score.
        held: the units with the needed words that they did not return, in the same way.
        considered: the number of rated units; None if not recorded.
        returned_count: the number of returned units.
    """

    returned: Sequence[tuple[str, int | None, float | None]]
    held: Sequence[tuple[str, int | None, float | None]]
    considered: int | None
    returned_count: int


@dataclass(frozen=True, slots=True)
class Told:
    """What a story is made from: a failure, and the verdict on it.

    Attributes:
        piece: the needed words as the message has them; empty if the verdict follows none.
        path: the way of the piece.
        search: for a piece that a search lost, if it is known.
    """

    prediction: str | None
    gold_answers: Sequence[str]
    error_type: str | None
    reason: str | None
    operation: At | None
    piece: str
    path: Sequence[Step]
    search: Search | None = None

    @property
    def lost_at(self) -> int | None:
        """The index of the step that lost the piece, if any; of several, that of the verdict's operation."""
        path = self.path
        lost = [at for at in range(1, len(path)) if path[at - 1].holds and not path[at].holds]
        blamed = [at for at in lost if self.operation is not None and path[at].operation == self.operation]
        return next(iter(blamed or lost), None)

    @property
    def had(self) -> Step | None:
        """The last step that has the piece."""
        return self.path[(self.lost_at or len(self.path)) - 1] if self.path else None

    @property
    def answer(self) -> str:
        """The answer."""
        return self.prediction or "nothing"

    @property
    def gold(self) -> str:
        """All gold answers."""
        return " / ".join(self.gold_answers)
