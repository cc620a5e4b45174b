"""`memtrace blame` ranks elements as `attribution.blame.rank` does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from api.cli.context import DEFAULT_PROJECT
from attribution.blame.model import By
from store.open import open_database
from tests.attribution.blamed import Life, make_project
from tests.cli.conftest import SAMPLE, Cli
from tests.factory import TraceBuilder


@pytest.fixture
def counted(tmp_path: Path) -> Cli:
    """A store with the project whose numbers were counted by hand."""
    uri = f"sqlite:///{tmp_path / 'blame.db'}"

    async def write() -> None:
        async with await open_database(uri) as database:
            await make_project(DEFAULT_PROJECT).write(database.project(DEFAULT_PROJECT))

    asyncio.run(write())
    return Cli(uri)


def test_the_worst_come_first(counted: Cli) -> None:
    found = counted("blame", "--by", "operation", "--json").json
    assert [(one["name"], one["failed"], one["passed"]) for one in found] == [
        ("extract", 1.8, 1),
        ("answer", 0.6, 0),
        ("extract", 0.8, 2),
    ]
    assert all(list(one) == ["id", "name", "failed", "passed", "score", "traceId"] for one in found)
    assert counted("operation", found[0]["id"], "--json").json["externalId"] == "extract-b"
    shown = counted("blame", "--by", "operation").out.splitlines()
    assert shown[0].split() == ["id", "name", "trace", "failed", "passed", "score"]
    assert shown[1].split() == [found[0]["id"][:8], "extract", found[0]["traceId"][:8], "1.80", "1", "0.694"]


def test_what_is_ranked_and_where(counted: Cli) -> None:
    names = {by.value: [one["name"] for one in counted("blame", "--by", by, "--json").json] for by in By}
    assert names["prompt"] == ["extraction-prompt", "answer-prompt"]
    assert names["unit"] == ["noted a", "noted b"]
    assert names["session"] == ["construction, session 1", "evaluation, session 2"]
    assert counted("blame", "--by", "prompt", "--trace", "one", "--json").json[0]["passed"] == 2
    nothing = counted("blame", "--by", "unit", "--trace", "two")
    assert (nothing.out, "No verdict blames any" in nothing.err) == ("", True)
    counted("blame", "--by", "unit", "--trace", "three", code=3)
    counted("blame", "--by", "message", code=2)
    assert counted("blame", "--json").json == counted("blame", "--by", "operation", "--json").json


def test_a_limit_says_that_there_are_more(counted: Cli) -> None:
    some = counted("blame", "--by", "operation", "--limit", "2", "--json")
    assert (len(some.json), "more than 2" in some.err) == (2, True)
    assert len(counted("blame", "--by", "operation", "--limit", "0", "--json").json) == 3


def test_the_sample(cli: Cli) -> None:
    cli("import", SAMPLE)
    assert "memtrace attribute" in cli("blame", "--by", "operation").err
    cli("attribute", "--all")
    found = cli("blame", "--by", "operation", "--json").json
    assert [(one["name"], one["passed"]) for one in found] == [
        ("memory_system.search_memory", 0),
        ("memory_system.extract_facts", 0),
        ("memory_system.update_memory_decision", 1),
    ]


def test_without_right_answers_it_says_so(stored: Callable[[TraceBuilder], Cli]) -> None:
    life = Life(TraceBuilder(DEFAULT_PROJECT))
    life.hear("a")
    question, answer, answering = life.ask("wrong", 0)
    life.trace.attribution(life.trace.failure(question, answer), "flow", operation_id=answering.id)
    found = stored(life.trace)("blame", "--by", "operation")
    assert (len(found.out.splitlines()), "`memtrace right ANSWER` records one" in found.err) == (2, True)
