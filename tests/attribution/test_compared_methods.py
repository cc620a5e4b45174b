"""Two methods side by side on the same failures."""

from __future__ import annotations

from pathlib import Path

from attribution.compare.runs import CaseOutcome, compare_methods
from schema.ids import make_id
from schema.kinds import HUMAN_METHOD, ErrorType, VariableKind
from store.open import open_database
from tests.factory import TraceBuilder


async def test_the_newest_verdict_of_a_method_is_compared(tmp_path: Path) -> None:
    """Two people have judged one failure: the second verdict counts, and the free pass agrees with it."""
    trace = TraceBuilder("compared")
    question = trace.variable("question", "where?", kind=VariableKind.QUERY)
    failure = trace.failure(question, trace.variable("answer", "here", kind=VariableKind.ANSWER))
    trace.attribution(failure, "flow", error_type=ErrorType.UPDATE)
    for author, kind in (("Ada", ErrorType.RETRIEVAL), ("Ben", ErrorType.UPDATE)):
        id_ = make_id("Attribution", failure.id, author)
        trace.attribution(failure, HUMAN_METHOD, id=id_, error_type=kind, author=author)
    async with await open_database(f"sqlite:///{tmp_path / 'compared.db'}") as database:
        store = database.project("compared")
        await trace.write(store)
        found = await compare_methods(store, "flow", HUMAN_METHOD, None)
    assert found is not None
    (case,) = found.cases
    assert [side.verdict.author for side in (case.before, case.after) if side and side.verdict] == [None, "Ben"]
    assert case.outcome is CaseOutcome.STILL_RIGHT
