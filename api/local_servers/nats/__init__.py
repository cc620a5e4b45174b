"""A NATS server with JetStream on this machine, from a package alone.

Needs the extra ``nats-local``; without it, importing this package raises ``MissingExtraError``.
"""

from __future__ import annotations

from api.local_servers.nats.errors import LocalNatsError, MissingExtraError

try:
    from api.local_servers.nats.process import server_binary
    from api.local_servers.nats.server import LocalNats, RunningNats
except ModuleNotFoundError as error:
    raise MissingExtraError(error.name) from error

__all__ = [
    "LocalNats",
    "LocalNatsError",
    "MissingExtraError",
    "RunningNats",
    "server_binary",
]
