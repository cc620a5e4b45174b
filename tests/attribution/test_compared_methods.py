"""Two methods on the same failures, and two traces with the same questions, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from attribution.compare import runs
from attribution.compare.runs import CaseOutcome, compare_methods, compare_traces
from schema.errors import InputError
from schema.ids import make_id
from schema.kinds import HUMAN_METHOD, ErrorType, OperationKind, VariableKind
from schema.models import Trace, Variable
from store.contract.protocol import Database
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


U, R = ErrorType.UPDATE, ErrorType.RETRIEVAL


@pytest.mark.parametrize(
    ("flow", "llm", "person", "outcome", "right"),
    [
        (U, U, U, "stillRight", (True, True)),
        (R, U, U, "fixed", (False, True)),
        (U, R, U, "broken", (True, False)),
        (R, R, U, "stillWrong", (False, False)),
        (U, None, U, "broken", (True, False)),
        (U, R, None, "different", (None, None)),
        (U, U, None, "notCompared", (None, None)),
        (U, ..., U, "notCompared", (True, None)),
        (..., U, U, "notCompared", (None, True)),
        (U, ..., None, "notCompared", (None, None)),
        (..., ..., U, "notCompared", (None, None)),
    ],
)
async def test_verdicts_of_two_methods(
    sqlite_database: Database, flow: Any, llm: Any, person: Any, outcome: str, right: tuple[bool | None, bool | None]
) -> None:
    """An ellipsis is no verdict, and None an abstention; without a person nobody says what is right."""
    store = sqlite_database.project(f"test-{uuid4().hex}")
    trace = TraceBuilder(store.project_id)
    failures = [trace.failure(trace.variable(f"question {number}", kind=VariableKind.QUERY)) for number in range(2)]
    for method, kind in (("flow", flow), ("llm", llm)):
        if kind is not ...:
            trace.attribution(failures[0], method, error_type=kind)
        trace.attribution(failures[1], method, error_type=U)
    if person is not None:
        trace.attribution(failures[0], HUMAN_METHOD, error_type=person, author="Ada")
    await trace.write(store)
    found = await compare_methods(store, "flow", "llm", None)
    assert found is not None
    (case,) = [
        one for one in found.cases if one.question == "text" and one.before and one.before.failure == failures[0]
    ]
    assert case.before is not None
    assert case.after is not None
    assert (case.outcome.value, (case.before.is_right, case.after.is_right)) == (outcome, right)
    assert sum(found.counts.values()) == 2


async def test_a_method_without_a_verdict_is_not_compared(sqlite_database: Database) -> None:
    store = sqlite_database.project(f"test-{uuid4().hex}")
    traces = [TraceBuilder(store.project_id, name) for name in ("one", "two")]
    for trace, methods in zip(traces, (["flow"], ["flow", "llm"]), strict=True):
        failure = trace.failure(trace.variable("question", kind=VariableKind.QUERY))
        for method in methods:
            trace.attribution(failure, method)
        await trace.write(store)
    assert await compare_methods(store, "flow", "llm", traces[0].trace.id) is None
    assert await compare_methods(store, "llm", "flow", traces[0].trace.id) is None
    for trace_id, cases in ((traces[1].trace.id, 1), (None, 2)):
        found = await compare_methods(store, "flow", "llm", trace_id)
        assert found is not None
        assert len(found.cases) == cases


async def test_a_question_that_only_one_run_asked(sqlite_database: Database) -> None:
    store = sqlite_database.project(f"test-{uuid4().hex}")
    before, after = (TraceBuilder(store.project_id, name) for name in ("before", "after"))
    for builder in (before, after):
        _asked(builder, "both", "here", right=True)
    _asked(before, "early", "here", right=True)
    _asked(after, "late", "here", right=True)
    after.variable("answer without a question", kind=VariableKind.ANSWER)
    for builder in (before, after):
        await builder.write(store)
    found = await compare_traces(store, before.trace, after.trace)
    told = {case.question: (case.outcome.value, case.before is None, case.after is None) for case in found.cases}
    assert told == {
        "where is both?": ("stillRight", False, False),
        "where is early?": ("notCompared", False, True),
        "where is late?": ("notCompared", True, False),
    }


async def test_more_cases_than_are_compared(sqlite_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    store = sqlite_database.project(f"test-{uuid4().hex}")
    trace = TraceBuilder(store.project_id)
    for name in ("a", "b"):
        failure = trace.failure(*_asked(trace, name, "here"))
        trace.attribution(failure, "flow")
    _asked(trace, "c", "here")
    await trace.write(store)
    monkeypatch.setattr(runs, "MOST_CASES", 2)
    assert await compare_methods(store, "flow", "flow", None) is not None
    with pytest.raises(InputError, match="more than 2 answers"):
        await compare_traces(store, trace.trace, trace.trace)
    monkeypatch.setattr(runs, "MOST_CASES", 3)
    assert len((await compare_traces(store, trace.trace, trace.trace)).cases) == 3
    monkeypatch.setattr(runs, "MOST_CASES", 1)
    with pytest.raises(InputError, match="more than 1 failures: name a trace"):
        await compare_methods(store, "flow", "flow", None)
