"""What is known of one conversation under some prompts: its answers, and why the wrong ones are wrong."""

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
    """One answer.

    Attributes:
        question, gold, answer: as texts; ``question_id`` is unique in its conversation.
        right: whether it was judged right.
        error_type: of a wrong answer, the verdict's; None for an abstention.
        operation: the name of the operation at fault.
        prompt: the name of the prompt that this operation used; None if none of the program's.
        reason: the verdict's, in words.
        quotes: what the evidence says.
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
    """The answers of one conversation; ``tokens`` and ``calls`` are what the program asked of models, kept or live."""

    user: str
    answers: tuple[Judged, ...]
    calls: int = 0
    tokens: int = 0

    @property
    def score(self) -> float:
        """The share of right answers; 0 where nothing was asked."""
        return sum(one.right for one in self.answers) / len(self.answers) if self.answers else 0.0


def candidate_id(prompts: Mapping[str, str]) -> str:
    """A hash of the texts of prompts, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(sorted(prompts.items())).encode()).hexdigest()[:16]


def keep(path: Path, found: Evaluated) -> None:
    """Keep it in a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, asdict(found))


def kept(path: Path) -> Evaluated | None:
    """What a file keeps; None if there is none."""
    if not path.exists():
        return None
    said: dict[str, Any] = json.loads(path.read_text("utf-8"))
    answers = tuple(
        Judged(**{**one, "gold": tuple(one["gold"]), "quotes": tuple(one["quotes"])}) for one in said.pop("answers")
    )
    return Evaluated(answers=answers, **said)
