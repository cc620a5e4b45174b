"""Runs a benchmark: imports each file into a store, attributes all cases, and computes the numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from attribution.benchmark.cases import BenchCase, load, load_labelled
from attribution.benchmark.labelled import LabelledScores, Origin, against
from attribution.benchmark.metrics import Metrics, measure
from attribution.benchmark.result import Result, order_of
from attribution.benchmark.scratch import scratch_store
from attribution.benchmark.trivial import trivial
from attribution.review.labels import Label
from attribution.run import Options, attribute
from attribution.trace.graph import TraceGraph
from attribution.verdicts.stored import by_id
from attribution.verdicts.verdict import Verdict, from_attribution
from ingest.files.opening import plain_name
from schema.errors import InputError, MemTraceError
from schema.models import Failure, Operation, Variable
from store.contract.protocol import GraphStore

RETRIEVED = "retrieved"
"""The key of the retrieved evidence in a verdict's details."""

Progress = Callable[[str, int, int], None]
"""Takes a stage (``read``, ``repair``, ``write``, ``attribute``), the number of finished steps, and of all steps."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The result of a benchmark for one method.

    Attributes:
        paths: the read files.
        split: the parts of the data set of the files.
        errors: unreadable files, with the reasons.
        labelled: scores against labels from a separate file, if given.
    """

    options: Options
    paths: list[str]
    split: str
    results: list[Result]
    controls: list[Result]
    metrics: Metrics
    errors: list[tuple[str, MemTraceError]]
    labelled: LabelledScores | None = None

    def document(self) -> dict[str, Any]:
        """The result in the format of MemTraceBench's own runner, extended by our metrics and results."""
        every = [*self.results, *self.controls]
        return {
            "split": self.split,
            "sampled_graph_paths": self.paths,
            "results": [result.annotated_document() for result in self.results],
            "metrics": self.metrics.document() | (msgspec.to_builtins(self.labelled) if self.labelled else {}),
            "controls": [result.control_document() for result in self.controls],
            "settings": {
                "method": self.options.method,
                "gold_free": self.options.gold_free,
                "no_evidence": self.options.retrieve_evidence,
                "models": sorted({result.verdict.model for result in every if result.verdict.model}),
            },
            "errors": [{"file": file, "error": str(error)} for file, error in self.errors],
        }


async def run(
    files: Sequence[Path],
    options: Options,
    *,
    labels: Sequence[Label] | None = None,
    work: Path | None = None,
    progress: Callable[[Path], Progress] | None = None,
) -> Benchmark:
    """Attribute all cases of some files.

    The method gets each failure without labels, in a store without labels. An unreadable file does not stop the run.

    Args:
        files: graph files with annotations or controls.
        options: how to attribute. With ``retrieve_evidence`` the failures come without evidence.
        labels: for failures of these files, instead of the files' own labels.
        work: folder for the stores, so that a stopped run can continue; None keeps nothing.
        progress: returns the progress callback of each file.
    """
    results: list[Result] = []
    controls: list[Result] = []
    origins: dict[str, Origin] = {}
    errors: list[tuple[str, MemTraceError]] = []
    for file in files:
        tell = progress(file) if progress else _silent
        try:
            async with scratch_store(file, work) as store:
                if labels is None:
                    loaded = await load(store, file, progress=tell)
                else:
                    loaded = await load_labelled(store, file, labels, tell)
                judged = await _attribute(store, loaded.annotated, loaded.controls, options, tell)
                if labels is not None:
                    judged = await _with_trivial(store, judged)
        except MemTraceError as error:
            errors.append((str(file), error))
            continue
        origins[loaded.path] = Origin(loaded.split, loaded.system, loaded.conversation)
        results.extend(judged[: len(loaded.annotated)])
        controls.extend(judged[len(loaded.annotated) :])
    if labels is not None and not results and not errors:
        errors.append((", ".join(map(str, files)), _unmatched(labels, files)))
    results.sort(key=order_of)
    controls.sort(key=order_of)
    splits = {path: origin.trace for path, origin in origins.items()}
    return Benchmark(
        options,
        sorted(splits),
        "+".join(sorted(set(splits.values()))),
        results,
        controls,
        measure(results, controls, splits),
        errors,
        None if labels is None else against(results, origins),
    )


async def _with_trivial(store: GraphStore, results: Sequence[Result]) -> list[Result]:
    """The results of one trace, with the verdicts of trivial rules on the same failures."""
    if not results:
        return []
    graph = await TraceGraph.load(store, results[0].case.failure.trace_id)
    return [replace(one, trivial=await trivial(graph, one.case.failure)) for one in results]


async def _attribute(
    store: GraphStore,
    annotated: Sequence[BenchCase],
    controls: Sequence[BenchCase],
    options: Options,
    tell: Progress,
) -> list[Result]:
    cases = [*annotated, *controls]
    failures: dict[str, Failure] = {}
    for case in cases:
        evidence = () if options.retrieve_evidence else case.failure.evidence_ids
        failures[case.failure.id] = replace(case.failure, evidence_ids=evidence)
    verdicts: dict[str, Verdict] = {}
    tell("attribute", 0, len(failures))
    async for outcome in attribute(store, list(failures.values()), options):
        verdicts[outcome.failure.id] = from_attribution(outcome.attribution)
        tell("attribute", len(verdicts), len(failures))
    names = await _names(store, list(verdicts.values()))
    return [_result(case, verdicts[case.failure.id], names, options.retrieve_evidence) for case in cases]


async def _names(store: GraphStore, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """External ids of all variables and operations in the verdicts, by id."""
    variables: set[str | None] = set()
    operations: set[str | None] = set()
    for verdict in verdicts:
        variables.update(step.variable_id for step in verdict.path)
        variables.update(verdict.details.get(RETRIEVED) or ())
        operations.update(step.operation_id for step in verdict.path)
        operations.update(candidate.operation_id for candidate in verdict.candidates)
        operations.add(verdict.operation_id)
    found: dict[str, Variable | Operation] = {
        **await by_id(store, Variable, variables),
        **await by_id(store, Operation, operations),
    }
    return {id_: element.external_id for id_, element in found.items()}


def _result(case: BenchCase, verdict: Verdict, names: dict[str, str], was_retrieved: bool) -> Result:
    retrieved = verdict.details.get(RETRIEVED) if was_retrieved else None
    return Result(
        case,
        verdict,
        names.get(verdict.operation_id or ""),
        None if retrieved is None else tuple(names[id_] for id_ in retrieved if id_ in names),
        names,
    )


def _unmatched(labels: Sequence[Label], files: Sequence[Path]) -> InputError:
    """The error if no label belongs to any failure of the files."""
    traces = sorted({one.trace for one in labels if one.trace is not None})
    named = f"they name the traces {_some(traces)}" if traces else "no failure has their questions and answers"
    read = _some([plain_name(file) for file in files])
    return InputError("labels", "", f"none of the {len(labels):,} labels belongs to these files: {named}; read: {read}")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")


def _silent(stage: str, done: int, whole: int) -> None:
    """Ignore progress."""
