"""Resources that all processes of a run share: a Neo4j server, and a fetched browser.

With ``-n``, the process that distributes the tests starts both before the others begin. Without ``-n``, the fixtures
start what their tests ask for.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.chromium import fetched, fetching
from tests.neo4j_server import wanted_version

JAVA = "JDK_JAVA_OPTIONS"
_TRUSTED = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""For all Neo4j servers. Their jars are compared with their hashes before each start; that Java looks at each of their
classes once more, too, takes a third of the start."""
_SHORT_LIVED = f"{_TRUSTED} -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
"""For servers that a test starts for itself, and for the one of `make test`: they end before the best machine code is
worth its compilation. There is room for all of the other code, as much as there would be for both. The servers of whole
paths work long enough: five modules of the contract take 138 instead of 196 s of a processor in queries; compilation
takes 94 instead of 6 s, once for all."""


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Start what is shared; the environment of the other processes names the server."""
    config = session.config
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None) or config.option.collectonly:
        return
    browser = fetching()
    if not os.environ.get("MEMTRACE_TEST_NEO4J_URI"):
        stack = ExitStack()
        config.add_cleanup(stack.close)
        os.environ.update(_neo4j(stack, is_short=not config.option.full))
    if browser is not None:
        fetched(browser)


def _neo4j(stack: ExitStack, is_short: bool) -> dict[str, str]:
    """The environment that names a new server to the tests; empty if none can be had, which the fixtures then say."""
    os.environ[JAVA] = _SHORT_LIVED if is_short else _TRUSTED
    try:
        from api.local_servers.neo4j import LocalNeo4j, LocalNeo4jError
    except ImportError:
        return {}
    home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="neo4j-"))) / "home"
    try:
        server = stack.enter_context(LocalNeo4j(home, version=wanted_version(), port=0).running(kill_on_exit=True))
    except LocalNeo4jError as error:
        sys.stderr.write(f"no Neo4j: {error}\n")
        return {}
    sys.stderr.write(f"Neo4j {server.version}\n")
    return {
        JAVA: _SHORT_LIVED,
        "MEMTRACE_TEST_NEO4J_URI": server.uri,
        "MEMTRACE_NEO4J_USER": server.user,
        "MEMTRACE_NEO4J_PASSWORD_FILE": str(server.password_file),
    }
