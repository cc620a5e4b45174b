"""Runs an attribution by a model, and turns expected errors into abstentions."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Any

from attribution.llm.agent.prompt import prompt_hashes
from attribution.llm.agent.view import FailureView
from attribution.llm.transport.budget import LlmBudget
from attribution.llm.transport.errors import LlmError, Problem
from attribution.verdicts.verdict import Verdict, abstention, failed_attempt
from schema.errors import MemTraceError


async def verdict_or_abstention(
    work: Awaitable[Verdict],
    view: FailureView,
    budget: LlmBudget,
    model: str,
    prompts: Sequence[str],
    details: dict[str, Any],
) -> Verdict:
    """The verdict of ``work`` with usage; an abstention if an expected error ends the work.

    Args:
        work: finds the verdict.
        view: the failure.
        budget: everything that is spent of it counts as the verdict's usage.
        model: the name of the model.
        prompts: names of the used prompts.
        details: further details of the verdict, filled by ``work``.
    """
    start = time.monotonic()
    try:
        verdict = await work
    except MemTraceError as error:
        is_unread = isinstance(error, LlmError) and error.kind is Problem.UNREADABLE
        verdict = failed_attempt(str(error)) if is_unread else abstention(str(error))
    kept = {
        "prompts": prompt_hashes(*prompts),
        "evidence": list(view.evidence),
        "gold": bool(view.failure.gold_answers),
    }
    return replace(
        verdict,
        model=model,
        usage=budget.used,
        seconds=time.monotonic() - start,
        details=verdict.details | kept | details,
    )
