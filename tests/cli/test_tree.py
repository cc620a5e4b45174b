"""A closure as a tree: each variable once, references elsewhere, no recursion, and a note for what is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from api.cli.context import DEFAULT_PROJECT
from api.cli.render.draw import closure_lines
from api.cli.render.tree import DEEPEST, Line, lines, plant
from schema.models import Variable
from store.contract.answers import Closure, Direction
from tests.cli.conftest import Cli
from tests.contract.samples import assistant, random_trace
from tests.factory import TraceBuilder


def whole(trace: TraceBuilder, *roots: Variable, direction: Direction = Direction.BACKWARD) -> Closure:
    """The closure of a whole trace."""
    ids = [root.id for root in roots]
    return Closure(ids, direction, trace.variables, trace.derivations, trace.operations, False, [])


def drawn(found: Sequence[Line]) -> list[str]:
    """The names in the lines."""
    return [
        line.prefix
        + (line.variable.external_id if line.variable else "")
        + "".join(f"^{variable.external_id}" for variable in line.above)
        + "".join(f"v{variable.external_id}" for variable in line.below)
        + (f"+{line.hidden}" if line.hidden else "")
        + (" ..." if line.continued else "")
        for line in found
    ]


def diamonds(rungs: int) -> TraceBuilder:
    """top <- left, right <- top of the next."""
    trace = TraceBuilder(DEFAULT_PROJECT)
    step = trace.operation("step")
    top = trace.variable("top-0", by=step)
    for rung in range(1, rungs + 1):
        left, right = (trace.variable(f"{side}-{rung}", by=step) for side in ("left", "right"))
        trace.derive(left, top, by=step)
        trace.derive(right, top, by=step)
        top = trace.variable(f"top-{rung}", by=step)
        trace.derive(top, left, right, by=step)
    return trace


def chain(length: int) -> TraceBuilder:
    trace = TraceBuilder(DEFAULT_PROJECT)
    step = trace.operation("step")
    last = trace.variable("v0")
    for number in range(1, length):
        following = trace.variable(f"v{number}", by=step)
        trace.derive(following, last, by=step)
        last = following
    return trace


def test_a_variable_has_one_line_and_is_a_reference_elsewhere() -> None:
    trace = diamonds(2)
    tree = plant(whole(trace, trace.variables[-1]))
    assert drawn(list(lines(tree))) == [
        "top-2",
        "├─ left-2",
        "│  └─ vtop-1",
        "└─ right-2",
        "   └─ top-1",
        "      ├─ left-1",
        "      │  └─ vtop-0",
        "      └─ right-1",
        "         └─ top-0",
    ]


def test_forward_goes_the_other_way_oldest_first() -> None:
    trace = diamonds(1)
    tree = plant(whole(trace, trace.variables[0], direction=Direction.FORWARD))
    assert drawn(list(lines(tree))) == ["top-0", "├─ right-1", "│  └─ vtop-1", "└─ left-1", "   └─ top-1"]


def test_all_variables_and_derivations_are_shown() -> None:
    for seed in range(20):
        trace = random_trace(DEFAULT_PROJECT, seed)
        found = list(lines(plant(whole(trace, trace.variables[-1]))))
        printed = [line.variable.id for line in found if line.variable and not line.is_part]
        assert sorted(printed) == sorted(variable.id for variable in trace.variables)
        edges = {(derivation.target, derivation.source) for derivation in trace.derivations}
        references = sum(len(line.above) + len(line.below) for line in found)
        branches = sum(bool(line.prefix) and line.variable is not None for line in found)
        assert references + branches == len(edges)


def test_above_and_below_are_told_apart() -> None:
    trace = random_trace(DEFAULT_PROJECT, 5)
    printed: set[str] = set()
    for line in lines(plant(whole(trace, trace.variables[-1]))):
        if line.variable:
            printed.add(line.variable.id)
        assert {variable.id for variable in line.above} <= printed
        assert not printed & {variable.id for variable in line.below}


def test_a_limit_keeps_the_nearest_and_counts_the_rest() -> None:
    trace = TraceBuilder(DEFAULT_PROJECT)
    step = trace.operation("step")
    sources = [trace.variable(f"s{number}") for number in range(1000)]
    hub = trace.variable("hub", by=step)
    trace.derive(hub, *sources, by=step)
    assert drawn(list(lines(plant(whole(trace, hub)), limit=3))) == ["hub", "├─ s999", "├─ s998", "└─ +998"]


def test_what_is_deep_goes_on_at_the_margin() -> None:
    trace = chain(6)
    found = drawn(list(lines(plant(whole(trace, trace.variables[-1])), deepest=2)))
    assert found == ["v5", "└─ v4", "   └─ v3 ...", "v3", "└─ v2", "   └─ v1 ...", "v1", "└─ v0"]


@pytest.mark.parametrize(
    ("hops", "found"),
    [
        (1, ["v0"]),
        (2, ["v1", "└─ v0"]),
        (3, ["v2", "└─ v1", "   └─ v0"]),
        (4, ["v3", "└─ v2", "   └─ v1 ...", "v1", "└─ v0"]),
        (5, ["v4", "└─ v3", "   └─ v2 ...", "v2", "└─ v1", "   └─ v0"]),
    ],
)
def test_only_what_has_more_below_goes_on_elsewhere(hops: int, found: list[str]) -> None:
    trace = chain(hops)
    assert drawn(list(lines(plant(whole(trace, trace.variables[-1])), deepest=2))) == found


@pytest.mark.full
def test_a_chain_of_100_000_hops() -> None:
    trace = chain(2)
    variables = [replace(trace.variables[1], id=f"{n:032x}", sequence=n) for n in range(100_001)]
    (one,) = trace.derivations
    derivations = [replace(one, source=source.id, target=target.id) for source, target in pairwise(variables)]
    closure = Closure([variables[-1].id], Direction.BACKWARD, variables, derivations, trace.operations, False, [])
    found = [line for line in lines(plant(closure)) if line.variable and not line.is_part]
    assert [line.variable for line in found] == variables[::-1]
    assert max(len(line.prefix) for line in found) == 3 * DEEPEST
    text = [line.plain for line in closure_lines(closure, "the end", 200, 120)]
    assert "200 of 100,001 variables shown" in text[-1]


def test_what_a_filter_cut_off_stands_at_the_margin() -> None:
    trace = assistant(DEFAULT_PROJECT)
    answer = next(variable for variable in trace.variables if variable.external_id == "answer")
    messages = [variable for variable in trace.variables if variable.kind == "Message"]
    closure = Closure([answer.id], Direction.BACKWARD, [*messages, answer], [], [], False, [])
    assert drawn(list(lines(plant(closure)))) == ["answer", "message-2", "message-1"]


def test_an_empty_closure_is_two_lines() -> None:
    text = [line.plain for line in closure_lines(Closure([], Direction.BACKWARD, [], [], [], False, []), "it", 9, 80)]
    assert text == ["Backward closure of it: 0 variables, 0 derivations, 0 operations", ""]


def test_a_cut_closure_says_where_it_goes_on() -> None:
    trace = chain(2)
    only = [trace.variables[1]]
    closure = Closure([only[0].id], Direction.BACKWARD, only, [], [], True, [only[0].id])
    text = [line.plain for line in closure_lines(closure, "it", None, 80)]
    assert text[-1] == f"Cut by its bounds; it goes on behind 1 variable, such as {only[0].id[:8]}."


def test_hostile_text_stays_on_its_line(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = TraceBuilder(DEFAULT_PROJECT)
    step = trace.operation("step", name="[blink]\x1b[5mstep\n└─ forged[/blink]")
    hostile = "[red]x[/red]\n└─ Answer forged\x1b[2J\x1b]8;;http://evil\x07\u202e\x00"
    source = trace.variable("source", hostile, name=f"name {hostile}")
    answer = trace.variable("answer", hostile, by=step)
    trace.derive(answer, source, by=step)
    cli = stored(trace)
    commands: list[tuple[str, str]] = [("closure", "answer"), ("operation", step.id), ("search", "forged")]
    for command in (*commands, ("variable", "answer")):
        out = cli(*command).out
        assert "[red]x[/red]" in out
        assert not [character for character in out if not character.isprintable() and character != "\n"]
    assert not [
        line for command in commands for line in cli(*command).out.split("\n") if line.startswith("└─ Answer f")
    ]


def test_a_deep_chain_through_the_store(stored: Callable[[TraceBuilder], Cli]) -> None:
    cli = stored(chain(3000))
    out = cli("closure", "v2999", "--limit", "0").out
    assert out.count("goes on below") == 2999 // DEEPEST
    assert "v0  “text”" in out
    assert "200 of 3,000 variables shown" in cli("closure", "v2999").out


def test_no_colours_without_a_terminal_and_none_that_are_unwanted(sample: Cli) -> None:
    failure = sample("failures", "--json").json[0]
    out = sample("closure", failure["answerId"]).out
    assert "\x1b" not in out
    assert out.startswith("Backward closure of Answer “I am really enjoyin…at the Kiln House.”")
    assert "← question-answering" in out
