"""All tests on the LTS version of Neo4j; then the store's contract and the documented Cypher on the newest one, too.

What takes long is done in part, and in full with ``MEMTRACE_TEST_FULL=1``: tests of the doors that have the mark
``one_engine`` run on SQLite alone, tests of the contract with one of their cases each on the newest Neo4j; and tests
that kill, shuffle or measure do it less often or at a smaller size (each says so beside ``tests.data.FULL``).

Run: ``python -m tests``, with further options for pytest. Four processes share one server, and two processors: tests
wait for servers, commits and each other two thirds of their time. An existing server that ``MEMTRACE_TEST_NEO4J_URI``
names is used instead, and the tests run once. ``MEMTRACE_TEST_PROCESSES`` says how many processes there are.

Where the environment keeps Python from writing compiled modules beside their sources (``PYTHONDONTWRITEBYTECODE``),
they are kept in a folder for the length of the run: else each process that a test starts would compile all anew. It
is filled while the server starts, by one process rather than by all four.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

NEWEST_VERSION = "2026.09.0"
_PROCESSES = os.environ.get("MEMTRACE_TEST_PROCESSES") or "4"
_JAVA = "JDK_JAVA_OPTIONS"
_TRUSTED = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""For all Neo4j servers. Their jars are compared with their hashes before each start; that Java looks at each of their
classes once more, too, takes a third of the start."""
_SHORT_LIVED = f"{_TRUSTED} -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
"""For servers that a test starts for itself: it ends before the best machine code is worth its compilation. There is
room for all of the other code, as much as there would be for both. The shared servers work long enough: five modules of
the contract take 138 instead of 196 s of a processor in queries; compilation takes 94 instead of 6 s, once for all."""


def main() -> int:
    """Run all tests; the exit code of the first run that fails."""
    os.environ[_JAVA] = _SHORT_LIVED
    with tempfile.TemporaryDirectory(prefix="compiled-") as compiled:
        return _run_on_each_version(sys.argv[1:], _sharing_compiled(Path(compiled)))


def _run_on_each_version(options: list[str], shared: dict[str, str]) -> int:
    if os.environ.get("MEMTRACE_TEST_NEO4J_URI"):
        return _run(options, shared)
    for version, chosen in ((None, []), (NEWEST_VERSION, ["--versioned", "-m", "neo4j and not once"])):
        compiling = None if version else _compile(options, shared)
        with _server(version) as settings:
            if compiling is not None:
                compiling.wait()
            code = _run([*chosen, *options], settings | shared)
        if chosen and options and code == pytest.ExitCode.NO_TESTS_COLLECTED:
            code = 0  # none of the tests that were asked for depends on the version
        if code:
            return code
    return 0


def _sharing_compiled(folder: Path) -> dict[str, str]:
    if not sys.dont_write_bytecode:
        return {}
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder)}


def _compile(options: list[str], shared: dict[str, str]) -> subprocess.Popen[bytes] | None:
    """Start a process that imports the chosen tests, so that their compiled modules lie in the shared folder."""
    if not shared:
        return None
    command = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", *options]
    return subprocess.Popen(command, env=os.environ | shared, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _run(options: list[str], settings: dict[str, str]) -> int:
    # In the groups that tests/groups.py makes, and in its order.
    distribution = ["-n", _PROCESSES, "--no-loadscope-reorder"]
    slowest = ["--durations=40", "--durations-min=10"]  # where the time of the whole run goes
    command = [sys.executable, "-m", "pytest", *distribution, *slowest, *options]
    return subprocess.run(command, env=os.environ | settings, check=False).returncode


@contextmanager
def _server(version: str | None) -> Iterator[dict[str, str]]:
    """The environment that names a server to the tests (None: the LTS version); empty if none is available."""
    asked = {} if version is None else {"MEMTRACE_TEST_NEO4J_VERSION": version}
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="neo4j-"))) / "home"
        try:
            from api.local_servers.neo4j import LocalNeo4j, LocalNeo4jError
        except ImportError as error:
            _say(f"TESTS WITH NEO4J DO NOT RUN: {error}")
            yield asked
            return
        try:
            stack.enter_context(pytest.MonkeyPatch.context()).setenv(_JAVA, _TRUSTED)
            server = stack.enter_context(LocalNeo4j(home, version=version, port=0).running(kill_on_exit=True))
        except LocalNeo4jError as error:
            _say(f"TESTS WITH NEO4J DO NOT RUN: {error}")
            yield asked
            return
        _say(f"Neo4j {server.version}")
        yield asked | {
            _JAVA: _SHORT_LIVED,
            "MEMTRACE_TEST_NEO4J_URI": server.uri,
            "MEMTRACE_NEO4J_USER": server.user,
            "MEMTRACE_NEO4J_PASSWORD_FILE": str(server.password_file),
        }


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
