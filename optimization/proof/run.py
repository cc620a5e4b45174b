"""Proves many verdicts, trace by trace: stores each proof at once; a trace that can't be replayed stops no other."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from attribution.trace.graph import TraceGraph
from optimization.proof.bench import Bench, Options, Runs
from optimization.proof.correction import Corrector
from optimization.proof.model import Proof, Result
from optimization.proof.prove import prove
from optimization.proof.reopen import Tried, concluded, explanations, original
from optimization.replay.recorded import CannotReplayError
from schema.errors import InputError
from schema.models import Attribution, Batch, Failure, Trace
from store.contract.answers import Label
from store.contract.protocol import GraphStore


@dataclass(frozen=True, slots=True)
class ReplayedVerdict:
    """A stored verdict after its replay; ``proof`` is the proof of its present explanation."""

    failure: Failure
    attribution: Attribution
    proof: Proof
    is_reopened: bool


async def prove_verdicts(
    store: GraphStore, verdicts: Sequence[tuple[Failure, Attribution]], corrector: Corrector, options: Options
) -> AsyncGenerator[ReplayedVerdict, None]:
    """Prove verdicts by replay, and store each proof beside its verdict.

    Args:
        store: contains the verdicts.
        verdicts: failures, each with a verdict.
        corrector: corrects operations.
        options: settings of the replays.
    """
    by_trace: dict[str, list[tuple[Failure, Attribution]]] = defaultdict(list)
    for failure, verdict in verdicts:
        by_trace[failure.trace_id].append((failure, verdict))
    for trace_id, some in by_trace.items():
        (trace,) = cast("list[Trace]", await store.get(Label.TRACE, [trace_id]))
        graph = await TraceGraph.load(store, trace_id)
        runs = Runs(options)
        try:
            for failure, verdict in some:
                outcome = await _proved(graph, failure, original(verdict), corrector, options, runs)
                if await _stored(store, trace, outcome.attribution):
                    yield outcome
        finally:
            await asyncio.to_thread(runs.close)


async def _proved(
    graph: TraceGraph, failure: Failure, verdict: Attribution, corrector: Corrector, options: Options, runs: Runs
) -> ReplayedVerdict:
    tried: list[Tried] = []
    try:
        async with await Bench.of(graph, failure, options, runs) as bench:
            for blame, confidence, said in explanations(verdict):
                proof = await prove(bench, blame, corrector)
                tried.append(Tried(blame, confidence, said, proof))
                if proof.result is Result.PROVED or (len(tried) == 1 and proof.result is Result.UNSETTLED):
                    break
    except CannotReplayError as error:
        proof = Proof(Result.UNSETTLED, str(error), verdict.operation_id, confidence_before=verdict.confidence)
        return ReplayedVerdict(failure, replace(verdict, proof=proof.encoded()), proof, is_reopened=False)
    if not tried:
        proof = Proof(Result.UNSETTLED, "the verdict names no operation, nor a candidate")
        return ReplayedVerdict(failure, replace(verdict, proof=proof.encoded()), proof, is_reopened=False)
    after = concluded(verdict, tried)
    chosen = next((one for one in tried if one.blame.operation_id == after.operation_id), tried[0])
    is_reopened = (after.error_type, after.operation_id) != (verdict.error_type, verdict.operation_id)
    return ReplayedVerdict(failure, after, chosen.proof, is_reopened)


async def _stored(store: GraphStore, trace: Trace, verdict: Attribution) -> bool:
    """Store a verdict; returns False if the failure was withdrawn meanwhile."""
    try:
        await store.write(Batch(trace, attributions=[verdict]))
    except InputError:
        if await store.get(Label.FAILURE, [verdict.failure_id]):
            raise
        return False
    return True
