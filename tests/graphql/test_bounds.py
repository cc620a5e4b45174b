"""Bounds on a field's reads of the store, whatever the document costs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
import pytest_asyncio

import api.graphql.comparison
from api.auth.access import Access, Principal
from api.graphql.context import Context
from api.http.platform import Platform
from api.settings import Settings
from schema.control import Role
from store.contract.protocol import Database
from store.open import open_database
from tests.factory import TraceBuilder
from tests.graphql.built import SCHEMA

PROJECT = "bounds"


@pytest_asyncio.fixture(scope="module")
async def written(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Database, TraceBuilder]]:
    """A value of 26 MB, and a unit of six versions."""
    folder = tmp_path_factory.mktemp("bounds")
    async with await open_database(f"sqlite:///{folder / 'test.db'}") as database:
        trace = TraceBuilder(PROJECT)
        step = trace.operation("step")
        trace.variable("large", "x" * 26_000_000)
        for number in range(6):
            trace.variable(f"unit-{number}", f"version {number}", by=step, name="unit", version=number)
        await trace.write(database.project(PROJECT))
        yield database, trace


async def _ask(database: Database, document: str, **variables: Any) -> Any:
    access = Access(database, Principal("test", {PROJECT: Role.READER}))
    nothing = cast("Any", None)
    platform = Platform(Settings(), database, *(nothing,) * 10)
    return await SCHEMA.execute(document, variables, Context(platform, access, None))


async def test_a_value_beyond_the_bound_is_read_by_http(written: tuple[Database, TraceBuilder]) -> None:
    database, trace = written
    document = "query($id: String!) { project { variable(reference: $id) { value(length: 10) { text } } } }"
    large, unit = trace.variables[0], trace.variables[1]
    found = await _ask(database, document, id=unit.id)
    assert found.data["project"]["variable"]["value"]["text"] == "version 0"
    found = await _ask(database, document, id=large.id)
    (error,) = found.errors
    assert error.extensions == {"code": "BAD_INPUT"}
    assert f"/v1/values/{large.id}" in str(error)


async def test_versions_come_in_pages(written: tuple[Database, TraceBuilder]) -> None:
    database, trace = written
    document = """query($id: String!, $first: Int!, $since: Int!) { project { variable(reference: $id) {
      versions(first: $first, since: $since) { preview }
    } } }"""
    unit = trace.variables[1].id

    async def previews(first: int, since: int) -> list[str]:
        found = await _ask(database, document, id=unit, first=first, since=since)
        assert found.errors is None, found.errors
        return [one["preview"] for one in found.data["project"]["variable"]["versions"]]

    assert await previews(50, 0) == [f"version {number}" for number in range(6)]
    assert await previews(2, 0) == ["version 0", "version 1"]
    assert await previews(2, 4) == ["version 4", "version 5"]
    assert await previews(2, 6) == []


async def test_agreement_looks_at_so_many_failures(
    written: tuple[Database, TraceBuilder], monkeypatch: pytest.MonkeyPatch
) -> None:
    database, _ = written
    trace = TraceBuilder(PROJECT)
    for number in range(3):
        trace.failure(trace.variable(f"question {number}"))
    await trace.write(database.project(PROJECT))
    monkeypatch.setattr(api.graphql.comparison, "_PAGE", 1)
    document = """{ project { agreement(first: "words", second: "human") { cases } } }"""
    assert (await _ask(database, document)).errors is None
    monkeypatch.setattr(api.graphql.comparison, "MAX_FAILURES", 2)
    (error,) = (await _ask(database, document)).errors
    assert "more than 2 failures" in str(error)
