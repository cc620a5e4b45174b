"""Judgements for the trial of a failure where words, numbers and dates alone don't decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.rules import Finding


class Eyes(Protocol):
    """Changes the likelihoods of findings. A judgement that can't be had leaves them as they are."""

    async def on_answer(self, tried: TriedFailure, findings: Sequence[Finding]) -> list[Finding]:
        """The findings about the answer, after a judgement whether it says what the gold answer says."""
        ...

    async def on_gold(self, tried: TriedFailure, findings: Sequence[Finding]) -> list[Finding]:
        """The findings, after a judgement whether messages support the gold answer."""
        ...

    async def on_piece(self, traced: FailureInTrace) -> bool:
        """Judge which texts have the piece, and tell ``traced``; whether anything changed."""
        ...

    async def on_steps(self, traced: FailureInTrace, findings: Sequence[Finding]) -> list[Finding]:
        """The findings, after a judgement which of their operations dropped the piece."""
        ...
