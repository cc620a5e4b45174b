"""`memtrace check` reports what is missing in a recording, and nothing for a complete recording."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from api.cli.context import DEFAULT_PROJECT
from schema.kinds import DerivationKind, OperationKind, VariableKind
from tests.attribution.flow.stories import Story
from tests.cli.conftest import Cli
from tests.factory import TraceBuilder


def test_a_whole_recording(sample: Cli) -> None:
    assert sample("check", "assistant-sample", "--json").json == []
    assert sample("check", "assistant-sample").out.startswith("Nothing is missing in ")


def test_what_is_missing_is_told_with_what_to_record(stored: Callable[[TraceBuilder], Cli]) -> None:
    story = Story.of(DEFAULT_PROJECT, "My dog is called Rufus.", name="holes")
    unit = story.trace.variable("unit", "The dog is called Bruno.", kind=VariableKind.MEMORY_UNIT)
    story.ask("What is the dog called?", "Rufus", "Bruno", [unit])
    cli = stored(story.trace)
    loose, outside = cli("check", "holes", "--json").json
    assert loose["problem"] == "for 1 of 1 answers, searches return what no recorded message led to"
    assert loose["count"] == 1
    assert cli("operation", loose["examples"][0], "--json").json["kind"] == "Retrieval"
    assert "memtrace.retrieved(" in loose["fix"]
    assert (outside["problem"], outside["examples"]) == ("what the memory keeps came from outside", [unit.id])
    out = cli("check", "holes").out
    assert f"{loose['problem']} ({loose['examples'][0][:8]})\n  {loose['fix']}\n" in out


def test_the_other_traces_of_the_program_are_counted(stored: Callable[[TraceBuilder], Cli]) -> None:
    shop, other = {"program": "shop.py", "namespace": "a"}, {"program": "shop.py", "namespace": "b"}
    for number, said in enumerate([shop, shop, other, {}]):
        made = TraceBuilder(DEFAULT_PROJECT, f"talk {number}")
        made.trace = replace(made.trace, attributes=json.dumps(said))
        cli = stored(made)
    assert "has 2 traces" in cli("check", "talk 0").err
    for alone in ("talk 2", "talk 3"):
        assert "traces" not in cli("check", alone).err


def test_operations_whose_kind_says_nothing_are_named(stored: Callable[[TraceBuilder], Cli]) -> None:
    story = Story.of(DEFAULT_PROJECT, "My dog is called Rufus.", name="kinds")
    story.trace.operation("o1", name="tidy_up", kind=OperationKind.OTHER)
    story.trace.operation("o2", name="tidy_up", kind=OperationKind.OTHER)
    (found,) = [one for one in stored(story.trace)("check", "kinds", "--json").json if "kind Other" in one["problem"]]
    assert (found["problem"], found["count"]) == ("operations are of kind Other: tidy_up", 2)
    assert "kind=" in found["fix"]


def test_changes_that_nobody_sees_are_named(stored: Callable[[TraceBuilder], Cli]) -> None:
    """An update may change nothing, but if all updates of an operation change nothing, the recording is incomplete."""
    story = Story.of(DEFAULT_PROJECT, "My dog is called Rufus.", name="unseen")
    trace = story.trace
    unit = story.store(0, "The dog is called Rufus.")
    first, second, idle, ends = (
        trace.operation(f"o{number}", name=name, kind=OperationKind.UPDATE)
        for number, name in enumerate(["put", "put", "tidy", "tidy"])
    )
    for one in (first, second, idle, ends):
        trace.use(one, unit)
    trace.variable("done", "ok", by=second, kind=VariableKind.OTHER)
    trace.invalidate(ends, unit)
    (found,) = [one for one in stored(trace)("check", "unseen", "--json").json if "no change" in one["problem"]]
    assert found["problem"].endswith(": put")
    assert (found["count"], found["examples"]) == (2, [first.id, second.id])
    assert "memtrace.deleted(" in found["fix"]


def test_an_update_that_gives_units_back_changes_nothing_that_is_seen(stored: Callable[[TraceBuilder], Cli]) -> None:
    """An agent keeps its units in a dict, and its update returns the unit from the dict."""
    story = Story.of(DEFAULT_PROJECT, "My dog is called Rufus.", name="unseen")
    trace = story.trace
    unit = story.store(0, "The dog is called Rufus.")
    put = trace.operation("put", name="put", kind=OperationKind.UPDATE)
    trace.use(put, unit)
    back = trace.variable("back", unit.value or "", by=put, kind=VariableKind.MEMORY_UNIT)
    trace.derive(back, unit, by=put, kind=DerivationKind.READ)
    (found,) = [one for one in stored(trace)("check", "unseen", "--json").json if "no change" in one["problem"]]
    assert found["examples"] == [put.id]
    assert "only read" in found["fix"]


def test_a_trace_that_is_not_there(sample: Cli) -> None:
    sample("check", "nothing", code=3)
