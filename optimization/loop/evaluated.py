"""The evaluation of one conversation with some prompts: its answers, and verdicts on the wrong answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from optimization.harness.folder import write


@dataclass(frozen=True, slots=True)
class Judged:
    """A judged answer, with the verdict if it is wrong.

    Attributes:
        question_id: unique in the conversation.
        question, gold, answer: texts.
        right: whether the answer was judged right.
        error_type: error type of the verdict; None for an abstention.
        operation: name of the operation at fault.
        prompt: name of the program's prompt that this operation used; None if it used none.
        reason: reason of the verdict, in words.
        quotes: the messages of the evidence.
    """

    question_id: str
    question: str
    gold: tuple[str, ...]
    answer: str
    right: bool
    error_type: str | None = None
    operation: str | None = None
    prompt: str | None = None
    reason: str = ""
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The answers of one conversation; ``tokens`` and ``calls`` count the program's model calls, kept or live."""

    user: str
    answers: tuple[Judged, ...]
    calls: int = 0
    tokens: int = 0

    @property
    def score(self) -> float:
        """The share of right answers; 0 without questions."""
        return sum(one.right for one in self.answers) / len(self.answers) if self.answers else 0.0


def candidate_id(prompts: Mapping[str, str]) -> str:
    """A hash of the texts of prompts, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(sorted(prompts.items())).encode()).hexdigest()[:16]


def keep(path: Path, found: Evaluated) -> None:
    """Write an evaluation to a file, completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, asdict(found))


def kept(path: Path) -> Evaluated | None:
    """Read an evaluation from a file; None if the file does not exist."""
    if not path.exists():
        return None
    said: dict[str, Any] = json.loads(path.read_text("utf-8"))
    answers = tuple(
        Judged(**{**one, "gold": tuple(one["gold"]), "quotes": tuple(one["quotes"])}) for one in said.pop("answers")
    )
    return Evaluated(answers=answers, **said)
