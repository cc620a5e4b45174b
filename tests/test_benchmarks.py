"""The benchmarks' made store is what the report says of it, and the report marks what is met and what is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.context import ROOT
from benchmarks.generator import Shape, answer_of, batch_of
from benchmarks.report import Goal, Section, at_least, at_most, goal_lines, times
from benchmarks.timing import Series, alternate, ratio
from store.open import open_database

SHAPE = Shape(traces=2, variables=90, width=7)


async def test_the_answer_of_a_made_trace_depends_on_the_whole_trace(tmp_path: Path) -> None:
    async with await open_database(f"sqlite:///{tmp_path / 'store.db'}") as database:
        store = database.project("made")
        for number in range(SHAPE.traces):
            await store.write(batch_of("made", SHAPE, number))
        closure = await store.closure([answer_of("made", SHAPE, 1)])
        stats = await store.stats()
    assert len(closure.variables) == SHAPE.variables
    assert len(closure.derivations) == SHAPE.derivations == 180
    assert {v.trace_id for v in closure.variables} == {batch_of("made", SHAPE, 1).trace.id}
    assert stats.labels["Variable"] == 180
    assert stats.labels["Derivation"] == 360


def test_a_made_trace_is_the_same_every_time_and_no_other() -> None:
    assert batch_of("made", SHAPE, 0) == batch_of("made", SHAPE, 0)
    texts = [{variable.value for variable in batch_of("made", SHAPE, number).variables} for number in range(2)]
    assert not texts[0] & texts[1]


async def test_contenders_take_turns_and_warm_ups_do_not_count() -> None:
    order: list[tuple[str, int]] = []

    async def first(run: int) -> float:
        order.append(("A", run))
        return 2.0 + run

    async def second(run: int) -> float:
        order.append(("B", run))
        return 1.0

    found = await alternate(2, {"A": first, "B": second}, warm_ups=1)
    assert order == [("B", -1), ("A", -1), ("A", 0), ("B", 0), ("B", 1), ("A", 1)]
    assert found == {"A": Series((2.0, 3.0)), "B": Series((1.0, 1.0))}
    compared = ratio(found["A"], found["B"])
    assert (compared.value, compared.low, compared.high) == (2.5, 2.0, 3.0)


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        (at_most("a", 2, 2.0, times), "yes"),
        (at_most("a", 2, 2.01, times), "NO"),
        (at_least("a", 2, 2.0, times), "yes"),
        (at_least("a", 2, 1.99, times), "NO"),
        (at_most("a", 2, None, times), "not measured"),
    ],
)
def test_a_goal_says_whether_it_is_met(goal: Goal, met: str) -> None:
    assert list(goal_lines([goal]))[-1].rstrip(" |").endswith(met)


def test_what_is_missing_is_shown() -> None:
    section = Section("Closure", missing=["no server"])
    assert "**NOT MEASURED: no server**" in list(section.lines())


@pytest.mark.full
@pytest.mark.parametrize("name", ["closure-sqlite", "lineage-sqlite", "writes-sqlite"])
def test_a_benchmark_runs(name: str, tmp_path: Path) -> None:
    run = [sys.executable, "-m", "benchmarks", "--quick", "--only", name, "--json", str(tmp_path / "figures.json")]
    subprocess.run(
        run, check=True, capture_output=True, cwd=ROOT, env=dict(os.environ) | {"XDG_CACHE_HOME": str(tmp_path)}
    )
    assert json.loads((tmp_path / "figures.json").read_text("utf-8"))["benchmarks"][name]["numbers"]
