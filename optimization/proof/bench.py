"""The bench for one failure: runs the failure's program again, unchanged and with changes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from memtrace.replay import Do, Limits, Replayed, Replayer, ReplayError
from memtrace.replay.runs import Models

from attribution.trace.graph import TraceGraph
from optimization.proof.judge import ReplayJudge
from optimization.proof.model import Divergence, Spent
from optimization.replay.recorded import CannotReplayError, FailedAnswer, RecordedCalls, folder_of_trace
from schema.models import Failure

_ANSWER, _SHOWN = "the answer", 200


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of replays.

    Attributes:
        program: ``module:function`` that replaces the recorded program.
        python: interpreter that replaces the recorded one.
        seconds: time limit of one run.
        max_calls: largest number of live model calls in one run.
        max_cost: once this amount is spent on the proof of one failure, no further model call is made.
        prices: prices of a million input tokens and of a million output tokens; ``max_cost`` needs prices.
        draws: number of runs with a correction; the number without correction is the same.
        alpha: significance level: a correction helps if p is at most ``alpha``.
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
        """Answer and calls of the run; equal for two runs that did the same."""
        return self.answer, tuple(sorted(one.call for one in self.replayed.calls))


class Runs:
    """Runs the program of one trace again, in a process that lives from the first run until ``close``.

    Args:
        options: settings of the replays.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._replayer: Replayer | None = None

    def of(self, folder: Path) -> Replayer:
        """The replayer of the program.

        Args:
            folder: the trace's folder of replay data.

        Raises:
            ValueError: the folder has no replay data.
        """
        if self._replayer is None:
            self._replayer = Replayer(folder, self._options.program, self._options.python)
        return self._replayer

    def close(self) -> None:
        """End the process."""
        if self._replayer is not None:
            self._replayer.close()
            self._replayer = None


@dataclass(slots=True)
class Bench:
    """Runs the program of one failure.

    Attributes:
        null: the replay without a change; None before the first one.
    """

    graph: TraceGraph
    failure: Failure
    folder: Path
    asked: FailedAnswer
    judge: ReplayJudge
    options: Options
    _runs: Runs
    _shares_runs: bool
    null: Draw | None = None
    spent: Spent = field(default_factory=Spent)
    _recorded: RecordedCalls | None = None

    @classmethod
    async def of(cls, graph: TraceGraph, failure: Failure, options: Options, runs: Runs | None = None) -> Bench:
        """The bench of a failure.

        Args:
            graph: the trace of the failure.
            failure: the failure.
            options: settings of the replays.
            runs: a process that several failures of the trace share, and that the caller closes; None starts one.

        Raises:
            CannotReplayError: the trace can't be replayed.
        """
        folder = await folder_of_trace(graph)
        asked = await FailedAnswer.of(graph, failure)
        if not failure.gold_answers:
            raise CannotReplayError("the failure has no gold answer, so nobody can say whether another answer is right")
        judge = await ReplayJudge.of(graph, failure)
        return cls(graph, failure, folder, asked, judge, options, runs or Runs(options), runs is not None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """End the process of the replays, unless it is shared."""
        if not self._shares_runs:
            self._runs.close()

    async def draw(self, do: Sequence[Do] = (), *, is_null: bool = False, fresh: Collection[str] = ()) -> Draw:
        """Run the program once.

        Args:
            do: the changes.
            is_null: whether only kept model replies may be used, for an exact repetition of the recording.
            fresh: kept model replies that are asked for again.

        Raises:
            CannotReplayError: the program could not be run, or did not answer the question.
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
        mode: Models = "kept" if models == "kept" else "mixed"
        return self._runs.of(self.folder).run(do, mode, ask=self.asked.ask, fresh=fresh, limits=limits)

    async def null_draw(self) -> tuple[Draw, Divergence | None]:
        """The replay without a change, and its first difference from the recording (None if exact)."""
        if self.null is None:
            null = await self.draw(is_null=True)
            self._recorded = await RecordedCalls.of(self.graph, null.replayed)
            self.null = null
        return self.null, self.inexact(self.null, self.recorded)

    @property
    def recorded(self) -> RecordedCalls:
        """The recorded operations' calls in replays; available after ``null_draw``."""
        assert self._recorded is not None
        return self._recorded

    def inexact(self, null: Draw, recorded: RecordedCalls) -> Divergence | None:
        """The first difference of a null replay from the recording; None if there is no difference."""
        if recorded.missing is not None:
            operation = recorded.missing
            return Divergence(operation.location or operation.name or operation.external_id, "did not come again")
        if recorded.further is not None:
            given = next((one.given for one in null.replayed.calls if one.call == recorded.further.call), "")
            return Divergence(recorded.further.call or recorded.further.name, given or "was not recorded")
        if null.answer.strip() != self.asked.text.strip():
            return Divergence(_ANSWER, null.answer[:_SHOWN])
        return None

    def divergence(self, draw: Draw) -> Divergence | None:
        """The first call, or the answer, that differs from the null replay; None if there is no difference."""
        before = [] if self.null is None else [one.call for one in self.null.replayed.calls]
        first = first_missing([one.call for one in draw.replayed.calls], before)
        if first is None:
            is_same = self.null is not None and draw.answer == self.null.answer
            return None if is_same else Divergence(_ANSWER, draw.answer[:_SHOWN])
        return Divergence(first, next(one.given for one in draw.replayed.calls if one.call == first))


def first_missing(wanted: Iterable[str], there: Iterable[str]) -> str | None:
    """The first item of ``wanted`` that ``there`` does not contain as often."""
    counts = Counter(there)
    for one in wanted:
        if not counts[one]:
            return one
        counts[one] -= 1
    return None
