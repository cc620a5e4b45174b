"""Hard limits on what an attribution or a run may spend.

A call is charged in advance with an upper estimate, and settled with the usage that the server reports. A call that
could exceed a limit is not made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from attribution.llm.transport.errors import BudgetError
from attribution.verdicts.usage import Usage

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that may be spent; None means no limit.

    Attributes:
        tokens: input and output together.
        calls: sent requests, failed ones included.
        seconds: since the budget was made.
        cost: in the currency of the prices.
    """

    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None
    cost: float | None = None


class Charge:
    """The charge of a call until it is settled: an upper estimate, unless the true usage is set."""

    def __init__(self, estimate: Usage) -> None:
        self.used = estimate


class LlmBudget:
    """Keeps count of usage under limits. A parent budget is charged with the same calls, and its limits hold, too.

    Attributes:
        limits: the most that may be spent.
        scope: the name of the budget in messages.
        spent: what was used under the limits.
        beside: what was used for this budget's sake without counting for its limits: for controls of a model.
    """

    def __init__(
        self,
        limits: Limits,
        scope: str = "case",
        parent: LlmBudget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits = limits
        self.scope = scope
        self.spent = Usage()
        self.beside = Usage()
        self._under_way: list[Usage] = []
        self._parent = parent
        self._clock = clock
        self._start = clock()

    @property
    def used(self) -> Usage:
        """What was used in all."""
        return self.spent + self.beside

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the nearest time limit, at least 0; None without a time limit."""
        own = None if self.limits.seconds is None else self._start + self.limits.seconds - self._clock()
        above = self._parent.seconds_left if self._parent else None
        left = [seconds for seconds in (own, above) if seconds is not None]
        return max(min(left), 0.0) if left else None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let no seconds of this budget pass, for work that others need as well."""
        before = self._clock()
        try:
            yield
        finally:
            self._start += self._clock() - before

    def allows(self, wanted: Usage) -> bool:
        """Whether this much more may be spent under all limits."""
        try:
            for budget in self._chain():
                budget.check(wanted)
        except BudgetError:
            return False
        return True

    @property
    def calls_left(self) -> int | None:
        """The number of calls that may still be made; None without a limit."""
        return None if self.limits.calls is None else max(self.limits.calls - self.spent.calls, 0)

    @property
    def tokens_left(self) -> int | None:
        """The number of tokens that may still be used under all limits; None without a limit."""
        own = None if self.limits.tokens is None else self.limits.tokens - _tokens(self._charged())
        above = self._parent.tokens_left if self._parent else None
        left = [tokens for tokens in (own, above) if tokens is not None]
        return max(min(left), 0) if left else None

    @contextmanager
    def charge(self, estimate: Usage) -> Iterator[Charge]:
        """Charge a call while it runs. If its true usage stays unknown, it is settled with the estimate.

        Raises:
            BudgetError: the estimate could exceed a limit; nothing was charged.
        """
        chain = self._chain()
        for budget in chain:
            budget.check(estimate)
        for budget in chain:
            budget._under_way.append(estimate)
        charge = Charge(estimate)
        try:
            yield charge
        finally:
            for budget in chain:
                budget._under_way.remove(estimate)
                budget.spent += charge.used

    def replay(self, used: Usage) -> None:
        """Count a call that an earlier run paid for, so that the limits of a failure also hold after a restart.

        The parent is not charged, because nothing is paid now.

        Raises:
            BudgetError: the call exceeds the budget.
        """
        self.check(used)
        self.spent += used

    def check(self, wanted: Usage) -> None:
        """Check that a call stays within this budget's limits.

        Raises:
            BudgetError: the call could exceed a limit.
        """
        charged, limits = self._charged(), self.limits
        if limits.seconds is not None and (passed := self._clock() - self._start) >= limits.seconds:
            raise self.exceeded("seconds", passed)
        if limits.calls is not None and charged.calls + wanted.calls > limits.calls:
            raise self.exceeded("calls", charged.calls)
        if limits.tokens is not None and _tokens(charged) + _tokens(wanted) > limits.tokens:
            raise self.exceeded("tokens", _tokens(charged))
        if limits.cost is not None and charged.cost + wanted.cost > limits.cost + _ROUNDING:
            raise self.exceeded("cost", charged.cost)

    def out_of_time(self) -> BudgetError:
        """The error for an exceeded time limit."""
        chain = [budget for budget in self._chain() if budget.limits.seconds is not None]
        nearest = min(chain, key=lambda budget: budget._start + (budget.limits.seconds or 0.0))
        return nearest.exceeded("seconds", nearest._clock() - nearest._start)

    def exceeded(self, kind: str, spent: float) -> BudgetError:
        """The error for an exceeded limit of this budget."""
        return BudgetError(self.scope, kind, getattr(self.limits, kind), spent)

    def _charged(self) -> Usage:
        return sum(self._under_way, self.spent)

    def _chain(self) -> list[LlmBudget]:
        return [self, *(self._parent._chain() if self._parent else ())]


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens
