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

USUAL: dict[Method, Usage] = {
    Method.AUTO: Usage(6_000, 500, 4),
    Method.LLM: Usage(30_000, 1_500, 8),
    Method.ONESHOT: Usage(25_000, 400, 1),
}
"""Medians; docs/models.md says how they were measured."""


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
    for method, usual in USUAL.items():
        given = own.get(method)
        if given:
            tokens = round(median(one.tokens or 0 for one in given))
            seconds: float | None = median(one.seconds or 0.0 for one in given)
            cost = median(one.cost or 0.0 for one in given)
        else:
            tokens = usual.input_tokens + usual.output_tokens
            seconds = None if speed is None else speed.seconds(usual.input_tokens, usual.output_tokens)
            cost = settings.usage(usual.input_tokens, usual.output_tokens).cost
        found.append(FailureCost(method, tokens, seconds, cost if has_prices else None, len(given or ())))
    return found
