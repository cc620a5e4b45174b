"""At most one call of the store per field and level, however many elements a level has."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from api.auth.access import Access, Principal
from api.graphql.context import Context
from api.http.platform import Platform
from api.settings import Settings
from attribution.run import Options, attribute
from attribution.verdicts.stored import every_failure
from ingest.files.registry import import_path
from schema.control import Role
from store.contract.protocol import Database
from store.open import open_database
from tests.data import SAMPLE
from tests.graphql.built import SCHEMA
from tests.graphql.explained import explained


class CountingStore:
    """A store with counted calls."""

    def __init__(self, store: Any, calls: Counter[str]) -> None:
        self._store = store
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found):
            return found

        async def counted(*arguments: Any, **named: Any) -> Any:
            self._calls[name] += 1
            return await found(*arguments, **named)

        return counted


class CountingDatabase:
    """A database whose stores count their calls."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.calls: Counter[str] = Counter()

    def project(self, project_id: str) -> CountingStore:
        return CountingStore(self._database.project(project_id), self.calls)

    def records(self, project_id: str) -> CountingStore:
        return CountingStore(self._database.records(project_id), self.calls)


@pytest.fixture(scope="module")
async def counting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[CountingDatabase]:
    """Four traces of one project."""
    folder: Path = tmp_path_factory.mktemp("loading")
    async with await open_database(f"sqlite:///{folder / 'test.db'}") as database:
        store = database.project("p")
        text = SAMPLE.read_text("utf-8")
        for number in range(4):
            copy = folder / f"{number}.json"
            copy.write_text(text.replace("assistant-sample", f"sample-{number}"), "utf-8")
            await import_path(store, copy)
        async for _ in attribute(store, await every_failure(store, None), Options()):
            pass
        yield CountingDatabase(database)


async def _calls(counting: CountingDatabase, document: str, is_large: bool = False) -> tuple[Any, dict[str, int]]:
    counting.calls.clear()
    principal = Principal("test", {"p": Role.READER})
    access = Access(cast("Database", counting), principal)
    nothing = cast("Any", None)
    database = cast("Database", counting)
    platform = Platform(Settings(), database, *(nothing,) * 9, explaining=explained(database))
    context = Context(platform, access, None)
    context.is_large = is_large
    result = await SCHEMA.execute(document, context_value=context)
    assert result.errors is None, result.errors
    return result.data, dict(counting.calls)


# Withheld failures are read once for each call that returns failures, verdicts or their counts.
_NESTED: dict[str, tuple[str, dict[str, int]]] = {
    "pages inside pages": (
        """{ project { traces { nodes {
          operations(first: 5) { nodes { used { id } generated { id } } }
          variables(first: 5) { nodes { operation { name } versions { id } } }
          failures(first: 2) { nodes { id } }
          sessions { nodes { id } }
        } } } }""",
        {"traces": 1, "pages": 4, "operations": 1, "get": 1, "versions_of": 1, "withheld": 4},
    ),
    "counts": ("{ project { traces { nodes { counts { variables } } } } }", {"traces": 1, "counts": 1, "withheld": 1}),
    "verdicts with all they name": (
        """{ project { failures { nodes {
          trace { name }
          questionVariable { id }
          answerVariable { id }
          evidence { id }
          verdicts {
            operation { session { id } }
            evidence { variable { id } }
            candidates { operation { id } }
            losses { operation { id name } path(first: 3) { variable { id } operation { id } } }
          }
        } } } }""",
        {"failures": 1, "get": 10, "attributions": 1, "withheld": 2},
    ),
    "lineages beside each other": (
        """{ project { failures { nodes { answerVariable { lineage(maxNodes: 100) {
          nodes { id value(length: 5) { text } }
          edges { sourceVariable { name } operation { id } }
        } } } } } }""",
        {"failures": 1, "get": 3, "closures": 1, "values": 1, "withheld": 1},
    ),
    "rankings with their elements": (
        """{ project {
          blame { id element { ... on Operation { session { id } } } }
          prompts: blame(by: prompt) { element { id } }
          units: blame(by: unit) { element { id } }
          sessions: blame(by: session) { element { id } }
        } }""",
        # Reads for all four traces together, and reads for each of the four traces.
        {"stats": 1, "failures": 1, "attributions": 1, "traces": 1, "operations": 1, "page": 16, "get": 7}
        | {"derivations_of": 2, "withheld": 3},
    ),
    "answers with their questions": (
        "{ project { answers(first: 50) { nodes { id questions { id trace { name } } } } } }",
        # A page is read trace by trace.
        {"traces": 4, "page": 4, "operations": 1, "derivations_of": 1, "get": 2},
    ),
    "one hop": (
        """{ project { traces { nodes { variables(first: 20) { nodes {
          derivedFrom { sourceVariable { derivations(first: 3) { targetVariable { id } } } }
        } } } } } }""",
        {"traces": 1, "pages": 1, "derivations_of": 2, "get": 2},
    ),
}


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("name", sorted(_NESTED))
async def test_one_call_per_field_and_level(counting: CountingDatabase, name: str, is_large: bool) -> None:
    document, most = _NESTED[name]
    data, calls = await _calls(counting, document, is_large)
    assert data["project"]
    for call, count in calls.items():
        assert count <= most.get(call, 0), (call, calls)


@pytest.mark.parametrize("is_large", [False, True])
async def test_what_was_not_chosen_reads_each_trace_once(counting: CountingDatabase, is_large: bool) -> None:
    data, calls = await _calls(
        counting,
        """{ project { failures { nodes { whyNot {
          operation { id } held { variable { id } } returned { variable { id } }
        } } } } }""",
        is_large,
    )
    told = [node["whyNot"] for node in data["project"]["failures"]["nodes"]]
    assert len(told) == 12
    assert any(piece["returned"] for pieces in told for piece in pieces)
    # For each of the four traces: variables, operations and edges. For all traces at once: failures and their elements.
    assert (calls["page"], calls["edges"]) == (4 * 2, 4)
    assert calls["get"] <= 4
    assert (calls["failures"], calls["counts"], calls["attributions"]) == (1, 1, 1)


async def test_each_loader_reads_each_key_once(counting: CountingDatabase) -> None:
    """Four traces' failures name few operations many times."""
    data, calls = await _calls(
        counting,
        "{ project { failures { nodes { verdicts { operation { id trace { id name } } } trace { id name } } } } }",
    )
    names = [node["trace"]["name"] for node in data["project"]["failures"]["nodes"]]
    assert len(names) == 12
    assert calls["get"] <= 3
