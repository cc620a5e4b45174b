"""Groups of tests: tests that share slow fixtures run one after the other in one process.

Tests are told apart by their ids alone, for the process that distributes them collects none.
"""

from __future__ import annotations

import re

from xdist.scheduler.loadscope import LoadScopeScheduling

VERSIONED = ("tests/contract", "tests/test_bloom.py", "tests/test_cookbook.py", "tests/test_neo4j_plan.py")
"""What runs on each version of Neo4j: the store's contract, and the documented Cypher. All other tests use Neo4j
through the store alone."""

_FOLDERS = re.compile(r"tests/(deployment|fuzz|graphql|isolation|jobs|server|object_values|torture|web)/")
"""Folders whose tests share servers."""

_ALONE = re.compile(
    r"tests/server/test_(?:clock|connections|dead_letters|dev|event_queue|logs|serve|slow_readers|stores)\.py"
    r"|tests/fuzz/test_traces\.py"
    r"|tests/jobs/test_(?:bounds|kills|runners)\.py"
    r"|tests/web/test_(?:losses|page_words|sign_in_with_issuer|ui_command|vendor)\.py"
)
"""Modules in these folders that start their own servers."""

_NEO4J = re.compile(r"\[(?:\S+-)?neo4j[-\]]")
"""Tests in these folders that run on Neo4j: their servers differ from the servers of the same tests on SQLite."""

_PARTS = re.compile(
    r"(tests/attribution/flow/test_bench\.py)::\w+\[(bench\w*)\]"
    r"|(tests/ingest/test_real_traces\.py)::\w+\[(?:sqlite|sqlite-files|neo4j)-(.+)\]"
)
"""Modules with slow fixtures, one for each value of a parameter."""

_FIRST = (
    "tests/server",
    "tests/web",
    "tests/torture",
    "tests/graphql",
    "tests/fuzz/test_traces.py",
    "tests/optimization/test_loop_kills.py",
    "tests/optimization/test_loop.py",
    "tests/jobs/test_runners.py",
    "tests/test_neo4j_local.py",
    "tests/server/test_dev.py",
    "tests/jobs",
    "tests/test_crash.py",
    "tests/ingest/test_real_traces.py",
    "tests/jobs/test_kills.py",
    "tests/jobs/test_bounds.py",
    "tests/contract/test_blind_failures.py",
    "tests/test_docs.py",
    "tests/optimization/test_moved.py",
    "tests/optimization/test_models.py",
    "tests/contract/test_values.py",
    "tests/contract/test_scale.py",
    "tests/contract/test_failure_filter.py",
    "tests/contract/test_random.py",
    "tests/contract/test_auditing.py",
    "tests/contract/test_isolation.py",
    "tests/isolation",
    "tests/fuzz",
    "tests/attribution/flow/test_bench.py",
    "tests/deployment",
    "tests/contract/test_annotation.py",
    "tests/contract/test_batched.py",
)
"""Groups that take long. They begin first, so that no process is still working when the others have finished."""


class Groups(LoadScopeScheduling):
    """Gives each process a group at a time, in the order in which they are collected."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(test_id: str) -> str:
    """The name of the group that a test belongs to: a folder, a module, or a part of one after a space."""
    if (part := _PARTS.match(test_id)) is not None:
        return " ".join(filter(None, part.groups()))
    module = test_id.partition("::")[0]
    folder = _FOLDERS.match(module)
    if folder is None:
        return module
    shared = module if _ALONE.fullmatch(module) else folder[0].rstrip("/")
    return f"{shared} neo4j" if _NEO4J.search(test_id) else shared


def place_of(test_id: str) -> int:
    """The lower, the earlier a test's group begins."""
    group = group_of(test_id).partition(" ")[0]
    return _FIRST.index(group) if group in _FIRST else len(_FIRST)
