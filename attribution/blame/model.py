"""What ``attribution.blame.rank`` ranks, and what it says of each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class By(StrEnum):
    """What is ranked."""

    OPERATION = "operation"
    PROMPT = "prompt"
    UNIT = "unit"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Blamed:
    """An element and the harm that it did.

    Attributes:
        id: of the element; of prompts with equal text, that of the first that was used.
        name: what people know it by; several may have the same.
        trace_id: the trace that it is in.
        failed: the failures that it is blamed for, each weighted by the confidence of its verdict.
        passed: the right answers that rest on it.
        score: Ochiai's coefficient, from 0 to 1.
    """

    id: str
    name: str
    trace_id: str
    failed: float
    passed: int
    score: float
