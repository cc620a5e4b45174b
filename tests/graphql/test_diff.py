"""Comparing two values: the diff, and bounds on its time."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

import api.graphql.difference
from api.auth.access import Access, Principal
from api.graphql.context import Context
from api.http.platform import Platform
from api.settings import Settings
from attribution.text.lines import MAX_LINES, TooDifferentError, unified
from schema.control import Role
from store.contract.protocol import Database
from store.open import open_database
from tests.factory import TraceBuilder
from tests.graphql.built import SCHEMA

PROJECT = "diffs"


def _longest(one: list[str], other: list[str]) -> int:
    """The length of a longest common subsequence, by the book."""
    row = [0] * (len(other) + 1)
    for line in one:
        above = row
        row = [0]
        for place, candidate in enumerate(other):
            row.append(above[place] + 1 if line == candidate else max(above[place + 1], row[place]))
    return row[-1]


def _patched(old: list[str], patch: list[str]) -> list[str]:
    """The text after applying a unified diff; every line must be at its number."""
    new: list[str] = []
    place = 0
    for line in patch[2:]:
        if line.startswith("@@"):
            start, _, length = line.split()[1].lstrip("-").partition(",")
            begin = int(start) - (length != "0")
            new += old[place:begin]
            place = begin
            continue
        if not line.startswith("+"):
            assert old[place] == line[1:]
            place += 1
        if not line.startswith("-"):
            new.append(line[1:])
    return new + old[place:]


_LINES = st.one_of(*(st.lists(st.sampled_from("abcdefgh"[:count]), max_size=40) for count in (1, 2, 3, 8)))


@given(old=_LINES, new=_LINES, head=_LINES, tail=_LINES)
def test_a_diff_makes_the_new_text_of_the_old_one_with_as_few_lines_as_can_be(
    old: list[str], new: list[str], head: list[str], tail: list[str]
) -> None:
    before, after = head + old + tail, head + new + tail
    patch, added, removed = unified("\n".join(before), "\n".join(after), "old", "new")
    assert bool(patch) == (before != after)
    assert not patch or patch[:2] == ["--- old", "+++ new"]
    assert _patched(before, patch) == after
    assert added == sum(line.startswith("+") for line in patch[2:])
    assert removed == sum(line.startswith("-") for line in patch[2:])
    assert (removed, added) == (len(before) - (common := _longest(before, after)), len(after) - common)


def test_the_form_is_that_of_the_programs() -> None:
    old = "\n".join(f"line {number}" for number in range(20))
    new = old.replace("line 9", "line nine").replace("line 19", "line 19\nline 20")
    assert unified(old, new, "unit 0", "unit 1")[0] == [
        "--- unit 0",
        "+++ unit 1",
        "@@ -7,7 +7,7 @@",
        *(f" line {number}" for number in (6, 7, 8)),
        "-line 9",
        "+line nine",
        *(f" line {number}" for number in (10, 11, 12)),
        "@@ -18,3 +18,4 @@",
        *(f" line {number}" for number in (17, 18, 19)),
        "+line 20",
    ]


def _crafted(count: int, step: int) -> str:
    """Frequent lines, in an order that has no common run with the order of another step."""
    return "\n".join(str(number * step % 150) for number in range(count))


def test_no_lines_take_long() -> None:
    """They are 30 KB each; difflib takes half a minute for one such pair on a fast machine."""
    began = time.thread_time()
    for step in range(7, 27, 2):
        unified(_crafted(MAX_LINES, 1), _crafted(MAX_LINES, step), "", "")
    assert time.thread_time() - began < 60


def test_what_is_too_different_is_not_compared() -> None:
    lines = [str(number) for number in range(MAX_LINES + 1)]
    with pytest.raises(TooDifferentError):
        unified("\n".join(lines), "\n".join(["x", *lines[1:-1], "y"]), "", "")
    assert unified("\n".join(lines), "\n".join(["x", *lines[1:]]), "", "")[1:] == (1, 1)


@pytest_asyncio.fixture(scope="module")
async def written(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Database, TraceBuilder]]:
    """Two versions, large values and one that is nothing but short lines."""
    folder = tmp_path_factory.mktemp("diffs")
    async with await open_database(f"sqlite:///{folder / 'test.db'}") as database:
        trace = TraceBuilder(PROJECT)
        trace.variable("old", "one\ntwo")
        trace.variable("new", "one\nthree")
        trace.variable("lines", "\n".join(map(str, range(MAX_LINES + 2))))
        trace.variable("huge", "x" * ((1 << 20) + 1))
        for number in range(3):
            trace.variable(f"large {number}", f"{number}" + "x" * 1_000_000)
        await trace.write(database.project(PROJECT))
        yield database, trace


async def _diffs(written: tuple[Database, TraceBuilder], *pairs: tuple[str, str]) -> tuple[list[Any], list[str]]:
    database, trace = written
    ids = {variable.external_id: variable.id for variable in trace.variables}
    access = Access(database, Principal("test", {PROJECT: Role.READER}))
    platform = Platform(Settings(), database, *(cast("Any", None),) * 10)
    fields = " ".join(
        f'd{number}: diff(before: "{ids[old]}", after: "{ids[new]}") {{ added removed isEqual unified }}'
        for number, (old, new) in enumerate(pairs)
    )
    found = await SCHEMA.execute(f"{{ project {{ {fields} }} }}", {}, Context(platform, access, None))
    return list((found.data["project"] if found.data else {}).values()), [str(one) for one in found.errors or ()]


async def test_values_are_compared_in_a_thread_of_their_own(
    written: tuple[Database, TraceBuilder], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []

    def noted(*arguments: Any) -> Any:
        threads.append(threading.current_thread().name)
        return unified(*arguments)

    monkeypatch.setattr(api.graphql.difference, "unified", noted)
    answers, errors = await _diffs(written, ("old", "new"), ("old", "new"), ("new", "old"), ("old", "old"))
    assert not errors
    assert [(one["removed"], one["added"], one["isEqual"]) for one in answers] == [(1, 1, False)] * 3 + [(0, 0, True)]
    assert answers[0]["unified"].endswith("@@ -1,2 +1,2 @@\n one\n-two\n+three")
    # The same pair twice is compared once.
    assert len(threads) == 3
    assert all(name.startswith("diff") for name in threads)


async def test_what_can_not_be_compared_is_said(written: tuple[Database, TraceBuilder]) -> None:
    answers, (too_different,) = await _diffs(written, ("lines", "old"), ("old", "new"))
    assert "more than 10,000 lines between their common ends" in too_different
    assert answers[0] is None
    assert answers[1]["added"] == 1
    _, (too_large,) = await _diffs(written, ("huge", "old"))
    assert "larger than 1,048,576 bytes" in too_large
    pairs = [("large 0", "large 1"), ("large 1", "large 2"), ("large 2", "large 0")]
    assert not (await _diffs(written, *pairs[:2]))[1]
    _, (too_many,) = await _diffs(written, *pairs)
    assert "one operation compares 4,194,304 bytes" in too_many
