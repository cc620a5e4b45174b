"""What ``attribution.blame.rank`` returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class By(StrEnum):
    """What is ranked; by name, all operations of one name are one."""

    NAME = "name"
    OPERATION = "operation"
    PROMPT = "prompt"
    UNIT = "unit"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Blamed:
    """An element with its blame.

    Attributes:
        id: of the element; of prompts with equal text, the id of the first used one; of operations with one name, the
            id of the first that is blamed.
        name: for people; not unique.
        trace_id: the trace of the element.
        failed: the sum, over the failures blamed on the element, of the verdicts' confidence.
        passed: the number of right answers that depend on the element.
        score: Ochiai's coefficient, from 0 to 1.
    """

    id: str
    name: str
    trace_id: str
    failed: float
    passed: int
    score: float
