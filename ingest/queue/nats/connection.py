"""A connection to NATS, and the translation of its errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog
from nats.aio.client import Client
from nats.errors import Error
from nats.js.errors import APIError

from schema.errors import QueueFullError, StoreError

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 5.0
FULL = {10023, 10047, 10077, 10122}
"""JetStream's error codes: insufficient resources; storage exceeded; maximum bytes or messages of a stream."""

_log = structlog.get_logger("memtrace.nats")


@dataclass(frozen=True, slots=True)
class NatsPlace:
    """Address and login of NATS.

    Attributes:
        servers: ``nats://host:port`` or ``tls://host:port``; for a cluster several, with commas.
        user, password: None if the servers need no login.
    """

    servers: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)


async def connect(place: NatsPlace) -> Client:
    """Connect and stay connected: the client reopens a broken connection, without a time limit.

    Raises:
        StoreError: no server answers, or user or password is wrong.
    """

    async def broken(error: Exception) -> None:
        _log.warning("NATS", problem=type(error).__name__)

    async def lost() -> None:
        if not client.is_closed and not client.is_draining:
            _log.warning("the connection to NATS is lost")

    async def back() -> None:
        _log.info("the connection to NATS is back")

    client = Client()
    servers = [server.strip() for server in place.servers.split(",") if server.strip()]
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            await client.connect(
                servers,
                user=place.user,
                password=place.password,
                name="memtrace",
                connect_timeout=int(CONNECT_SECONDS),
                reconnect_time_wait=1,
                max_reconnect_attempts=-1,
                error_cb=broken,
                disconnected_cb=lost,
                reconnected_cb=back,
            )
            return client
    except (Error, OSError, TimeoutError) as error:
        why = "user or password is wrong" if "uthorization" in str(error) else _why(error)
        raise StoreError(f"NATS at {', '.join(servers)} can't be reached: {why}") from None


@contextmanager
def translated() -> Iterator[None]:
    """Translate errors of NATS into those of the platform.

    Raises:
        QueueFullError: there is no room.
        StoreError: the queue can't be used.
    """
    try:
        yield
    except APIError as error:
        if error.err_code in FULL:
            raise QueueFullError from error
        raise StoreError(f"NATS: {error.description}") from error
    except json.JSONDecodeError as error:
        raise StoreError("NATS: an answer that is none") from error
    except (Error, OSError, TimeoutError) as error:
        raise StoreError(f"NATS: {_why(error)}") from error


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
