"""All that GraphQL answers to each document that reads: those of the pages, and those of docs/graphql.md."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
import pytest_asyncio
import time_machine
from graphql import OperationDefinitionNode, OperationType, parse

from api.auth.access import Access, Principal
from api.graphql.context import Context
from api.http.platform import Platform
from api.settings import Settings
from api.web.pages.documents import DOCUMENTS
from schema.control import Role
from store.contract.protocol import Database
from store.open import open_database
from tests.expected import compare
from tests.fixed_project import JOBS, NAMES, NOW, PROJECT, QUEUE, RICH, TRACES, id_of, write_fixed
from tests.graphql.built import SCHEMA
from tests.graphql.explained import explained
from tests.graphql.test_docs import DOCUMENTS as DOCUMENTED

FAILURE = TRACES[0].failures[0]
LOST = TRACES[4].failures[1]
"""A failure with a proof path."""
VARIABLES: dict[str, Any] = {
    "project": PROJECT,
    "trace": TRACES[0].trace.id,
    "other": TRACES[1].trace.id,
    "answer": FAILURE.answer_id,
    "answerId": FAILURE.answer_id,
    "rightAnswerId": FAILURE.answer_id,
    "questionId": FAILURE.question_id,
    "message": id_of("Variable message-1"),
    "messageId": id_of("Variable message-1"),
    "unit": id_of("Variable note-2"),
    "before": id_of("Variable note"),
    "place": 10_000,
    "words": "Oslo",
    "text": "Oslo",
    "ids": [id_of("Variable note-2"), id_of("Operation update"), FAILURE.id, TRACES[0].trace.id, "0" * 32],
    "since": "2026-02-01T00:00:00Z",
    "until": "2026-04-01T00:00:00Z",
    "days": "2026-02-01T00:00:00Z",
    "weeks": "2025-12-01T00:00:00Z",
    "years": "2020-12-01T00:00:00Z",
    "failureId": LOST.id,
    "reference": FAILURE.id,
    "operationId": id_of("Operation update"),
    "operation": id_of("Operation update"),
    "direction": "backward",
    "named": True,
    "by": "operation",
    "kinds": [],
    "source": "flow",
    "at": 0,
    "all": True,
    "one": True,
    "changes": True,
    "isAdmin": True,
    "id": LOST.id,
    "job": JOBS[1].id,
    "jobId": JOBS[1].id,
    "queue": QUEUE,
}
OWN: dict[str, dict[str, Any]] = {
    "documented-History": {"after": VARIABLES["unit"]},
    "page-compare_methods": {"before": "flow", "after": "llm"},
    "page-compare_traces": {"before": TRACES[1].trace.id, "after": TRACES[1].trace.id},
    "page-graph": {"id": FAILURE.answer_id},
    "page-graph_of": {"id": FAILURE.answer_id},
    "page-impact": {"id": VARIABLES["message"]},
    "page-memory": {"id": TRACES[0].trace.id},
    "page-memory_review": {"id": TRACES[0].trace.id},
    "page-operation": {"id": VARIABLES["operation"]},
    "page-search": {"search": True},
    "page-trace": {"id": TRACES[0].trace.id, "since": 1, "operations": True, "units": True},
    "page-trace_activity": {"id": TRACES[0].trace.id},
    "page-variable": {
        "id": VARIABLES["unit"],
        "offset": 0,
        "read": True,
        "compare": True,
        "other": True,
        "reference": VARIABLES["before"],
        "after": VARIABLES["unit"],
    },
}
"""By the name of a document: variables whose values differ from the values for all documents."""
WRONG, UNIT = RICH.failures[0], id_of("Variable age@1", RICH)
ELEMENTS = [
    *(one.id for one in RICH.operations),
    *(one.id for one in RICH.variables),
    *(one.id for one in RICH.failures),
    *(one.id for one in RICH.attributions),
]
RICHER: dict[str, Any] = VARIABLES | {
    "trace": RICH.trace.id,
    "other": TRACES[-1].trace.id,
    "answer": WRONG.answer_id,
    "answerId": WRONG.answer_id,
    "rightAnswerId": id_of("Variable answer-name", RICH),
    "questionId": WRONG.question_id,
    "message": id_of("Variable said-li", RICH),
    "messageId": id_of("Variable said-old", RICH),
    "unit": UNIT,
    "before": id_of("Variable age@0", RICH),
    "words": "Käthe",
    "text": "Käthe",
    "ids": ELEMENTS,
    "failureId": WRONG.id,
    "reference": WRONG.id,
    "operationId": id_of("Operation search-age", RICH),
    "operation": id_of("Operation broken", RICH),
    "direction": "forward",
    "source": "Ada",
    "id": WRONG.id,
}
OWN_RICHER: dict[str, dict[str, Any]] = {
    "documented-Case": {"failureId": RICH.failures[1].id},
    "documented-History": {"after": UNIT},
    "page-compare_traces": {"before": RICH.trace.id, "after": RICH.trace.id},
    "page-graph": {"id": WRONG.answer_id},
    "page-graph_of": {"id": WRONG.answer_id},
    "page-impact": {"id": RICHER["message"]},
    "page-job": {"id": JOBS[1].id},
    "page-memory": {"id": RICH.trace.id},
    "page-memory_review": {"id": RICH.trace.id},
    "page-operation": {"id": RICHER["operationId"]},
    "page-queue": {"id": QUEUE},
    "page-queue_labels": {"id": QUEUE},
    "page-trace": {"id": RICH.trace.id, "since": 1, "operations": True, "units": True},
    "page-trace_activity": {"id": RICH.trace.id},
    "page-variable": {**OWN["page-variable"], "id": UNIT, "reference": RICHER["before"], "after": UNIT},
}
WORLDS = {"": (VARIABLES, OWN), ".rich": (RICHER, OWN_RICHER)}
"""Variables of the documents, by the ending of the files' names."""


