"""A memory system with failures and verdicts, as many as a test wants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from attribution.report.failure_report import FailureReport
from attribution.report.gather import gather
from attribution.report.make import make
from attribution.report.model import ReportData, Scope, TraceRef
from attribution.verdicts.stored import every_failure
from schema.kinds import ErrorType, OperationKind, QuestionKind, VariableKind
from schema.models import Usage
from store.open import open_database
from tests.factory import TraceBuilder

MADE = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)
PROJECT = "project"

# The blamed operation of each error type: kind, name, settings, prompt.
PLACES: dict[ErrorType, tuple[OperationKind, str, dict[str, Any], str | None]] = {
    ErrorType.EXTRACTION: (OperationKind.EXTRACTION, "extract", {"model": "m-1"}, "extraction-prompt"),
    ErrorType.UPDATE: (OperationKind.UPDATE, "update", {}, "update-prompt"),
    ErrorType.RETRIEVAL: (OperationKind.RETRIEVAL, "search", {"top_k": 5, "nested": {"a": 1}}, None),
    ErrorType.RESPONSE: (OperationKind.GENERATION, "answer", {}, "answer-prompt"),
    ErrorType.JUDGE: (OperationKind.JUDGE, "judge", {}, "judge-prompt"),
}


class Memory:
    """A trace that grows by a failure at a time."""

    def __init__(self, name: str = "memory", label: str = "{}") -> None:
        """``label`` is how names and texts are written, such as ``<b>{}</b>``."""
        self.trace = TraceBuilder(PROJECT, name)
        self.label = label
        self.trace.session("build", name=self.say("construction"))
        self.prompts = {
            prompt: self.trace.variable(prompt, name=self.say(prompt), kind=VariableKind.PROMPT)
            for _, _, _, prompt in PLACES.values()
            if prompt
        }

    def say(self, text: str) -> str:
        """Format a text in this memory's style."""
        return self.label.format(text)

    def fail(
        self, kind: ErrorType | None, confidence: float = 0.9, human: ErrorType | None = None, verdict: bool = True
    ) -> None:
        """A failure with a verdict, an abstention (no kind), or none; and maybe a person's verdict."""
        trace = self.trace
        number = len(trace.failures)
        message = trace.variable(f"message-{number}", self.say(f"fact {number}"), kind=VariableKind.MESSAGE)
        question = trace.variable(f"question-{number}", self.say(f"what is fact {number}?"), kind=VariableKind.QUERY)
        answer = trace.variable(f"answer-{number}", self.say(f"not {number}"), kind=VariableKind.ANSWER)
        failure = trace.failure(question, answer, gold_answers=(self.say(f"fact {number}"),))
        operation = None
        if kind in PLACES:
            place, name, settings, prompt = PLACES[kind]
            operation = trace.operation(
                f"op-{number}", name=self.say(name), kind=place, attributes=json.dumps(settings | {"number": {"n": 1}})
            )
            if prompt:
                trace.use(operation, self.prompts[prompt])
        path = [
            {"variableId": message.id, "operationId": None, "link": "start", "quote": message.preview, "holds": True},
            {
                "variableId": answer.id,
                "operationId": operation.id if operation else None,
                "link": "operation",
                "quote": "",
                "holds": False,
            },
        ]
        if verdict:
            trace.attribution(
                failure,
                "flow",
                error_type=kind,
                operation_id=operation.id if operation else None,
                confidence=confidence if kind else 0.0,
                reason=self.say(f"reason {number}"),
                evidence=json.dumps(path if kind else []),
            )
        if human:
            trace.attribution(
                failure,
                "human",
                error_type=human,
                operation_id=operation.id if operation else None,
                confidence=None,
                author="annotation",
            )

    def lose_pieces(self) -> None:
        """A failure that needed four pieces: two were lost by one search, one by an extraction, one reached the answer.

        A fifth piece can't be followed.
        """
        trace, say = self.trace, self.say
        messages = [trace.variable(f"told-{n}", say(f"piece {n}"), kind=VariableKind.MESSAGE) for n in range(5)]
        extract = trace.operation("extract-pieces", name=say("extract"), kind=OperationKind.EXTRACTION)
        search = trace.operation("search-pieces", name=say("search"), kind=OperationKind.RETRIEVAL)
        question = trace.variable("question-pieces", say("which four?"), kind=VariableKind.QUERY)
        answer = trace.variable("answer-pieces", say("one of them"), kind=VariableKind.ANSWER)
        ends = [
            (search, ErrorType.RETRIEVAL, 0.9),
            (search, ErrorType.RETRIEVAL, 0.8),
            (extract, ErrorType.EXTRACTION, 0.7),
            (None, None, 1.0),
            (None, None, 0.0),
        ]
        losses = [
            {
                "piece": message.preview,
                "errorType": kind,
                "operationId": by.id if by else None,
                "confidence": confidence,
                "reason": say("because"),
                "reached": confidence == 1.0,
                "path": [
                    {"variableId": message.id, "operationId": None, "link": "start", "quote": "", "holds": True},
                ],
            }
            for message, (by, kind, confidence) in zip(messages, ends, strict=True)
        ]
        trace.attribution(
            trace.failure(question, answer),
            "flow",
            error_type=ErrorType.RETRIEVAL,
            operation_id=search.id,
            evidence="[]",
            losses=json.dumps(losses),
            question_kind=QuestionKind.SEVERAL,
        )

    def lose(self, kind: ErrorType, old: str, new: str, others: int = 0) -> None:
        """A failure whose fact was kept in a unit: an update wrote another text, or a search returned other units."""
        trace, say = self.trace, self.say
        number = len(trace.failures)
        message = trace.variable(f"message-{number}", say(f"said {number}"), kind=VariableKind.MESSAGE)
        extract = trace.operation(f"extract-{number}", name=say("extract"), kind=OperationKind.EXTRACTION)
        unit = trace.variable(say(f"unit-{number}@1"), old, by=extract)
        place, name, _, _ = PLACES[kind]
        blamed = trace.operation(f"{place}-{number}", name=say(name), kind=place)
        if kind is ErrorType.UPDATE:
            after = trace.variable(say(f"unit-{number}@2"), new, by=blamed, revision_of=unit.id)
        else:
            units = [trace.variable(say(f"other-{place}"), f"about something else {place}") for place in range(others)]
            ranked = [*units[:-1], unit, units[-1]]
            trace.usages += [
                Usage(blamed.id, one.id, "returned" if rank < 2 else "considered", rank, 0.9 / (1 + 4 * rank))
                for rank, one in enumerate(ranked)
            ]
            after = trace.variable(f"found-{number}", by=blamed, kind=VariableKind.RETRIEVAL_RESULT)
        question = trace.variable(f"question-{number}", say(f"on which day? {number}"), kind=VariableKind.QUERY)
        answer = trace.variable(f"answer-{number}", say("no idea"), kind=VariableKind.ANSWER)
        steps = [(message, None, True), (unit, extract, True), (after, blamed, False)]
        trace.attribution(
            trace.failure(question, answer),
            "flow",
            error_type=kind,
            operation_id=blamed.id,
            evidence=json.dumps(
                [
                    {
                        "variableId": variable.id,
                        "operationId": by.id if by else None,
                        "link": "derivation" if by else "start",
                        "quote": say("Thursday") if holds else "",
                        "holds": holds,
                    }
                    for variable, by, holds in steps
                ]
            ),
        )

    def succeed(self, right: bool | None = None) -> None:
        """A question that was answered well, which somebody may have said."""
        number = len(self.trace.variables)
        self.trace.variable(f"good-question-{number}", self.say(f"what is {number}?"), kind=VariableKind.QUERY)
        said = self.say(f"it is {number}")
        self.trace.variable(f"good-answer-{number}", said, kind=VariableKind.ANSWER, right=right)


