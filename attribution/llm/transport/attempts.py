"""A request to a server within a budget, repeated if a repetition can help.

The client's own retries are off, because each attempt is charged to a budget separately. Waiting counts towards the
budget's seconds. The time limit is for the whole response, not for the next byte.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from attribution.llm.transport.budget import LlmBudget
from attribution.llm.transport.errors import LlmError, Problem
from attribution.llm.transport.faults import Fault, malformed, timed_out
from attribution.llm.transport.reply import Tokens
from attribution.llm.transport.settings import LlmSettings
from attribution.verdicts.usage import Usage

T = TypeVar("T")

Sleep = Callable[[float], Awaitable[None]]
Send = Callable[[float], Awaitable[str | Fault]]
"""Sends a request within some seconds; returns the body of the response, or the fault."""
Read = Callable[[str], tuple[T, Tokens | None]]
"""Reads the body of a response."""

_LONGEST_BACKOFF = 60.0
_LONGEST_WAIT = 300.0
"""Seconds. A server that asks for a longer wait is given up, because the run would seem to hang."""
_NO_CHARGE = Usage(calls=1)


@dataclass(frozen=True, slots=True)
class Request:
    """The body of a request, the most tokens that it can use, and the price of tokens."""

    send: Send
    estimate: Usage
    usage: Callable[[Tokens], Usage]


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """The result read from a response, and the response's body.

    Attributes:
        used: usage of the successful attempt.
        total: usage of all attempts.
    """

    found: T
    body: str
    used: Usage
    total: Usage


class Attempts:
    """Sends requests to one server, a limited number at a time."""

    def __init__(self, settings: LlmSettings, sleep: Sleep = asyncio.sleep) -> None:
        self._settings = settings
        self._sleep = sleep
        self._free = asyncio.Semaphore(settings.concurrency)

    async def run(self, request: Request, budget: LlmBudget, read: Read[T]) -> Answer[T]:
        """The answer to a request.

        Args:
            request: what to send.
            budget: is charged with every attempt.
            read: reads the body; raises ValueError for a malformed body.

        Raises:
            BudgetError: the next attempt could exceed the budget.
            LlmError: no attempt brought a usable answer.
        """
        attempt = 0
        total = Usage()
        while True:
            outcome, used = await self._attempt(request, budget, read)
            total += used
            if not isinstance(outcome, Fault):
                found, body = outcome
                return Answer(found, body, used, total)
            if not outcome.passing or attempt == self._settings.retries:
                raise outcome.error()
            await self._wait(attempt, outcome, budget)
            attempt += 1

    async def _attempt(self, request: Request, budget: LlmBudget, read: Read[T]) -> tuple[tuple[T, str] | Fault, Usage]:
        await self._take_turn(budget)
        try:
            with budget.charge(request.estimate) as charge:
                body = await self._body(request, budget)
                if isinstance(body, Fault):
                    charge.used = request.estimate if body.paid else _NO_CHARGE
                    return body, charge.used
                try:
                    found, tokens = read(body)
                except ValueError as error:
                    return malformed(error), charge.used
                if tokens is not None:
                    charge.used = request.usage(tokens)
                return (found, body), charge.used
        finally:
            self._free.release()

    async def _body(self, request: Request, budget: LlmBudget) -> str | Fault:
        left = budget.seconds_left
        seconds = self._settings.timeout if left is None else min(self._settings.timeout, left)
        try:
            async with asyncio.timeout(seconds):
                return await request.send(seconds)
        except TimeoutError:
            return timed_out(seconds)

    async def _take_turn(self, budget: LlmBudget) -> None:
        try:
            async with asyncio.timeout(budget.seconds_left):
                await self._free.acquire()
        except TimeoutError:
            raise budget.out_of_time() from None

    async def _wait(self, attempt: int, fault: Fault, budget: LlmBudget) -> None:
        # Full jitter over the upper half: requests that failed together are not repeated at the same time.
        backoff = min(self._settings.backoff * 2**attempt, _LONGEST_BACKOFF) * random.uniform(0.5, 1.0)  # noqa: S311
        seconds = backoff if fault.wait is None else max(fault.wait, backoff)
        left = budget.seconds_left
        if left is not None and seconds >= left:
            raise budget.out_of_time()
        if seconds > _LONGEST_WAIT:
            raise LlmError(Problem.STATUS, f"{fault.message}; it asks to wait {seconds:,.0f} s")
        await self._sleep(seconds)
