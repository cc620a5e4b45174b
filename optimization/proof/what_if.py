"""Answers "what if" questions: runs a failure's program again with changes that a person specifies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memtrace.replay import Do

from attribution.statistics.intervals import Interval, difference
from attribution.trace.graph import TraceGraph
from optimization.proof.bench import Bench, Draw, Options
from optimization.proof.correction import prompts_named
from optimization.proof.model import Divergence, Spent
from optimization.proof.statistics import fisher
from optimization.replay.recorded import CannotReplayError
from schema.errors import InputError
from schema.models import Failure
from store.contract.protocol import GraphStore


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The effect of a change.

    Attributes:
        recorded: the recorded answer.
        answers: the answers with the change, one per run.
        p0: share of right answers without the change.
        p1: share of right answers with the change.
        p: probability of this difference if the change has no effect (Fisher, one-sided).
        interval: 95 % interval of ``p1 - p0``.
        first_divergence: the first call that differs because of the change.
    """

    failure_id: str
    recorded: str
    answers: tuple[str, ...]
    right: int
    p0: float
    p1: float
    p: float
    interval: Interval
    first_divergence: Divergence | None
    spent: Spent

    def as_json(self) -> dict[str, Any]:
        """The effect as public JSON."""
        first = self.first_divergence
        return {
            "failureId": self.failure_id,
            "recorded": self.recorded,
            "answers": list(self.answers),
            "right": self.right,
            "draws": len(self.answers),
            "p0": self.p0,
            "p1": self.p1,
            "p": self.p,
            "interval": [self.interval.low, self.interval.high],
            "firstDivergence": None if first is None else {"call": first.call, "given": first.given},
            "runs": self.spent.runs,
            "calls": self.spent.calls,
            "tokens": self.spent.tokens,
            "cost": self.spent.cost,
            "seconds": round(self.spent.seconds, 3),
        }


async def what_if(
    store: GraphStore, failure: Failure, outputs: Mapping[str, Any], prompts: Mapping[str, str], options: Options
) -> WhatIf:
    """Run the program of a failure again with some changes; stores nothing.

    Args:
        store: contains the failure.
        failure: the failure.
        outputs: new results of operations, by operation id.
        prompts: new texts of prompts, by name.
        options: settings of the replays.

    Raises:
        InputError: the program can't be run again, does not repeat the recording, or a change is impossible.
    """
    graph = await TraceGraph.load(store, failure.trace_id)
    try:
        async with await Bench.of(graph, failure, options) as bench:
            return await _tried(bench, outputs, prompts)
    except CannotReplayError as error:
        raise InputError("replay", failure.id, str(error)) from error


async def _tried(bench: Bench, outputs: Mapping[str, Any], prompts: Mapping[str, str]) -> WhatIf:
    _, inexact = await bench.null_draw()
    if inexact is not None:
        raise CannotReplayError(
            f"run again without a change, the program did not do what was recorded; first at {inexact.call}: "
            f"{inexact.given}"
        )
    do = await _changes(bench, outputs, prompts)
    draws = [await bench.draw(do) for _ in range(bench.options.draws)]
    if not all(draws[0].replayed.hits):
        raise CannotReplayError("a call to be changed did not come when the program was run again")
    kept = bench.null.replayed.kept if bench.null is not None else frozenset()
    fresh = sorted(kept - frozenset.intersection(*(one.replayed.kept for one in draws)))
    nulls = [await bench.draw(fresh=fresh) for _ in range(bench.options.draws)]
    right, null_right = _right(draws), _right(nulls)
    return WhatIf(
        bench.failure.id,
        bench.asked.text,
        tuple(one.answer for one in draws),
        right,
        null_right / len(nulls),
        right / len(draws),
        fisher(right, len(draws), null_right, len(nulls)),
        difference(null_right, len(nulls), right, len(draws)),
        bench.divergence(draws[0]),
        bench.spent,
    )


async def _changes(bench: Bench, outputs: Mapping[str, Any], prompts: Mapping[str, str]) -> list[Do]:
    graph, recorded = bench.graph, bench.recorded
    do = []
    for operation_id, value in outputs.items():
        operation = graph.operations.get(operation_id)
        if operation is None:
            raise InputError("--do", operation_id, "is an operation of another trace than the failure")
        do.append(Do(str(recorded.call(operation)), output=value))
    usages = await graph.store.usages(graph.trace_id) if prompts else []
    for name, text in prompts.items():
        users = prompts_named(graph, usages, recorded, name)
        if not users:
            known = sorted({one.name for one in graph.variables.values() if one.kind == "Prompt"})
            raise InputError("--prompt", name, f"no function uses a prompt of this name; there are {', '.join(known)}")
        do += [Do(function, inputs={role: text}) for function, role in users.items()]
    return do


def _right(draws: list[Draw]) -> int:
    return sum(one.is_right for one in draws)
