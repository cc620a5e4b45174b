"""The public form of an import's report."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.files.protocol import ImportReport, Rejected

COUNTS: dict[str, Any] = {
    "file": "a.json",
    "created": {"Trace": 1},
    "existing": {"Variable": 2},
    "variables": 3,
    "occurrences": 4,
    "operations": 5,
    "derivations": 6,
    "reads": 7,
    "sessions": 8,
    "failures": 9,
    "seconds": 0.5,
}


@pytest.mark.parametrize(
    ("traces", "rejected", "more"),
    [
        (("t1",), (), {}),
        (("t1", "t2"), (), {"traceIds": ("t1", "t2")}),
        ((), (), {"traceIds": ()}),
        (("t1",), (Rejected(3, "bad"),), {"rejected": ({"line": 3, "reason": "bad"},)}),
    ],
)
def test_what_is_usual_is_left_out(
    traces: tuple[str, ...], rejected: tuple[Rejected, ...], more: dict[str, Any]
) -> None:
    report = ImportReport(**COUNTS, trace_id="t1", trace_ids=traces, rejected=rejected)
    assert report.as_json() == {**COUNTS, "traceId": "t1", **more}
