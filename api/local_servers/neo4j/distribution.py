"""A Neo4j Community server as a list of jars: found, fetched once, and checked each time.

Neo4j's server is an ordinary package of the Java world. A version that this package has a lock for needs no
resolution: its jars are fetched by name. For any other version `jgo` resolves the dependencies.
"""

from __future__ import annotations

import os
import re
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import filelock
import platformdirs

from api.local_servers.neo4j.errors import AbsentError, LocalNeo4jError
from api.local_servers.neo4j.locks import Jar, cache_lock, find_lock, format_lock, sha256_of
from api.local_servers.neo4j.registry import Registry
from api.local_servers.neo4j.resolve import resolve

DEFAULT_VERSION = "5.26.31"
CACHE_VARIABLE = "MEMTRACE_CACHE"

# Takes the stage, the number of done jars, and the number of all jars (0 if unknown).
Progress = Callable[[str, int, int], None]

# A few at a time: registries refuse more.
_CONNECTIONS = 4
_ENTRY_POINTS = ("org.neo4j.server.CommunityEntryPoint", "org.neo4j.server.Neo4jCommunity")


@dataclass(frozen=True, slots=True)
class Distribution:
    """A whole server on disk.

    Attributes:
        version: Neo4j's version, such as `5.26.31`.
        jars: Absolute paths, in class path order.
        main_class: The class that runs the server.
    """

    version: str
    jars: tuple[Path, ...]
    main_class: str


def default_cache() -> Path:
    """The folder for what is fetched: `MEMTRACE_CACHE`, else the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("memtrace", appauthor=False)


def check_version(version: str) -> None:
    """Checks that a text is a version of Neo4j that can be started here.

    Raises:
        LocalNeo4jError: The text is not a version, or the version needs another Java or other settings.
    """
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", version):
        raise LocalNeo4jError(f"'{version}' is not a version of Neo4j; give one such as {DEFAULT_VERSION}")
    if tuple(map(int, version.split(".")))[:2] < (5, 26):
        raise LocalNeo4jError(f"Neo4j {version} is too old; 5.26 and later can be started")


def obtain(
    version: str,
    cache: Path | None = None,
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> Distribution:
    """The server of a version; it is fetched first if it is not in the cache.

    Safe to call in several processes at once: the first process fetches, and the other processes wait.

    Args:
        version: Neo4j's version.
        cache: The folder for what is fetched; None for `default_cache()`.
        registry: The registry to fetch from; None for the default registry.
        progress: Called with the progress.

    Raises:
        LocalNeo4jError: The version does not exist, the registry can't be reached, or a jar in the cache has another
            hash than the lock.
    """
    check_version(version)
    folder = (cache or default_cache()).absolute() / "neo4j"
    say = progress or _silent
    jars = find_lock(version, folder)
    if jars is None or _missing(jars, folder):
        source = registry or Registry()
        with _sole_fetcher(folder, say):
            jars = find_lock(version, folder) or _lock_anew(version, folder, source, say)
            _fetch(_missing(jars, folder), folder, source, f"fetching Neo4j {version}", say)
    paths = _verified(jars, folder)
    return Distribution(version, paths, _main_class(paths, version))


def _silent(_what: str, _done: int, _total: int) -> None:
    return None


def _place(path: str, folder: Path) -> Path:
    return folder / "repository" / path


def _missing(jars: Sequence[Jar], folder: Path) -> list[tuple[str, str | None]]:
    return [(jar.path, jar.sha256) for jar in jars if not _place(jar.path, folder).exists()]


@contextmanager
def _sole_fetcher(folder: Path, say: Progress) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder / "fetch.lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        say("waiting for another process that fetches", 0, 0)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _fetch(
    files: Sequence[tuple[str, str | None]], folder: Path, registry: Registry, what: str, say: Progress
) -> list[str]:
    """Fetches files, and returns the files that could not be checked."""
    failed = threading.Event()

    def fetch(path: str, sha256: str | None) -> bool | None:
        if failed.is_set():
            return None
        try:
            return registry.fetch(path, _place(path, folder), sha256)
        except BaseException:
            # Cancel at once, in the thread itself: otherwise each thread would begin, and retry, another file.
            failed.set()
            raise

    unchecked = []
    with ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="fetch") as pool:
        running = {pool.submit(fetch, path, sha256): path for path, sha256 in files}
        try:
            for done, future in enumerate(as_completed(running), start=1):
                if future.result() is False:
                    unchecked.append(running[future])
                say(what, done, len(files))
        except BaseException:
            failed.set()
            raise
    return unchecked


def _lock_anew(version: str, folder: Path, registry: Registry, say: Progress) -> tuple[Jar, ...]:
    """Resolves a version, fetches its jars, checks the registry's own hashes, and writes a lock."""
    say(f"resolving the dependencies of Neo4j {version} (about two minutes)", 0, 0)
    repository = _place("", folder)
    try:
        artifacts = resolve(version, repository, registry)
    except AbsentError as error:
        raise LocalNeo4jError(f"The registry has no Neo4j {version}, or not all that it needs: {error}") from None
    unhashed = [Jar(a.groupId, a.artifactId, a.version, a.classifier, "") for a in artifacts]
    files = [(jar.path, None) for jar in unhashed if not _place(jar.path, folder).exists()]
    unchecked = _fetch(files, folder, registry, f"fetching Neo4j {version}", say)
    if unchecked:
        say(f"not checked, because the registry publishes no hash: {', '.join(unchecked)}", 0, 0)
    jars = tuple(
        Jar(jar.group, jar.artifact, jar.version, jar.classifier, sha256_of(_place(jar.path, folder)))
        for jar in unhashed
    )
    target = cache_lock(version, folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    part.write_text(format_lock(jars, f"The jars of Neo4j {version}, in class path order."), encoding="ascii")
    part.replace(target)
    return jars


def _verified(jars: Sequence[Jar], folder: Path) -> tuple[Path, ...]:
    paths = []
    for jar in jars:
        path = _place(jar.path, folder)
        if sha256_of(path) != jar.sha256:
            raise LocalNeo4jError(
                f"{path} is not the jar that was locked for {jar}: it was changed or cut short. "
                "The server is not started. Delete that file to have it fetched anew."
            )
        paths.append(path)
    return tuple(paths)


def _main_class(jars: Sequence[Path], version: str) -> str:
    """The server's main class: the first known entry point in the server's jar, since it moved between versions."""
    jar = next((path for path in jars if path.name == f"neo4j-{version}.jar"), None)
    if jar is None:
        raise LocalNeo4jError(f"the lock of Neo4j {version} names no neo4j-{version}.jar")
    with zipfile.ZipFile(jar) as archive:
        names = set(archive.namelist())
    for entry_point in _ENTRY_POINTS:
        if f"{entry_point.replace('.', '/')}.class" in names:
            return entry_point
    raise LocalNeo4jError(f"{jar} has none of the known entry points: {', '.join(_ENTRY_POINTS)}")
