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
from tests.fixed_project import NAMES, NOW, PROJECT, TRACES, id_of, write_fixed
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
NEEDS_A_QUEUE = {"documented-Case", "page-queue", "page-queue_labels"}
READING = sorted(name for name, text in TEXTS.items() if _reads(text) and name not in NEEDS_A_QUEUE)


@pytest_asyncio.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    path = tmp_path_factory.mktemp("answers") / "test.db"
    async with await open_database(f"sqlite:///{path}") as found:
        await write_fixed(found.project(PROJECT))
        yield found


def _variables(name: str) -> dict[str, Any]:
    (operation,) = (one for one in parse(TEXTS[name]).definitions if isinstance(one, OperationDefinitionNode))
    known = VARIABLES | OWN.get(name, {})
    wanted = [one.variable.name.value for one in operation.variable_definitions or ()]
    return {one: known[one] for one in wanted if one in known}


@pytest.mark.parametrize("name", READING)
async def test_an_answer(opened: Database, name: str) -> None:
    access = Access(opened, Principal("test", {PROJECT: Role.ADMIN}, person="Ada"))
    platform = Platform(Settings(), opened, *(cast("Any", None),) * 9, explaining=explained(opened))
    with time_machine.travel(NOW, tick=False):
        found = await SCHEMA.execute(TEXTS[name], _variables(name), Context(platform, access, None))
    errors = [{"message": one.message, "path": one.path, **(one.extensions or {})} for one in found.errors or ()]
    compare(__file__, f"{name}.json", {"data": found.data} | ({"errors": errors} if errors else {}), NAMES)
