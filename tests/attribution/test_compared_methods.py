"""Two methods on the same failures, and two traces with the same questions, side by side."""

from __future__ import annotations

from pathlib import Path

from attribution.compare.runs import CaseOutcome, compare_methods, compare_traces
from schema.ids import make_id
from schema.kinds import HUMAN_METHOD, ErrorType, OperationKind, VariableKind
from schema.models import Trace, Variable
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


def _asked(builder: TraceBuilder, name: str, answer: str, right: bool | None = None) -> tuple[Variable, Variable]:
    question = builder.variable(f"question-{name}", f"where is {name}?", kind=VariableKind.QUERY)
    answering = builder.operation(f"answering-{name}", kind=OperationKind.GENERATION)
    builder.use(answering, question)
    made = builder.variable(f"answer-{name}", answer, kind=VariableKind.ANSWER, by=answering, right=right)
    builder.derive(made, question, by=answering)
    return question, made


async def test_an_answer_that_nobody_judged_is_fixed_only_if_the_gold_answer_says_so(tmp_path: Path) -> None:
    before, after = TraceBuilder("compared", "before"), TraceBuilder("compared", "after")
    for name in ("same", "right", "other", "judged"):
        question, answer = _asked(before, name, f"in the {name} barn")
        before.failure(question, answer, prediction=f"in the {name} barn", gold_answers=("on the roof",))
    _asked(before, "calm", "in bed")
    _asked(after, "same", "In the same barn.")
    _asked(after, "right", "It is on the roof.")
    _asked(after, "other", "behind a tree")
    _asked(after, "judged", "behind a tree", right=True)
    _asked(after, "calm", "in bed")
    async with await open_database(f"sqlite:///{tmp_path / 'traces.db'}") as database:
        store = database.project("compared")
        traces: list[Trace] = []
        for builder in (before, after):
            await builder.write(store)
            traces.append(builder.trace)
        found = await compare_traces(store, *traces)
    assert {case.question.split()[-1].strip("?"): case.outcome.value for case in found.cases} == {
        "same": "stillWrong",
        "right": "fixed",
        "other": "notJudged",
        "judged": "fixed",
        "calm": "notJudged",
    }
