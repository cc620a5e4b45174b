"""A project with verdicts and right answers, small enough to count by hand what is blamed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from schema.kinds import DerivationKind, ErrorType, OperationKind, VariableKind
from schema.models import Operation, Variable
from store.contract.protocol import GraphStore
from tests.factory import TraceBuilder

EXTRACT = "Write down what is said."


def step(variable: Variable, holds: bool) -> dict[str, Any]:
    """A step of a path."""
    return {"variableId": variable.id, "operationId": None, "link": "derivation", "quote": "", "holds": holds}


@dataclass
class Life:
    """A trace whose memory writes a unit of each message, and answers questions from some of them."""

    trace: TraceBuilder
    units: list[Variable] = field(default_factory=list)
    messages: list[Variable] = field(default_factory=list)
    extractions: list[Operation] = field(default_factory=list)
    reads: dict[str, Variable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trace.session("build", name="construction")
        self.prompt = self.trace.variable("extraction-prompt", EXTRACT, kind=VariableKind.PROMPT)

    def hear(self, name: str) -> None:
        """A message, and the unit that is made of it."""
        trace = self.trace
        message = trace.variable(f"message-{name}", f"said {name}", kind=VariableKind.MESSAGE)
        extract = trace.operation(f"extract-{name}", name="extract", kind=OperationKind.EXTRACTION)
        trace.use(extract, self.prompt, message)
        unit = trace.variable(f"unit-{name}", f"noted {name}", by=extract, version=1)
        trace.derive(unit, message, self.prompt, by=extract)
        self.messages.append(message)
        self.extractions.append(extract)
        self.units.append(unit)

    def ask(self, name: str, *numbers: int, right: bool | None = None) -> tuple[Variable, Variable, Operation]:
        """A question, its answer from reads of some units, and the operation that answered."""
        trace = self.trace
        question = trace.variable(f"question-{name}", f"what of {name}?", kind=VariableKind.QUERY)
        search = trace.operation(f"search-{name}", name="search", kind=OperationKind.RETRIEVAL)
        trace.use(search, question, *(self.units[number] for number in numbers))
        for number in numbers:
            unit = self.units[number]
            read = trace.variable(
                unit.external_id, trace.text(unit), by=search, version=1, occurrence=1 + len(self.reads)
            )
            trace.derive(read, unit, by=search, kind=DerivationKind.READ)
            trace.derive(read, question, by=search)
            self.reads[f"{name}-{number}"] = read
        answering = trace.operation(f"answer-{name}", name="answer", kind=OperationKind.GENERATION)
        reads = [self.reads[f"{name}-{number}"] for number in numbers]
        trace.use(answering, question, self.prompts["answer"], *reads)
        answer = trace.variable(f"answer-{name}", f"it is {name}", by=answering, kind=VariableKind.ANSWER, right=right)
        trace.derive(answer, question, self.prompts["answer"], *reads, by=answering)
        return question, answer, answering

    @property
    def prompts(self) -> dict[str, Variable]:
        """The prompt of answers, made when it is first asked for."""
        known = [one for one in self.trace.variables if one.name == "answer-prompt"]
        return {
            "answer": known[0] if known else self.trace.variable("answer-prompt", "Answer.", kind=VariableKind.PROMPT)
        }


@dataclass(frozen=True)
class Project:
    """The traces, and what tests ask for by name."""

    one: Life
    two: Life

    async def write(self, store: GraphStore) -> None:
        """Write all of it."""
        await self.one.trace.write(store)
        await self.two.trace.write(store)


def make_project(project: str) -> Project:
    """Two traces: five failures (an annotation error, an abstention) with two right answers, and one right answer."""
    one = Life(TraceBuilder(project, "one"))
    one.hear("a")
    one.hear("b")
    one.trace.session("ask", name=None, category="evaluation")
    trace = one.trace
    asked = [one.ask(f"wrong-{number}", 0) for number in range(5)]
    one.ask("right-0", 0, right=True)
    one.ask("right-1", 0, 1, right=True)
    one.ask("unjudged", 1)
    failures = [trace.failure(question, answer) for question, answer, _ in asked]
    message_a, message_b = one.messages
    extract_a, extract_b = one.extractions
    unit_a, unit_b = one.units
    lost_b = [step(message_b, True), step(unit_b, False)]
    # The store held the unit with the detail, but the search returned a read of another unit.
    lost_a = [step(message_a, True), step(unit_a, True), step(replace(unit_b, id=one.reads["right-1-1"].id), False)]
    losses = [
        {"piece": "b", "errorType": "ExtractionError", "operationId": extract_b.id, "path": lost_b},
        {"piece": "a", "errorType": "RetrievalError", "operationId": extract_a.id, "path": lost_a},
        {"piece": "c", "errorType": None, "operationId": None, "path": []},
    ]
    trace.attribution(
        failures[0],
        "flow",
        error_type=ErrorType.EXTRACTION,
        operation_id=extract_b.id,
        confidence=0.8,
        evidence=json.dumps(lost_b),
        attributes=json.dumps({"losses": losses}),
    )
    # A person's verdict counts, though a model and the free pass were asked later.
    trace.attribution(
        failures[1], "human", error_type=ErrorType.UPDATE, operation_id=extract_b.id, confidence=None, author="Ada"
    )
    trace.attribution(failures[1], "llm", error_type=ErrorType.RESPONSE, operation_id=asked[1][2].id, model="m")
    trace.attribution(failures[1], "flow", error_type=ErrorType.RESPONSE, operation_id=asked[1][2].id)
    # A model's verdict counts before one of the free pass, and its abstention does not.
    answer = asked[2][1]
    path = [step(message_a, True), step(unit_a, True), step(one.reads["wrong-2-0"], True), step(answer, False)]
    trace.attribution(
        failures[2],
        "llm",
        error_type=ErrorType.RESPONSE,
        operation_id=asked[2][2].id,
        confidence=0.6,
        evidence=json.dumps(path),
        model="m",
    )
    trace.attribution(failures[2], "oneshot", error_type=None, confidence=0.0, model="m")
    trace.attribution(failures[2], "flow", error_type=ErrorType.EXTRACTION, operation_id=extract_a.id, confidence=0.9)
    trace.attribution(failures[3], "flow", error_type=ErrorType.ANNOTATION, confidence=0.9)
    trace.attribution(failures[4], "flow", error_type=None, confidence=0.0)
    two = Life(TraceBuilder(project, "two"))
    two.hear("c")
    two.ask("right-2", 0, right=True)
    return Project(one, two)
