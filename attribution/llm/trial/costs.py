"""What one failure will take with each method that asks a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from attribution.llm.transport.settings import LlmSettings
from attribution.llm.trial.speed import Speed
from attribution.verdicts.usage import Usage
from attribution.verdicts.verdict import Method
from schema.models import Attribution

USUAL: dict[str, Usage] = {
    Method.WALK: Usage(250, 33, 1),
    Method.AUTO: Usage(34_000, 1_000, 8),
    Method.LLM: Usage(33_000, 1_000, 8),
    Method.ONESHOT: Usage(31_000, 500, 1),
}
"""Tokens and calls of a failure that needs a model; docs/models.md says how they were measured."""


@dataclass(frozen=True, slots=True)
class FailureCost:
    """The tokens, time and money of one failure with one method.

    Attributes:
        tokens: of prompts and replies.
        seconds: None if the speed is unknown.
        cost: None without prices.
        verdicts: number of this model's verdicts in the project whose medians are given; 0 for an estimate from the
            usual numbers of tokens and the measured speed.
    """

    method: Method
    tokens: int
    seconds: float | None
    cost: float | None
    verdicts: int


def costs_of(settings: LlmSettings, speed: Speed | None, verdicts: Iterable[Attribution]) -> list[FailureCost]:
    """The cost of a failure with each method.

    Args:
        settings: of the model; its prices count.
        speed: as measured.
        verdicts: of the project; verdicts by other models are left out.
    """
    own: dict[str, list[Attribution]] = {}
    for one in verdicts:
        if one.model == settings.model and one.tokens:
            own.setdefault(one.method, []).append(one)
    has_prices = settings.input_price is not None and settings.output_price is not None
    found = []
    for method in Method:
        given, usual = own.get(method), USUAL.get(method)
        if given:
            tokens = round(median(one.tokens or 0 for one in given))
            seconds: float | None = median(one.seconds or 0.0 for one in given)
            cost = median(one.cost or 0.0 for one in given)
        elif usual:
            read, written = _within_context(method, usual, settings), usual.output_tokens
            tokens = read + written
            seconds = None if speed is None else speed.seconds(read, written)
            cost = settings.usage(read, written).cost
        else:
            continue
        found.append(FailureCost(method, tokens, seconds, cost if has_prices else None, len(given or ())))
    return found


def _within_context(method: Method, usual: Usage, settings: LlmSettings) -> int:
    """The tokens of the prompts: of a log that is longer than the model's context, only the end is sent."""
    room = settings.context_tokens - settings.reply_tokens
    return min(usual.input_tokens, room) if method is Method.ONESHOT else usual.input_tokens
