"""Which of the collected tests run: those of `make test`, and all of the paths that the command line names.

`tests/conftest.py` re-exports the hooks. ``suites.toml`` says what `make test` leaves out; beside that it leaves out
tests with the mark ``full``, and tests for several engines on all engines but SQLite, unless they have the mark
``each_engine``. Tests with examples of hypothesis try a quarter of the examples in `make test`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.workermanage import WorkerController

from tests.groups import VERSIONED
from tests.suites import FULL, is_within, overlap

_ANOTHER_ENGINE = re.compile(r"\[(?:\S+-)?(?:neo4j|sqlite-files)[-\]]")
"""In the ids of tests that run on several engines, those on another one than SQLite with its values inside the file."""

# How long an example takes depends on the machine, not on what is tested.
_ALL_EXAMPLES = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("all examples", _ALL_EXAMPLES)
hypothesis.settings.register_profile("some examples", _ALL_EXAMPLES, max_examples=25)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options that choose tests."""
    parser.addoption(
        "--full", action="append", default=[], metavar="PATH", help="a path to run in full, as `make test-all` does"
    )
    parser.addoption("--versioned", action="store_true", help="only what tests.groups names for each version of Neo4j")


def pytest_configure(config: pytest.Config) -> None:
    """Name the marks; what the command line names must exist, and runs in full."""
    for mark in (
        "neo4j: needs a Neo4j server",
        "once: is not worth its time on each version of Neo4j; all that tests.groups does not name has it",
        "values: also runs on SQLite with its values outside the file",
        "full: takes long, or repeats at a larger scale what other tests have shown: only `make test-all` runs it",
        "each_engine: runs on Neo4j too in `make test`, where tests for several engines run on SQLite alone",
        "one_engine: what is tested comes before the store or beside it, so it never runs on Neo4j",
    ):
        config.addinivalue_line("markers", mark)
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        config.option.full = worker["full"]
    else:
        named = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
        config.option.full = [_known(config, one) for one in (*config.option.full, *named)]
    hypothesis.settings.load_profile("all examples" if config.option.full else "some examples")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """Tell a process of ``-n`` the paths to run in full: it parses the command line without them."""
    node.workerinput["full"] = node.config.option.full


def _known(config: pytest.Config, named: str) -> str:
    """The start of the ids of the tests that the command line names."""
    name, colons, inside = named.partition("::")
    path = (config.invocation_params.dir / name).resolve()
    if not path.exists():
        raise pytest.UsageError(f"file or directory not found: {named}")
    inner = path.relative_to(config.rootpath) if path.is_relative_to(config.rootpath) else path
    return f"{inner.as_posix()}{colons}{inside}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Modules of which no test runs are not even imported, because that takes longer than some tests."""
    if not collection_path.is_relative_to(config.rootpath):
        return None
    name = collection_path.relative_to(config.rootpath).as_posix()
    full: list[str] = config.getoption("full")
    wanted = [one.partition("::")[0] for one in full]
    if config.getoption("versioned"):
        return None if overlap(name, VERSIONED) and overlap(name, wanted) else True
    return True if is_within(name, FULL) and not overlap(name, wanted) else None


def is_left_out(item: pytest.Item) -> bool:
    """Whether this run leaves out a test."""
    is_on_another_engine = _ANOTHER_ENGINE.search(item.nodeid) is not None
    if is_on_another_engine and item.get_closest_marker("one_engine") is not None:
        return True
    if is_within(item.nodeid, item.config.getoption("full")):
        return False
    if item.get_closest_marker("full") is not None:
        return True
    return is_on_another_engine and item.get_closest_marker("each_engine") is None