def some(label: str = "{}", name: str = "memory") -> Memory:
    """12 failures of all kinds: one abstention, one without verdict, five with a person's verdict; 8 right answers."""
    memory = Memory(name, label)
    for confidence in (0.7, 0.9, 0.8):
        memory.fail(ErrorType.EXTRACTION, confidence, human=ErrorType.EXTRACTION)
    memory.fail(ErrorType.RETRIEVAL, human=ErrorType.RETRIEVAL)
    memory.fail(ErrorType.RETRIEVAL, 0.4, human=ErrorType.RESPONSE)
    memory.fail(ErrorType.UPDATE)
    memory.fail(ErrorType.RESPONSE)
    memory.fail(ErrorType.ANNOTATION)
    memory.fail(ErrorType.JUDGE)
    memory.fail(ErrorType.DELETION)
    memory.fail(None)
    memory.fail(None, verdict=False)
    for _ in range(8):
        memory.succeed()
    return memory


def losing(label: str = "{}") -> Memory:
    """An update that loses a fact, and a search that ranks the unit with the fact as number 12 of 13."""
    memory = Memory(label=label)
    same = memory.say("I like it.").replace("\n", " ")
    for number, kind in enumerate((ErrorType.UPDATE, ErrorType.RETRIEVAL)):
        memory.lose(
            kind,
            f"{same}\nThe class is on Thursday {number}.",
            f"{same}\nThe class is at the Kiln House.",
            others=12,
        )
    return memory


def many(count: int) -> Memory:
    """This many failures of all kinds."""
    memory = Memory()
    kinds = [*ErrorType, None]
    for number in range(count):
        memory.fail(kinds[number % len(kinds)], (number % 97) / 97)
    return memory


def gathered(memories: Sequence[Memory], folder: Path, source: str | None = None) -> list[FailureReport]:
    """The cases of some memories, by way of a real store."""

    async def work() -> list[FailureReport]:
        async with await open_database(f"sqlite:///{folder / 'memory.db'}") as database:
            store = database.project(PROJECT)
            for memory in memories:
                await memory.trace.write(store)
            return await gather(store, await every_failure(store, None), source)

    return asyncio.run(work())


def scope(*memories: Memory) -> Scope:
    """A scope of whole memories."""
    traces = [memory.trace.trace for memory in memories]
    return Scope(PROJECT, [TraceRef(trace.id, trace.external_id, trace.name) for trace in traces], None)


def report(memory: Memory, folder: Path) -> ReportData:
    """The report on a memory, by way of a real store."""

    async def work() -> ReportData:
        async with await open_database(f"sqlite:///{folder / 'memory.db'}") as database:
            store = database.project(PROJECT)
            await memory.trace.write(store)
            made = await make(store, await every_failure(store, None))
            return msgspec.structs.replace(made, created_at=MADE)

    return asyncio.run(work())
