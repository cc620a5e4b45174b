"""The proposal of a model: an error type, an operation, where it saw each piece of what was needed and where not."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from schema.kinds import ErrorType


def _probability(value: float) -> float:
    # Not a constraint of the field: strict servers take no bounds in a schema.
    if not 0 <= value <= 1:
        raise ValueError("must be from 0 to 1")
    return value


def _plain(text: str) -> str:
    return "".join(character for character in text if character.isprintable() or character in "\n\t")


Probability = Annotated[float, AfterValidator(_probability)]
PlainText = Annotated[str, AfterValidator(_plain)]


class CitedStep(BaseModel):
    """A variable where the needed detail is, or should be and is not."""

    model_config = ConfigDict(extra="forbid")

    variable: str
    quote: str
    holds: bool


class ProposedPiece(BaseModel):
    """Where one piece of what the answer needed ended; the first step quotes the message that tells it.

    Without an error type it reached the answer, or the model can't tell.
    """

    model_config = ConfigDict(extra="forbid")

    error_type: ErrorType | None
    operation: str | None
    reached: bool
    confidence: Probability
    reason: PlainText
    steps: list[CitedStep]


class Alternative(BaseModel):
    """Another explanation that was considered."""

    model_config = ConfigDict(extra="forbid")

    error_type: ErrorType
    operation: str | None
    confidence: Probability
    reason: PlainText


class Proposal(BaseModel):
    """A verdict that is not checked yet; without an error type it is an abstention."""

    model_config = ConfigDict(extra="forbid")

    error_type: ErrorType | None
    operation: str | None = None
    confidence: Probability
    reason: PlainText
    steps: list[CitedStep] = []
    alternatives: list[Alternative] = []
    pieces: list[ProposedPiece] = []
