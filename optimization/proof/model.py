"""The proof of a verdict, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import msgspec

from schema.damage import reading_stored
from schema.models import Attribution, camel_case, format_time


class Result(StrEnum):
    """PROVED: correcting the operation makes the answer right; REFUTED: it does not; UNSETTLED: unknown."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNSETTLED = "unsettled"


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first call in which two runs differ.

    Attributes:
        call: identity of the call.
        given: beginning of the call's arguments.
    """

    call: str
    given: str


@dataclass(frozen=True, slots=True)
class Spent:
    """Cost of replays: runs, live model calls with their tokens and cost (None without prices), and seconds."""

    runs: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0

    def plus(self, other: Spent) -> Spent:
        """The sum."""
        costs = [one for one in (self.cost, other.cost) if one is not None]
        return Spent(
            self.runs + other.runs,
            self.calls + other.calls,
            self.tokens + other.tokens,
            sum(costs) if costs else None,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of replaying with one operation corrected.

    Attributes:
        operation_id: the corrected operation; None if the verdict blames none.
        correction: the correction in words.
        p0: share of right answers without the correction; None without draws.
        p1: share of right answers with the correction; None without draws.
        draws: number of runs with the correction.
        null_draws: number of runs without the correction.
        p: probability of this difference if the correction has no effect (Fisher, one-sided).
        interval: 95 % interval of ``p1 - p0``.
        placebo: whether the placebo made the answer right; None if there is no placebo.
        answer: answer of the first run with the correction.
        first_divergence: the first call that the correction changed, or that differs in the null replay.
        confidence_before: confidence of the verdict before the replay.
        refuted: refuted explanations of the verdict, each with ``operationId``, ``errorType`` and ``reason``.
    """

    result: Result
    reason: str
    operation_id: str | None = None
    correction: str | None = None
    draws: int = 0
    null_draws: int = 0
    p0: float | None = None
    p1: float | None = None
    p: float | None = None
    interval: tuple[float, float] | None = None
    placebo: bool | None = None
    answer: str | None = None
    first_divergence: Divergence | None = None
    confidence_before: float | None = None
    refuted: tuple[dict[str, Any], ...] = ()
    spent: Spent = field(default_factory=Spent)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def as_json(self) -> dict[str, Any]:
        """The proof as public JSON."""
        divergence, spent = self.first_divergence, self.spent
        plain = {
            camel_case(name): getattr(self, name)
            for name in (
                "result", "reason", "operation_id", "correction", "draws", "null_draws", "p0", "p1", "p", "placebo",
                "answer", "confidence_before",
            )
        }  # fmt: skip
        return plain | {
            "interval": None if self.interval is None else list(self.interval),
            "firstDivergence": None if divergence is None else {"call": divergence.call, "given": divergence.given},
            "refuted": list(self.refuted),
            "runs": spent.runs,
            "calls": spent.calls,
            "tokens": spent.tokens,
            "cost": spent.cost,
            "seconds": round(spent.seconds, 3),
            "createdAt": format_time(self.created_at),
        }

    def encoded(self) -> str:
        """The proof as it is stored."""
        return msgspec.json.encode(self.as_json()).decode()


def proof_of(verdict: Attribution) -> dict[str, Any] | None:
    """The stored proof of a verdict as public JSON; None if the verdict was not replayed."""
    with reading_stored(f"proof of verdict {verdict.id}"):
        return None if verdict.proof is None else msgspec.json.decode(verdict.proof, type=dict[str, Any])
