"""How many operations of one principal are answered at the same time.

An answer may have megabytes, and as many more are read from the store for it. Without a bound, a client that asks for
many such answers at once makes the server hold all of them; and the loop has no time for others when all are ready.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from weakref import WeakValueDictionary

from api.turns import Turns

AT_ONCE = 8
"""Operations of a principal that are answered at the same time."""

LONG_WAITS = "whyNot"
"""Operations with this field may wait for a child process, so they are counted apart."""

until_sent: ContextVar[AsyncExitStack | None] = ContextVar("until_sent", default=None)
"""What an operation on a websocket holds until its answer is sent; None over HTTP, where answers wait on the disk."""


class Answering:
    """Turns of the operations of each principal."""

    def __init__(self) -> None:
        self._turns = Turns(AT_ONCE)
        self._sending: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, actor: str, text: str) -> AsyncIterator[None]:
        """Hold a place while an operation is answered.

        Args:
            actor: the principal.
            text: the document.
        """
        held = until_sent.get()
        if held is not None:
            # The client may read slowly, so the next answer for a websocket is made when this one is sent.
            sending = self._sending.setdefault(actor, asyncio.Lock())
            await held.enter_async_context(sending)
            held.callback(lambda: sending)  # keeps the lock known for as long as it is held
        async with self._turns.turn((actor, LONG_WAITS in text)):
            yield
