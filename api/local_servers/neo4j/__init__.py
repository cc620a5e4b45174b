"""Neo4j without Docker: a real Community server on this machine, from packages alone.

Needs the extra `neo4j-local`; without it, importing this package raises `MissingExtraError`.
"""

from __future__ import annotations

from api.local_servers.neo4j.errors import LocalNeo4jError, MissingExtraError, RegistryError

try:
    from api.local_servers.neo4j.distribution import DEFAULT_VERSION, Progress, default_cache
    from api.local_servers.neo4j.home import default_home
    from api.local_servers.neo4j.registry import Registry
    from api.local_servers.neo4j.server import LocalNeo4j
    from api.local_servers.neo4j.status import RunningServer, ServerStatus
except ModuleNotFoundError as error:
    raise MissingExtraError(error.name) from error

__all__ = [
    "DEFAULT_VERSION",
    "LocalNeo4j",
    "LocalNeo4jError",
    "MissingExtraError",
    "Progress",
    "Registry",
    "RegistryError",
    "RunningServer",
    "ServerStatus",
    "default_cache",
    "default_home",
]
