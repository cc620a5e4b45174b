"""Proves a verdict: the answer must become right with the blamed operation corrected, and only then.

1. Null replay: without a change, the program must repeat the recording, else the proof is unsettled.
2. Several runs with the operation corrected; the program goes on from the correction.
3. As many runs without the correction. They repeat the same model calls live as the corrected runs.
4. A placebo (a change of the same kind with unrelated text) must not help.
5. If an earlier operation lost a needed piece, the correction of that operation must not help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memtrace.replay import Do

from attribution.statistics.intervals import difference
from attribution.trace.graph import TraceGraph
from optimization.proof.bench import Bench, Draw
from optimization.proof.correction import BlamedOperation, Correction, Corrector
from optimization.proof.model import Proof, Result
from optimization.proof.statistics import fisher
from optimization.replay.recorded import CannotReplayError
from schema.kinds import NOT_THE_MEMORY, ErrorType

_SURELY_SAME = 2
"""After this number of identical runs without live model calls, further runs would be identical too."""


@dataclass(frozen=True, slots=True)
class Blame:
    """The error type and operation that a verdict blames."""

    error_type: ErrorType | None
    operation_id: str | None


async def prove(bench: Bench, blame: Blame, corrector: Corrector) -> Proof:
    """Test whether correcting the blamed operation makes the answer of a failure right.

    Args:
        bench: runs the program of the failure.
        blame: the blamed operation.
        corrector: corrects the operation.
    """
    before = bench.spent
    try:
        proof = await _proof(bench, blame, corrector)
    except CannotReplayError as error:
        proof = Proof(Result.UNSETTLED, str(error), blame.operation_id)
    spent = bench.spent
    own = replace(
        spent,
        runs=spent.runs - before.runs,
        calls=spent.calls - before.calls,
        tokens=spent.tokens - before.tokens,
        cost=None if spent.cost is None else spent.cost - (before.cost or 0.0),
        seconds=spent.seconds - before.seconds,
    )
    return replace(proof, spent=own)


async def _proof(bench: Bench, blame: Blame, corrector: Corrector) -> Proof:
    def unsettled(reason: str) -> Proof:
        return Proof(Result.UNSETTLED, reason, blame.operation_id)

    if blame.error_type in NOT_THE_MEMORY:
        return unsettled(f"a verdict of type {blame.error_type} blames no operation that could be run again")
    if blame.operation_id is None or blame.operation_id not in bench.graph.operations:
        return unsettled("the verdict blames no operation")
    null, inexact = await bench.null_draw()
    if inexact is not None:
        return replace(
            unsettled(f"run again without a change, the program did not do what was recorded{_why(null)}"),
            first_divergence=inexact,
        )
    if null.is_right:
        return unsettled("by its words, the recorded answer is right already")
    blamed = BlamedOperation(bench.graph, bench.recorded, bench.judge, blame.operation_id)
    correction = await corrector.correct(blamed)
    if correction.is_evidence:
        problem = await _not_lost_here(bench, blamed)
        if problem is not None:
            return unsettled(problem)
    return await _tried(bench, blamed, correction, corrector)


async def _not_lost_here(bench: Bench, blamed: BlamedOperation) -> str | None:
    """Why inserted evidence would prove nothing; None if the operation had the pieces of the answer and lost them."""
    if not bench.judge.pieces:
        return "what the answer needs is not clear from the evidence, so nobody can tell whether the operation had it"
    if not await bench.judge.had(blamed.operation_id):
        return "what the operation was given does not have what the answer needs: that was lost before, or elsewhere"
    if not blamed.is_answering and await bench.judge.gave(blamed.operation_id):
        return "what the operation gave back has what the answer needs: it lost nothing"
    if not blamed.is_answering and await bench.judge.others_gave(blamed.operation_id):
        return (
            "another operation was given the same and carried on what the answer needs: this one had another part to do"
        )
    return None


async def _tried(bench: Bench, blamed: BlamedOperation, correction: Correction, corrector: Corrector) -> Proof:
    draws = await _draws(bench, correction.do, bench.options.draws)
    first = draws[0]
    proof = Proof(
        Result.UNSETTLED,
        "",
        blamed.operation_id,
        correction.says,
        draws=len(draws),
        p1=_rate(draws),
        answer=first.answer,
        first_divergence=bench.divergence(first),
    )
    right = sum(one.is_right for one in draws)
    if not right:
        return _without_effect(bench, blamed, proof, correction)
    # Kept replies that all corrected runs used are used again; the other kept replies are asked for again.
    kept = bench.null.replayed.kept if bench.null is not None else frozenset()
    fresh = kept - frozenset.intersection(*(one.replayed.kept for one in draws))
    nulls = await _draws(bench, (), bench.options.draws, fresh=sorted(fresh))
    null_right = sum(one.is_right for one in nulls)
    p = fisher(right, len(draws), null_right, len(nulls))
    interval = difference(null_right, len(nulls), right, len(draws))
    proof = replace(
        proof,
        null_draws=len(nulls),
        p0=_rate(nulls),
        p=p,
        interval=(interval.low, interval.high),
    )
    told = f"right in {right} of {len(draws)} runs with the correction, and in {null_right} of {len(nulls)} without"
    if p > bench.options.alpha:
        if right * len(nulls) <= null_right * len(draws):
            return replace(proof, result=Result.REFUTED, reason=f"the correction does not help: {told}")
        return replace(proof, reason=f"too few runs to tell chance from effect: {told}")
    if correction.placebo:
        placebo = await _draws(bench, correction.placebo, bench.options.draws)
        helps = 2 * sum(one.is_right for one in placebo) > len(placebo)
        proof = replace(proof, placebo=helps)
        if helps:
            return replace(proof, reason="a change that says something else helps as well: it is not the correction")
    if correction.is_evidence and not await bench.judge.had_unit(blamed.operation_id):
        earlier = await _earlier(bench, blamed, corrector)
        if earlier is not None:
            name = bench.graph.operations[earlier].name or earlier
            return replace(
                proof,
                result=Result.REFUTED,
                reason=f"an earlier operation, {name!r}, lost what was needed: correcting that one helps already",
            )
    return replace(proof, result=Result.PROVED, reason=f"the correction rescues the answer: {told}")


def _without_effect(bench: Bench, blamed: BlamedOperation, proof: Proof, correction: Correction) -> Proof:
    if not bench.graph.made(blamed.operation_id):
        return replace(
            proof,
            reason="it gives nothing back that is recorded, and changes nothing that is: what it does lies outside of "
            "it, where no correction of it reaches",
        )
    if blamed.is_answering and correction.is_evidence:
        return replace(
            proof,
            reason="the evidence in its prompt did not help; what else is wrong with the prompt or the body of the "
            "operation that answers, evidence can't correct",
        )
    reached = "" if proof.first_divergence is not None else ", and changes nothing that came after it"
    return replace(
        proof,
        result=Result.REFUTED,
        reason=f"the correction does not rescue the answer in any of {proof.draws} runs{reached}",
    )


async def _draws(bench: Bench, do: Sequence[Do], most: int, fresh: Sequence[str] = ()) -> list[Draw]:
    """Runs with a change; fewer than ``most`` if the runs are identical, wrong, and make no live model call."""
    found: list[Draw] = []
    for _ in range(most):
        one = await bench.draw(do, fresh=fresh)
        if do and not all(one.replayed.hits):
            raise CannotReplayError("the call to be corrected did not come when the program was run again")
        found.append(one)
        is_same = not any(one.replayed.live for one in found) and len({one.shape for one in found}) == 1
        if do and is_same and len(found) >= _SURELY_SAME and not one.is_right:
            break
    return found


async def _earlier(bench: Bench, blamed: BlamedOperation, corrector: Corrector) -> str | None:
    """An earlier operation that lost a piece of the answer, and whose correction makes the answer right."""
    graph = bench.graph
    sequence = graph.operations[blamed.operation_id].sequence
    for operation in upstream(graph, bench, blamed.operation_id):
        if operation not in bench.recorded.calls or graph.operations[operation].sequence >= sequence:
            continue
        judge = bench.judge
        if not await judge.had(operation) or await judge.gave(operation) or await judge.others_gave(operation):
            continue
        other = BlamedOperation(graph, bench.recorded, bench.judge, operation)
        try:
            correction = await corrector.correct(other)
            if (await bench.draw(correction.do)).is_right:
                return operation
        except CannotReplayError:
            continue  # an operation that can't be corrected can't be shown to be at fault
    return None


def upstream(graph: TraceGraph, bench: Bench, operation_id: str) -> list[str]:
    """The operations on the paths from the evidence to an operation, in the order of the trace."""
    way = graph.past(graph.used(operation_id)) & graph.future(bench.judge.evidence)
    makers = {graph.variables[one].operation_id for one in way} - {None, operation_id}
    users = {user for one in way for user in graph.users(one)} - {operation_id}
    found = {one for one in makers | users if one is not None}
    return sorted(found, key=lambda one: graph.operations[one].sequence)


def _rate(draws: Sequence[Draw]) -> float:
    return sum(one.is_right for one in draws) / len(draws)


def _why(null: Draw) -> str:
    """Possible reasons for an inexact replay, to append to a message."""
    reasons = []
    if null.replayed.changed:
        reasons.append(f"its source is another one ({', '.join(null.replayed.changed)})")
    if not null.replayed.is_clock_kept:
        reasons.append("its clock could not be set back, for the package time-machine is not installed beside it")
    return f"; {' and '.join(reasons)}" if reasons else ""
