"""Takes the messages that a consumer has, or waits for the next message if there are none.

The client's own ``fetch`` waits for a full batch, although some messages are there. After its timeout, the server may
still deliver messages to a request that nobody reads. Both cost seconds under load.
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
"""Status codes: no messages; timeout of the request."""


class Pull:
    """Takes messages of one consumer."""

    def __init__(self, client: Client, stream: str, consumer: str) -> None:
        self._client = client
        self._subject = f"{_NEXT}.{stream}.{consumer}"
        self._inbox = client.new_inbox()
        self._subscription: Subscription | None = None

    async def take(self, count: int, seconds: float) -> list[Msg]:
        """Up to ``count`` messages that are there; else waits at most ``seconds`` for the next messages.

        Raises:
            StoreError: the consumer is gone, or the server refuses.
            nats.errors.Error: the server does not answer.
        """
        if self._subscription is None:
            self._subscription = await self._client.subscribe(self._inbox)
        # First the messages that came after an earlier wait had ended.
        waiting = self._subscription.pending_msgs
        found = await self._collect(min(count, waiting), 0.0) if waiting > 0 else []
        found += await self._now(count - len(found))
        if found:
            return found
        await self._ask({"batch": 1, "expires": int(seconds * 1e9)})
        found = await self._collect(1, seconds + ANSWER_SECONDS)
        return found + await self._now(count - 1) if found else []

    async def close(self) -> None:
        """Stop listening; the server hands messages on their way out again after a while."""
        if self._subscription is not None and not self._client.is_closed:
            await self._subscription.unsubscribe()

    async def _now(self, count: int) -> list[Msg]:
        if count <= 0:
            return []
        await self._ask({"batch": count, "no_wait": True})
        return await self._collect(count, ANSWER_SECONDS)

    async def _ask(self, request: dict[str, object]) -> None:
        await self._client.publish(self._subject, json.dumps(request).encode(), reply=self._inbox)

    async def _collect(self, count: int, seconds: float) -> list[Msg]:
        """Messages until ``count`` have come, or the server says that there are no more.

        Raises:
            StoreError: the server refuses.
            nats.errors.TimeoutError: the server sent nothing.
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
    return None if message.data or not message.headers else message.headers.get("Status")
