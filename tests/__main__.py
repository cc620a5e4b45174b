"""Run tests: without arguments those of ``make test``, on the LTS version of Neo4j.

``python -m tests PATH...`` runs all tests of some paths, and ``python -m tests tests`` all there are. ``--full PATH``
adds to the tests of ``make test`` the others of a path. What those options name of the store's contract and of the
documented Cypher runs on the newest version of Neo4j, too. Further options are those of pytest.

Three processes (``MEMTRACE_TEST_PROCESSES``) share one server, and two processors: tests wait for servers, commits and
each other. An existing server that ``MEMTRACE_TEST_NEO4J_URI`` names is used instead, and the tests run once.

Python writes compiled modules beside their sources, also where ``PYTHONDONTWRITEBYTECODE`` is set: else each process
that a test starts would compile all anew.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.groups import VERSIONED
from tests.suites import EVERYTHING, overlap

NEWEST_VERSION = "2026.09.0"


def main() -> int:
    """Run the tests; the exit code of the first run that fails."""
    options = sys.argv[1:]
    code = _run(options, {})
    is_versioned = any(overlap(option.partition("::")[0], VERSIONED) for option in options)
    if code or not is_versioned or os.environ.get("MEMTRACE_TEST_NEO4J_URI"):
        return code
    newest = ["--versioned", "-m", "neo4j and not once", *options]
    code = _run(newest, {"MEMTRACE_TEST_NEO4J_VERSION": NEWEST_VERSION})
    # Of some paths, or of the tests that -k or -m choose, none may need Neo4j.
    is_whole = EVERYTHING in options and not any(option.startswith(("-k", "-m")) for option in options)
    return 0 if code == pytest.ExitCode.NO_TESTS_COLLECTED and not is_whole else code


def _run(options: list[str], settings: dict[str, str]) -> int:
    # In the groups that tests/groups.py makes, and in its order.
    distribution = ["-n", os.environ.get("MEMTRACE_TEST_PROCESSES") or "3", "--no-loadscope-reorder"]
    slowest = ["--durations=40", "--durations-min=10"]  # where the time of the whole run goes
    command = [sys.executable, "-m", "pytest", *distribution, *slowest, *options]
    environment = os.environ | settings | {"PYTHONDONTWRITEBYTECODE": ""}
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
