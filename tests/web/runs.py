"""Two runs with the same questions; a change between the runs fixed some answers and broke one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from secrets import token_hex

from schema.kinds import ErrorType, OperationKind, VariableKind
from tests.factory import TraceBuilder
from tests.server.running import RunningServer

QUESTIONS = {
    "q1": ("Where does Ana live?", "Lisbon", "Porto", "Lisbon"),
    "q2": ("What is Ana's cat called?", "Miso", "Miso", "Tofu"),
    "q3": ("When does Ana fly?", "on Friday", "on Monday", "on Sunday"),
    "q4": ("What does Ana play?", "the cello", "the cello", "the cello"),
}
"""A question, its gold answer, and the answers of both runs."""


@dataclass(frozen=True)
class Runs:
    """The project with both runs, and its ids."""

    server: RunningServer
    project: str
    ids: dict[str, str]


def make_runs(server: RunningServer) -> Runs:
    """Write both runs into a project of their own."""
    project = f"runs-{token_hex(4)}"
    traces = [_run(project, name, place) for place, name in enumerate(("before", "after"))]

    async def write() -> None:
        async with await server.place.opened() as database:
            for trace in traces:
                await trace.write(database.project(project))

    asyncio.run(write())
    before, after = traces
    unit = next(one for one in before.variables if one.external_id == "home@1")
    failures = {f"failure-{one.question_id}": one.id for trace in traces for one in trace.failures}
    ids = {"before": before.trace.id, "after": after.trace.id, "unit": unit.id, **failures}
    return Runs(server, project, ids)


def _run(project: str, name: str, place: int) -> TraceBuilder:
    trace = TraceBuilder(project, name)
    trace.session("talk")
    texts = ("Ana lives in Porto.", "Ana lives in Porto with Miso.", "Ana lives in Lisbon with Miso.")
    unit = None
    for version, text in enumerate(texts, 1):
        said = trace.variable(
            f"message-{version}", '{"name": "Ana", "content": "' + text + '"}', kind=VariableKind.MESSAGE
        )
        update = trace.operation(f"update-{version}", name="remember", kind=OperationKind.UPDATE)
        before = unit
        unit = trace.variable(
            f"home@{version}",
            text,
            update,
            name="home",
            version=version,
            revision_of=before.id if before else None,
        )
        trace.derive(unit, said, *([before] if before else []), by=update)
    assert unit is not None
    gone = trace.variable("rumour", "Ana flies on Sunday.", name="rumour", version=1)
    trace.invalidate(trace.operation("forget", name="forget", kind=OperationKind.DELETION), gone)
    for id_, (question, gold, *answers) in QUESTIONS.items():
        asked = trace.variable(id_, question, kind=VariableKind.QUERY)
        answering = trace.operation(f"answer-{id_}", name="answer", kind=OperationKind.GENERATION)
        trace.use(answering, asked, unit)
        is_right = answers[place] == gold
        answer = trace.variable(
            f"answer-{id_}", answers[place], answering, kind=VariableKind.ANSWER, right=True if is_right else None
        )
        trace.derive(answer, asked, unit, by=answering)
        if not is_right:
            failure = trace.failure(asked, answer, gold_answers=(gold,))
            remember, forget = trace.operations[0], trace.operations[3]
            trace.attribution(failure, "flow", error_type=ErrorType.UPDATE, operation_id=remember.id)
            trace.attribution(failure, "llm", error_type=ErrorType.DELETION, operation_id=forget.id)
            trace.attribution(
                failure, "human", error_type=ErrorType.DELETION, operation_id=forget.id, author="Bo", confidence=None
            )
    return trace
