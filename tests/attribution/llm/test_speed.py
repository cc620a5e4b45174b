"""The measurement of a model's speed: how much it asks, and the rates that follow from the times of replies."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from attribution.llm.trial.asking import Timed
from attribution.llm.trial.speed import Speed, measure_speed


def timed(input_tokens: int, output_tokens: int, seconds: float) -> Timed:
    """A reply."""
    return Timed(cast("Any", None), cast("Any", SimpleNamespace(input=input_tokens, output=output_tokens)), seconds)


class Model:
    """Answers the measurement, and keeps what it was asked."""

    def __init__(self, answer: Timed) -> None:
        self._answer = answer
        self.asked: list[tuple[int, int | None]] = []

    async def ask(self, dialect: object, text: str, *, reply_tokens: int | None = None) -> Timed:
        """The reply; counts the numbers of the prompt."""
        numbers, end = text.split("\n\n")
        assert end == "Say yes."
        self.asked.append((len(numbers.split()), reply_tokens))
        return self._answer


@pytest.mark.parametrize(("seconds", "numbers"), [((1.9, 9.0), 300), ((9.0, 1.9), 300), ((2.0, 9.0), 60), ((2.1,), 60)])
async def test_a_server_with_one_quick_reply_is_asked_more(seconds: tuple[float, ...], numbers: int) -> None:
    model = Model(timed(1_000, 1, 1.0))
    await measure_speed(cast("Any", model), cast("Any", None), [timed(10, 2, one) for one in seconds])
    assert model.asked == [(numbers, 8)]


@pytest.mark.parametrize(
    ("replies", "rates"),
    [
        ([timed(10, 4, 3.0)], (1_000.0, None)),
        ([timed(0, 5, 3.0)], (2_500.0, 5 / 3)),
        ([timed(10, 2, 3.0), timed(0, 30, 3.0)], (1_000 / 0.9, 10.0)),
    ],
)
async def test_rates(replies: list[Timed], rates: tuple[float, float | None]) -> None:
    read = timed(1_000, 1, 1.0)
    found = await measure_speed(cast("Any", Model(read)), cast("Any", None), replies)
    assert (found.input, found.output) == pytest.approx(rates)


def test_seconds_of_a_call() -> None:
    assert Speed(100.0, 10.0).seconds(200, 30) == 5.0
    assert Speed(100.0, None).seconds(200, 30) == 2.3
