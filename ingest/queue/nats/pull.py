"""Asks a consumer for messages: for those that are there, or else for the first one that comes.

The client's own ``fetch`` waits for a whole batch if only a part of it is there. What it stops waiting for may still be
handed out. Both take seconds under load.
"""

from __future__ import annotations

import json
import time

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import TimeoutError as NatsTimeoutError

from ingest.queue.nats.connection import ANSWER_SECONDS
from schema.errors import StoreError

_NEXT = "$JS.API.CONSUMER.MSG.NEXT"
_HEARTBEAT = "100"
_NONE = {"404", "408"}
"""No messages; the time of the request is over."""


class Pull:
    """The messages of one consumer, for one process."""

    def __init__(self, client: Client, stream: str, consumer: str) -> None:
        self._client = client
        self._subject = f"{_NEXT}.{stream}.{consumer}"
        self._inbox = client.new_inbox()
        self._subscription: Subscription | None = None

    async def take(self, count: int, seconds: float) -> list[Msg]:
        """Messages that are there; otherwise the first one within some seconds, with what came with it.

        Raises:
            StoreError: the consumer is gone, or the server refuses.
            nats.errors.Error: the server does not answer.
        """
        if self._subscription is None:
            self._subscription = await self._client.subscribe(self._inbox)
        # Messages that came after the waiting had ended.
        found = await self._collect(min(count, self._subscription.pending_msgs), 0.0) if self._is_waiting() else []
        found += await self._now(count - len(found))
        if found:
            return found
        await self._ask({"batch": 1, "expires": int(seconds * 1e9)})
        found = await self._collect(1, seconds + ANSWER_SECONDS)
        return found + await self._now(count - 1) if found else []

    async def close(self) -> None:
        """Stop listening; messages that are on their way are handed out again after a while."""
        if self._subscription is not None and not self._client.is_closed:
            await self._subscription.unsubscribe()

    def _is_waiting(self) -> bool:
        return self._subscription is not None and self._subscription.pending_msgs > 0

    async def _now(self, count: int) -> list[Msg]:
        if count <= 0:
            return []
        await self._ask({"batch": count, "no_wait": True})
        return await self._collect(count, ANSWER_SECONDS)

    async def _ask(self, request: dict[str, object]) -> None:
        await self._client.publish(self._subject, json.dumps(request).encode(), reply=self._inbox)

    async def _collect(self, count: int, seconds: float) -> list[Msg]:
        """Messages until there are enough, or the server says that there are no more.

        Raises:
            StoreError: the server refuses.
            nats.errors.TimeoutError: neither comes, and no message has come.
        """
        assert self._subscription is not None
        found: list[Msg] = []
        deadline = time.monotonic() + seconds
        while len(found) < count:
            try:
                message = await self._subscription.next_msg(timeout=max(0.001, deadline - time.monotonic()))
            except NatsTimeoutError:
                if found or not seconds:
                    break
                raise
            status = _status(message)
            if status is None:
                found.append(message)
            elif status in _NONE:
                break
            elif status != _HEARTBEAT:
                raise StoreError(f"NATS: {status} {(message.headers or {}).get('Description', '')}".strip())
        return found


def _status(message: Msg) -> str | None:
    """The status that a message without content tells; None of one with content."""
    return None if message.data or not message.headers else message.headers.get("Status")
