"""A report's rankings of elements by blame."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.blame.model import By
from attribution.blame.rank import blame
from attribution.report.chart import MOST_BARS
from attribution.report.gather import chosen
from attribution.report.model import Harm, Harmful
from schema.models import Failure, Trace
from store.contract.protocol import GraphStore

_RANKED = (By.OPERATION, By.PROMPT, By.UNIT, By.SESSION)


async def harm(
    store: GraphStore, failures: Sequence[Failure], source: str | None, traces: Sequence[Trace]
) -> list[Harm]:
    """Rankings of the elements that some failures blame.

    Args:
        store: holds the failures.
        failures: of these traces.
        source: whose verdicts count; see ``attribution.report.gather.gather``.
        traces: whose right answers count.
    """
    names = {trace.id: trace.name or trace.external_id for trace in traces}
    found = await blame(store, await chosen(store, failures, source), _RANKED, list(names))
    return [
        Harm(
            by.value,
            [
                Harmful(
                    id=one.id,
                    label=one.name if len(names) == 1 or by is By.PROMPT else f"{one.name} of {names[one.trace_id]}",
                    failed=one.failed,
                    passed=one.passed,
                    score=one.score,
                )
                for one in ranked[:MOST_BARS]
            ],
            len(ranked),
        )
        for by, ranked in found.items()
        if ranked
    ]
