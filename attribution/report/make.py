"""Makes a report from a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from attribution.report import words
from attribution.report.build import build
from attribution.report.failure_report import FailureReport
from attribution.report.gather import gather
from attribution.report.harm import harm
from attribution.report.illustrate import illustrate
from attribution.report.missed_ranks import Missed, holder, missed_ranks
from attribution.report.model import ReportData, Scope, TraceRef
from attribution.report.questions import answered
from attribution.statistics.kappa import sources_of
from attribution.verdicts.stored import by_id
from schema.kinds import ErrorType
from schema.models import Failure, Trace
from store.contract.protocol import GraphStore
from store.shared.paging import every


async def make(
    store: GraphStore,
    failures: Sequence[Failure],
    source: str | None = None,
    is_selection: bool = False,
    trace_ids: Sequence[str] = (),
) -> ReportData:
    """The report on some failures, without a summary.

    Args:
        store: holds the failures.
        failures: to report on.
        source: a method or an author whose verdicts count; None for the newest verdict by a method.
        is_selection: whether only selected failures are reported, as the report then states.
        trace_ids: the traces of the failures; empty for all traces of the project.
    """
    cases = await gather(store, failures, source)
    covered = await _covered(store, failures, is_selection, trace_ids)
    selection = [failure.id for failure in failures] if is_selection else []
    scope = _scope(store.project_id, covered, source, selection)
    whole = None if is_selection else await answered(store, failures, covered)
    harmful = [] if is_selection else await harm(store, failures, source, covered)
    ranks = await missed_ranks(store, filter(None, map(_missed, cases)))
    return await _illustrated(store, build(cases, scope, datetime.now(UTC), whole, harmful, ranks))


def _missed(case: FailureReport) -> Missed | None:
    """What a search missed; None if the verdict blames no search."""
    operation = case.operation
    if case.error_type is not ErrorType.RETRIEVAL or operation is None:
        return None
    paths = [loss.path for loss in case.losses if loss.operation_id == operation.id] or [case.path]
    return Missed(case.failure_id, case.trace_id, operation.id, frozenset(filter(None, map(holder, paths))))


async def known_sources(store: GraphStore, failures: Sequence[Failure]) -> list[str]:
    """The methods and people who gave verdicts on some failures."""
    return sources_of(await store.attributions([failure.id for failure in failures]))


async def _illustrated(store: GraphStore, data: ReportData) -> ReportData:
    """The report with illustrations of the cases that pages show whole."""
    shown = {number for family in data.families for number in family.cases[: words.SHOWN]}
    found = await illustrate(store, [case for case in data.cases if case.number in shown])
    plain = {case.number: case for case in found}
    return replace(data, cases=[plain.get(case.number, case) for case in data.cases])


async def _covered(
    store: GraphStore, failures: Sequence[Failure], is_selection: bool, trace_ids: Sequence[str]
) -> list[Trace]:
    """The traces of a report: all traces asked for, or only those with chosen failures."""
    if not is_selection and not trace_ids:
        return [trace async for trace in every(lambda after: store.traces(after=after))]
    wanted = {failure.trace_id for failure in failures} if is_selection else set(trace_ids)
    return list((await by_id(store, Trace, sorted(wanted))).values())


def _scope(project: str, traces: Iterable[Trace], source: str | None, selection: list[str]) -> Scope:
    covered = sorted(traces, key=lambda trace: (trace.external_id, trace.id))
    return Scope(
        project=project,
        traces=[TraceRef(trace.id, trace.external_id, trace.name) for trace in covered],
        source=source,
        selection=sorted(selection),
    )
