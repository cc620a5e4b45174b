"""A unit that an update was given and did not return is gone if the search rated the units that it returned."""

from __future__ import annotations

import json

import pytest

from attribution.trace.graph import TraceGraph
from ingest.events.elements import CONSIDERED, RETURNED
from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Variable
from store.contract.protocol import Database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_rules import GOLD, KNOWN, MORE, OTHER, QUESTION, embedded, story, verdict_on

__all__ = ["embedded"]


def tidied() -> tuple[Story, Variable, Variable, Variable]:
    """The needed unit and two others; ``tidy`` is given the first two, and returns the second."""
    told = story()
    needed, kept = told.store(0, KNOWN), told.store(1, OTHER, key="work")
    told.give_back("tidy", kept, needed)
    return told, needed, kept, told.store(2, MORE, key="bread")


async def blamed(
    embedded: Database, told: Story, found: Variable, returned: list[Variable], considered: list[Variable]
) -> tuple[ErrorType | None, str | None]:
    failure = told.ask(QUESTION, GOLD, "It has none.", [found])
    search = next(one for one in told.trace.operations if one.external_id == "search")
    told.trace.use(search, *returned, role=RETURNED)
    told.trace.use(search, *considered, role=CONSIDERED)
    verdict, name = await verdict_on(embedded, told, failure)
    return verdict.error_type, name


@pytest.mark.parametrize("is_returned", [True, False])
async def test_a_search_that_rates_what_an_update_returned_shows_that_the_rest_is_gone(
    embedded: Database, is_returned: bool
) -> None:
    told, _, kept, found = tidied()
    rated = ([found, kept], []) if is_returned else ([found], [kept])
    assert await blamed(embedded, told, found, *rated) == (ErrorType.UPDATE, "tidy")


async def test_so_does_one_that_rates_what_a_later_update_made_of_it(embedded: Database) -> None:
    told, _, kept, found = tidied()
    newer = told.rewrite(kept, "The harbour crane was mended.")
    assert await blamed(embedded, told, found, [found], [newer]) == (ErrorType.UPDATE, "tidy")


async def test_a_search_that_rates_only_units_that_the_update_never_saw_shows_nothing(embedded: Database) -> None:
    told, _, _, found = tidied()
    assert await blamed(embedded, told, found, [found], []) == (ErrorType.RETRIEVAL, "search")


async def test_a_unit_that_the_search_rated_was_there(embedded: Database) -> None:
    told, needed, kept, found = tidied()
    assert await blamed(embedded, told, found, [found], [kept, needed]) == (ErrorType.RETRIEVAL, "search")


async def test_a_unit_that_was_used_after_the_update_was_there(embedded: Database) -> None:
    told, needed, kept, found = tidied()
    told.step("list", OperationKind.OTHER, [needed], ("listed", "1 unit", VariableKind.OTHER))
    assert await blamed(embedded, told, found, [found], [kept]) == (ErrorType.RETRIEVAL, "search")


async def test_a_unit_that_another_update_returned_later_was_there(embedded: Database) -> None:
    told, needed, kept, found = tidied()
    told.give_back("tidy again", needed, kept)
    assert await blamed(embedded, told, found, [found], [kept]) == (ErrorType.RETRIEVAL, "search")


async def test_the_graph_knows_which_units_a_search_rated(embedded: Database) -> None:
    told, needed, kept, found = tidied()
    await blamed(embedded, told, found, [found], [kept])
    graph = await TraceGraph.load(embedded.project("rules"), told.trace.trace.id)
    search = next(one.id for one in graph.operations.values() if one.external_id == "search")
    assert set(graph.rated(search)) == {found.id, kept.id}
    assert needed.id not in graph.rated(search)


def merged(told: Story, first: Variable, second: Variable) -> Variable:
    """Another version of the first unit, made of both."""
    return told.rewrite(first, "The family has a bird, and the crane broke down.", second)


@pytest.mark.parametrize(("is_all", "wanted"), [(True, ErrorType.UPDATE), (False, ErrorType.RETRIEVAL)])
async def test_a_unit_that_was_merged_into_another_is_gone_if_the_search_rates_all_others(
    embedded: Database, is_all: bool, wanted: ErrorType
) -> None:
    told = story()
    needed, kept, found = told.store(0, KNOWN), told.store(1, OTHER, key="work"), told.store(2, MORE, key="bread")
    more = told.store(1, "The week was busy.", key="week")
    whole = merged(told, kept, needed)
    update = next(one for one in told.trace.operations if one.external_id == f"rewrite-{kept.external_id}")
    model = told.trace.operation("model", kind=OperationKind.GENERATION, attributes=json.dumps({"parentId": update.id}))
    told.trace.use(model, needed)
    error, name = await blamed(embedded, told, found, [found], [whole, more] if is_all else [whole])
    assert (error, name) == (wanted, f"rewrite-{kept.external_id}" if is_all else "search")
