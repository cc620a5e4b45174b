"""The dependencies of a Neo4j version that has no lock yet, by `jgo`."""

from __future__ import annotations

from pathlib import Path

from jgo.maven import Artifact, Dependency, MavenContext, PythonResolver

from api.local_servers.neo4j.errors import LocalNeo4jError
from api.local_servers.neo4j.registry import Registry


class _CheckedResolver(PythonResolver):
    """Fetches through `Registry`: jgo's own download writes in place and only warns of a wrong hash."""

    def __init__(self, registry: Registry) -> None:
        super().__init__()
        self._registry = registry

    def download(self, artifact: Artifact) -> Path | None:
        target = artifact.cached_path
        if target is None:
            raise LocalNeo4jError(f"No place to keep {artifact}")
        self._registry.fetch(target.relative_to(artifact.context.repo_cache).as_posix(), target, None)
        return target


def resolve(version: str, repository: Path, registry: Registry) -> list[Artifact]:
    """All artifacts that the server of a version needs at run time, itself first.

    Args:
        version: Neo4j's version.
        repository: The folder of project files, in Maven's layout.
        registry: The registry to fetch from.

    Raises:
        RegistryError: A project file can't be fetched.
        LocalNeo4jError: The dependencies can't be resolved.
    """
    context = MavenContext(resolver=_CheckedResolver(registry), repo_cache=repository, remote_repos={})
    server = context.project("org.neo4j", "neo4j").at_version(version)
    server.pom()
    wanted = Dependency(server.artifact(), scope="compile")
    _, dependencies = context.resolver.resolve([wanted])
    return [server.artifact(), *(dep.artifact for dep in dependencies if dep.scope in ("compile", "runtime"))]