def _reads(text: str) -> bool:
    return all(
        one.operation is OperationType.QUERY
        for one in parse(text).definitions
        if isinstance(one, OperationDefinitionNode)
    )


TEXTS = {
    **{f"page-{name}": DOCUMENTS[name] for name in DOCUMENTS.names},
    **{f"documented-{name}": text for name, text in DOCUMENTED.items()},
}
READING = sorted(name for name, text in TEXTS.items() if _reads(text))


@pytest_asyncio.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    path = tmp_path_factory.mktemp("answers") / "test.db"
    async with await open_database(f"sqlite:///{path}") as found:
        await write_fixed(found)
        yield found


def _variables(name: str, world: str = "") -> dict[str, Any]:
    (operation,) = (one for one in parse(TEXTS[name]).definitions if isinstance(one, OperationDefinitionNode))
    known, own = WORLDS[world]
    known = known | own.get(name, {})
    wanted = [one.variable.name.value for one in operation.variable_definitions or ()]
    return {one: known[one] for one in wanted if one in known}


def _without_store_times(found: Any) -> Any:
    """An answer without the changes of assignments, whose time is of the store's own clock."""
    if isinstance(found, list):
        return [_without_store_times(one) for one in found]
    if not isinstance(found, dict):
        return found
    gone = {"changedAt"} if "secondsLeft" in found else set()
    return {name: _without_store_times(one) for name, one in found.items() if name not in gone}


CASES = [
    (name, world) for name in READING for world in WORLDS if not world or _variables(name, world) != _variables(name)
]


@pytest.mark.parametrize(("name", "world"), CASES)
async def test_an_answer(opened: Database, name: str, world: str) -> None:
    access = Access(opened, Principal("test", {PROJECT: Role.ADMIN}, person="Ada"))
    platform = Platform(Settings(), opened, *(cast("Any", None),) * 9, explaining=explained(opened))
    with time_machine.travel(NOW, tick=False):
        found = await SCHEMA.execute(TEXTS[name], _variables(name, world), Context(platform, access, None))
    errors = [{"message": one.message, "path": one.path, **(one.extensions or {})} for one in found.errors or ()]
    answer = {"data": _without_store_times(found.data)} | ({"errors": errors} if errors else {})
    compare(__file__, f"{name}{world}.json", answer, NAMES)
