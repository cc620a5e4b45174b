"""A project with two traces, in which each search phrase and each query of the cookbook finds something."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import neo4j

from attribution.run import Options, attribute
from ingest.files.registry import import_path
from schema.kinds import ErrorType, OperationKind, VariableKind
from store.contract.protocol import Database
from tests.contract.samples import assistant
from tests.data import SAMPLE
from tests.factory import TraceBuilder
from tests.neo4j_server import Neo4jServer

QUESTION = "On which day of the week is Mara's pottery class?"
UNIT = "memory-unit-12"


@dataclass(frozen=True)
class Investigation:
    """A project with failures and verdicts.

    Attributes:
        answer: id of the wrong answer to ``QUESTION``.
        unit: id of the version of ``UNIT`` that still held its detail.
        operation: id of the operation that is blamed for it.
    """

    project: str
    answer: str
    unit: str
    operation: str


async def investigate(database: Database) -> Investigation:
    """Write the sample, with verdicts of the free pass, and a made trace of odd things."""
    store = database.project(f"test-{uuid4().hex}")
    await import_path(store, SAMPLE)
    failures = (await store.failures()).items
    verdicts = {outcome.failure.question: outcome async for outcome in attribute(store, failures, Options())}
    await _odd_things(store.project_id).write(store)
    blamed, answer = verdicts[QUESTION].attribution.operation_id, verdicts[QUESTION].failure.answer_id
    assert blamed is not None
    assert answer is not None
    unit = await store.resolve(f"{UNIT}@1")
    return Investigation(store.project_id, answer, unit.id, blamed)


def _odd_things(project: str) -> TraceBuilder:
    """A trace with a failed operation, a deletion, a growing buffer, a duplicate, a guess, and people who disagree."""
    trace = assistant(project)
    trace.attribution(trace.failures[0], "human", error_type=ErrorType.DELETION, author="Ada", confidence=None)
    copy = trace.operation("copy", kind=OperationKind.UPDATE)
    trace.variable("again", "Mia lives in Oslo", by=copy)
    before = None
    for version in range(3):
        write = trace.operation(f"write-{version}", kind=OperationKind.UPDATE)
        before = trace.variable(
            f"buffer-{version}",
            "line\n" * (version + 1),
            by=write,
            kind=VariableKind.BUFFER,
            name="buffer",
            version=version,
            revision_of=before.id if before else None,
        )
    question = trace.variable("hard-question", "How tall is Mia?", kind=VariableKind.QUERY)
    guess = trace.operation("guess", kind=OperationKind.GENERATION)
    trace.use(guess, question)
    answer = trace.variable("guessed", "Two metres", by=guess, kind=VariableKind.ANSWER)
    trace.derive(answer, question, by=guess)
    return trace


@dataclass(frozen=True)
class Asked:
    """What a query gave, and the operators of its plan."""

    columns: list[str]
    rows: list[neo4j.Record]
    operators: list[str]


async def ask(server: Neo4jServer, text: str, **parameters: Any) -> Asked:
    """Run a query on the real server, to be read only, and look at its plan."""
    async with (
        neo4j.AsyncGraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver,
        driver.session(default_access_mode=neo4j.READ_ACCESS) as session,
    ):
        plan = (await (await session.run(f"EXPLAIN {text}", parameters)).consume()).plan
        result = await session.run(text, parameters)
        rows = [record async for record in result]
        return Asked(list(result.keys()), rows, _operators(plan))


def _operators(plan: dict[str, Any] | None) -> list[str]:
    if plan is None:
        return []
    below = [name for child in plan.get("children", ()) for name in _operators(child)]
    return [plan["operatorType"].partition("@")[0], *below]


def declared(text: str) -> dict[str, Any]:
    """The parameters that stand above a query of the cookbook as comments."""
    lines = [line.removeprefix("// $") for line in text.splitlines() if line.startswith("// $")]
    return {name: json.loads(value) for name, _, value in (line.partition(" = ") for line in lines)}
