"""A project that is always the same, with failures and verdicts of all kinds, for tests of whole outputs."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from store.contract.protocol import GraphStore
from tests.attribution.blamed import make_project
from tests.attribution.report.memory import PROJECT, Memory, losing, some
from tests.contract.samples import assistant
from tests.expected import ids_of
from tests.factory import TraceBuilder

__all__ = ["NAMES", "NOW", "PROJECT", "TRACES", "id_of", "write_fixed"]

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
"""A time three days after the traces."""


STEP: dict[str, Any] = {"operationId": None, "link": "start", "quote": "", "holds": True}
LOSS: dict[str, Any] = {"confidence": 0.5, "reason": "so", "reached": False, "path": []}


def _complete(trace: TraceBuilder) -> TraceBuilder:
    """Give the steps and losses of the verdicts all members that a reader needs."""
    for place, verdict in enumerate(trace.attributions):
        evidence = [STEP | step for step in json.loads(verdict.evidence)]
        losses = [LOSS | loss for loss in json.loads(verdict.losses)]
        trace.attributions[place] = replace(verdict, evidence=json.dumps(evidence), losses=json.dumps(losses))
    return trace


def _traces() -> list[TraceBuilder]:
    blamed = make_project(PROJECT)
    pieces = Memory("pieces")
    pieces.lose_pieces()
    lost = losing()
    others = [some(name="kinds").trace, lost.trace, pieces.trace]
    return [_complete(trace) for trace in (assistant(PROJECT), blamed.one.trace, blamed.two.trace, *others)]


TRACES = _traces()
NAMES = ids_of(*TRACES)


def id_of(name: str) -> str:
    """The id of an element of the first trace, such as ``Operation update``."""
    (found,) = [id_ for id_, known in NAMES.items() if known == f"<{TRACES[0].name}: {name}>"]
    return found


async def write_fixed(store: GraphStore) -> None:
    """Write all traces of the project."""
    for trace in TRACES:
        await trace.write(store)
