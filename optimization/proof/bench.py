"""The bench on which one failure is tried: its program is run again, as it was and with changes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from memtrace.replay import Do, Limits, Replayed, Replayer, ReplayError

from attribution.graph import TraceGraph
from optimization.proof.judge import Judge
from optimization.proof.model import Divergence, Spent
from optimization.replay.recorded import Asked, CannotReplayError, Recorded
from schema.models import Failure


@dataclass(frozen=True, slots=True)
class Options:
    """How programs are run again.

    Attributes:
        program: ``module:function`` in place of the recorded one.
        python: the interpreter in place of the recorded one.
        seconds: that one run may take.
        max_calls: live calls of models that one run may make.
        max_cost: once this is spent on the proof of one failure, no further model is asked.
        prices: of a million tokens, by ``input`` and ``output``; ``max_cost`` needs them.
        draws: with a correction, and as many without.
        alpha: a correction helps if chance would make such a difference at most this often.
    """

    program: str | None = None
    python: str | None = None
    seconds: float = 60.0
    max_calls: int | None = None
    max_cost: float | None = None
    prices: tuple[float, float] | None = None
    draws: int = 5
    alpha: float = 0.05


@dataclass(frozen=True, slots=True)
class Draw:
    """One run of the program, and its answer to the failure's question."""

    replayed: Replayed
    answer: str
    is_right: bool

    @property
    def shape(self) -> tuple[str, tuple[str, ...]]:
        """What two runs have in common that did the same."""
        return self.answer, tuple(sorted(one.call for one in self.replayed.calls))


@dataclass(slots=True)
class Bench:
    """Runs the program of one failure. ``null`` is the replay to which nothing was done."""

    graph: TraceGraph
    failure: Failure
    recorded: Recorded
    asked: Asked
    judge: Judge
    options: Options
    null: Draw | None = None
    spent: Spent = field(default_factory=Spent)
    _replayer: Replayer | None = None

    @classmethod
    async def of(cls, graph: TraceGraph, failure: Failure, options: Options, replayer: Replayer | None = None) -> Bench:
        """The bench of a failure.

        Args:
            graph: its trace.
            failure: what was asked, answered and expected.
            options: how programs are run again.
            replayer: runs the program of the trace; None makes one.

        Raises:
            CannotReplayError: its trace can't be replayed.
        """
        recorded = await Recorded.of(graph)
        asked = await Asked.of(graph, failure)
        if not failure.gold_answers:
            raise CannotReplayError("the failure has no gold answer, so nobody can say whether another answer is right")
        bench = cls(graph, failure, recorded, asked, await Judge.of(graph, failure), options)
        bench._replayer = replayer
        return bench

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """End the process of the replays."""
        if self._replayer is not None:
            self._replayer.close()
            self._replayer = None

    async def draw(self, do: Sequence[Do] = (), *, is_null: bool = False, fresh: Collection[str] = ()) -> Draw:
        """Run the program once.

        Args:
            do: what is changed.
            is_null: whether it must do what it did, with the kept replies of models alone.
            fresh: kept replies that are asked for again.

        Raises:
            CannotReplayError: it could not be run, or did not answer the question.
        """
        left = None
        if self.options.max_cost is not None:
            left = max(0.0, self.options.max_cost - (self.spent.cost or 0.0))
        prices = self.options.prices
        limits = Limits(
            self.options.seconds,
            self.options.max_calls,
            left,
            None if prices is None else {"input": prices[0], "output": prices[1]},
        )
        try:
            replayed = await asyncio.to_thread(self._run, do, "kept" if is_null else "mixed", fresh, limits)
        except (ReplayError, ValueError) as error:
            raise CannotReplayError(f"the program can't be run again: {error}") from error
        one = Spent(1, replayed.live, replayed.tokens, replayed.cost, replayed.seconds)
        self.spent = self.spent.plus(one)
        if replayed.problems:
            raise CannotReplayError("; ".join(replayed.problems))
        if replayed.error is not None:
            raise CannotReplayError(f"the program failed when it was run again: {replayed.error}")
        if len(replayed.answers) <= self.asked.turn:
            raise CannotReplayError("the program did not answer the question when it was run again")
        answer = replayed.answers[self.asked.turn]
        return Draw(replayed, answer, self.judge.is_right(answer))

    def _run(self, do: Sequence[Do], models: str, fresh: Collection[str], limits: Limits) -> Replayed:
        if self._replayer is None:
            self._replayer = Replayer(self.recorded.folder, self.options.program, self.options.python)
        mode = "kept" if models == "kept" else "mixed"
        return self._replayer.run(do, mode, ask=self.asked.ask, fresh=fresh, limits=limits)  # type: ignore[arg-type]

    async def null_draw(self) -> tuple[Draw, Divergence | None]:
        """The replay to which nothing is done, and where it was not what was recorded."""
        if self.null is None:
            self.null = await self.draw(is_null=True)
        return self.null, self.inexact(self.null)

    def inexact(self, null: Draw) -> Divergence | None:
        """Where the null replay is not what was recorded; None where it is exact."""
        recorded = [str(call) for call in self.recorded.calls.values()]
        made = [one.call for one in null.replayed.calls]
        given = {one.call: one.given for one in null.replayed.calls}
        other = first_missing(recorded, made) or first_missing(made, recorded)
        if other is not None:
            return Divergence(other, given.get(other, "this call of the recording did not happen again"))
        if null.answer.strip() != self.asked.text.strip():
            return Divergence("the answer", null.answer[:200])
        return None

    def divergence(self, draw: Draw) -> Divergence | None:
        """The first call that a change brought about; None where it changed none."""
        before = [] if self.null is None else [one.call for one in self.null.replayed.calls]
        first = first_missing([one.call for one in draw.replayed.calls], before)
        if first is None:
            return None
        return Divergence(first, next(one.given for one in draw.replayed.calls if one.call == first))


def first_missing(wanted: Iterable[str], there: Iterable[str]) -> str | None:
    """The first of some that is not among others, each counted."""
    counts = Counter(there)
    for one in wanted:
        if not counts[one]:
            return one
        counts[one] -= 1
    return None
