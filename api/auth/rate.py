"""Rate limits of principals, and of addresses without a valid key."""

from __future__ import annotations

import time

from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from api.errors import RateLimitedError


class RateLimit:
    """A limit of requests for each of many callers, over a sliding window; each process counts for itself.

    Each caller has a counter, not a list of times: a limit of a million a day then costs no more than ten a minute.
    """

    def __init__(self, rate: str) -> None:
        """Make a limit that nobody has used yet.

        Args:
            rate: such as ``600/minute``.
        """
        self._item: RateLimitItem = parse(rate)
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())

    async def hit(self, caller: str) -> None:
        """Count a request.

        Raises:
            RateLimitedError: the limit is used up; this request is not counted.
        """
        if not await self._limiter.hit(self._item, caller):
            raise await self._refusal(caller)

    async def check(self, caller: str) -> None:
        """Refuse a caller who has used up the limit, without counting.

        Raises:
            RateLimitedError: the limit is used up.
        """
        if not await self._limiter.test(self._item, caller):
            raise await self._refusal(caller)

    async def _refusal(self, caller: str) -> RateLimitedError:
        stats = await self._limiter.get_window_stats(self._item, caller)
        return RateLimitedError(max(0.0, stats.reset_time - time.time()))
