"""The bytes of an answer are counted while it is built, and end the operation at a limit."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import pytest
import pytest_asyncio

from api.auth.access import Access, Principal
from api.graphql.answer_bytes import MOST_ERRORS, AnswerBytes, AnswerTooLargeError
from api.graphql.context import Context
from api.http.platform import Platform
from api.settings import Settings
from schema.control import Role
from store.contract.protocol import Database
from store.open import open_database
from tests.factory import TraceBuilder
from tests.graphql.built import SCHEMA

PROJECT = "answers"
COUNT = 60
LIMIT = 1 << 16


@pytest_asyncio.fixture(scope="module")
async def written(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Database, TraceBuilder]]:
    """A chain of variables with long values and attributes."""
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('answers') / 'test.db'}") as database:
        trace = TraceBuilder(PROJECT)
        step = trace.operation("step")
        before = trace.variable("first", "x" * 600)
        for number in range(COUNT):
            after = trace.variable(f"next-{number}", "x" * 600, by=step, attributes=json.dumps({"words": ["y" * 300]}))
            trace.derive(after, before, by=step)
            before = after
        await trace.write(database.project(PROJECT))
        yield database, trace


async def _ask(database: Database, document: str, limit: int, is_sent: bool = True, **variables: Any) -> Any:
    access = Access(database, Principal("test", {PROJECT: Role.READER}))
    settings = Settings().model_copy(update={"graphql_answer_bytes": limit})
    platform = Platform(settings, database, *(cast("Any", None),) * 10)
    return await SCHEMA.execute(document, variables, Context(platform, access, None, is_sent=is_sent))


def _document(fields: str) -> str:
    return (
        "query($id: String!) { project { variable(reference: $id) { lineage(maxNodes: 100) { nodes { "
        f"{fields} }} }} }} }} }}"
    )


_MANY = " ".join(f"a{number}: preview" for number in range(20))
_ALIAS = "a" * 2000
_TOO_LARGE = {
    "one text by many names": _MANY,
    "beside fields that are resolved": f"{_MANY} trace {{ id }}",
    "any JSON": " ".join(f"a{number}: attributes" for number in range(20)),
    "any JSON beside fields that are resolved": f"trace {{ id }} {' '.join(f'a{n}: attributes' for n in range(20))}",
    "a long name": f"{_ALIAS}: size",
    "a long name beside fields that are resolved": f"{_ALIAS}: size trace {{ id }}",
    "the names of lists": " ".join(f"a{number}: derivedFrom {{ id kind }}" for number in range(25)),
}


@pytest.mark.parametrize("is_sent", [True, False], ids=["sent", "for a page"])
@pytest.mark.parametrize("fields", _TOO_LARGE.values(), ids=_TOO_LARGE)
async def test_a_too_large_answer_is_refused(
    written: tuple[Database, TraceBuilder], fields: str, is_sent: bool
) -> None:
    database, trace = written
    found = await _ask(database, _document(fields), LIMIT, is_sent, id=trace.variables[-1].id)
    assert found.data is None
    (error,) = found.errors
    assert error.extensions == {"code": "TOO_LARGE", "limit": LIMIT}
    assert "65,536 bytes: ask for less" in str(error)


@pytest.mark.parametrize("fields", _TOO_LARGE.values(), ids=_TOO_LARGE)
async def test_a_sent_answer_is_the_same_in_json(written: tuple[Database, TraceBuilder], fields: str) -> None:
    database, trace = written
    for_page = await _ask(database, _document(fields), 1 << 24, False, id=trace.variables[-1].id)
    sent = await _ask(database, _document(fields), 1 << 24, True, id=trace.variables[-1].id)
    assert for_page.errors is None
    assert sent.errors is None
    assert json.loads(msgspec.json.encode(sent.data)) == json.loads(json.dumps(for_page.data))


async def test_the_limit_is_about_the_bytes_that_are_sent(written: tuple[Database, TraceBuilder]) -> None:
    database, trace = written
    for fields in (_MANY, f"{_MANY} trace {{ id }}", "id name attributes"):
        found = await _ask(database, _document(fields), 1 << 24, id=trace.variables[-1].id)
        size = len(msgspec.json.encode(found.data))
        assert (await _ask(database, _document(fields), int(0.95 * size), id=trace.variables[-1].id)).errors
        assert not (await _ask(database, _document(fields), int(1.1 * size), id=trace.variables[-1].id)).errors


async def test_a_pages_answer_has_plain_objects(written: tuple[Database, TraceBuilder]) -> None:
    database, trace = written
    found = await _ask(database, _document("attributes"), 1 << 24, False, id=trace.variables[-1].id)
    nodes = found.data["project"]["variable"]["lineage"]["nodes"]
    assert nodes[-1] == {"attributes": {"words": ["y" * 300]}}


def test_control_characters_count_as_they_are_written() -> None:
    counted = AnswerBytes(600)
    with pytest.raises(AnswerTooLargeError):
        counted.add("\0" * 101)


def test_errors_are_counted() -> None:
    counted = AnswerBytes(1 << 20)
    for _ in range(MOST_ERRORS):
        counted.add_error()
    with pytest.raises(AnswerTooLargeError, match="1,000 errors"):
        counted.add_error()
