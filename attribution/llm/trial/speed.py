"""How fast a model reads and writes."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from attribution.llm.transport.dialect import Dialect
from attribution.llm.trial.asking import Asking, Timed

_FEW, _MANY = 60, 300
"""Numbers in the prompt of the measurement: of a slow server, and of a quick one."""
_QUICK = 2.0
"""Seconds of a first short reply."""
_LONGEST_REPLY = 8
_LEAST_TOKENS = 5
"""A rate of writing needs a reply of so many tokens."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Rates in tokens a second, as seen from here: with the network, and with all others that use the server.

    Attributes:
        output: None if all replies of the trial were too short to measure it.
    """

    input: float
    output: float | None

    def seconds(self, input_tokens: int, output_tokens: int) -> float:
        """How long a call with so many tokens takes."""
        return input_tokens / self.input + output_tokens / (self.output or self.input)


async def measure_speed(asking: Asking, dialect: Dialect, replies: Iterable[Timed]) -> Speed:
    """Measure with one more request, whose prompt no server can have read before.

    Args:
        asking: the model.
        dialect: a dialect that the server understands.
        replies: earlier replies, of which the longest gives the rate of writing.

    Raises:
        LlmError: the server gave no answer in time.
        BudgetError: the budget of a run is spent.
    """
    replies = list(replies)
    is_quick = min(one.seconds for one in replies) < _QUICK
    numbers = " ".join(str(random.randrange(100, 1_000)) for _ in range(_MANY if is_quick else _FEW))  # noqa: S311
    read = await asking.ask(dialect, f"{numbers}\n\nSay yes.", reply_tokens=_LONGEST_REPLY)
    longest = max(replies, key=lambda one: one.tokens.output)
    rate = read.tokens.input / max(read.seconds, 1e-3)
    output = None
    if longest.tokens.output >= _LEAST_TOKENS:
        # Reading takes a share of both requests. A second step is enough, since the first reply is short.
        for _ in range(2):
            writing = max(longest.seconds - longest.tokens.input / rate, longest.seconds / 10)
            output = longest.tokens.output / max(writing, 1e-3)
            reading = max(read.seconds - read.tokens.output / output, read.seconds / 10)
            rate = read.tokens.input / max(reading, 1e-3)
    return Speed(rate, output)
