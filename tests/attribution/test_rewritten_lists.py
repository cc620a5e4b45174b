"""Updates that rewrite a whole list of units: which of them took a unit out."""

from __future__ import annotations

from attribution.trace.given_back import left_out_by
from attribution.trace.graph import TraceGraph
from schema.kinds import DerivationKind, OperationKind, VariableKind
from schema.models import Variable
from store.contract.protocol import Database
from tests.attribution.flow.stories import Story


async def left_out(
    sqlite_database: Database, name: str, *, gives_back: bool, stores: bool
) -> tuple[str | None, str | None]:
    """The operations that took the first and the second unit out, where one update was given both."""
    told = Story.of("lists", "The trip is on 23 May.", "The bus leaves at 7:45.", name=name)
    first, second = told.store(0, "Trip on 23 May", key="first"), told.store(0, "Eleven euros", key="second")
    update = told.trace.operation("rewrite", kind=OperationKind.UPDATE)
    told.trace.use(update, first, second, told.evidence[1])
    if gives_back:
        read: Variable = told.trace.variable(
            second.external_id, told.trace.text(second), by=update, name="second", version=1, occurrence=9
        )
        told.trace.derive(read, second, by=update, kind=DerivationKind.READ)
    if stores:
        made = told.trace.variable(
            "third", "Bus at 7:45", by=update, kind=VariableKind.MEMORY_UNIT, name="third", version=1
        )
        told.trace.derive(made, told.evidence[1], by=update)
    store = sqlite_database.project("lists")
    await told.trace.write(store)
    graph = await TraceGraph.load(store, told.trace.trace.id)
    end = graph.operations[update.id].sequence
    assert left_out_by(graph, first.id, end) is None, "the update is not before itself"
    one, other = (left_out_by(graph, unit.id, end + 1) for unit in (first, second))
    return one.external_id if one else None, other.external_id if other else None


async def test_a_unit_that_a_new_list_lacks_was_left_out(sqlite_database: Database) -> None:
    assert await left_out(sqlite_database, "new", gives_back=True, stores=True) == ("rewrite", None)


async def test_an_update_that_gives_nothing_back_rewrites_no_list(sqlite_database: Database) -> None:
    assert await left_out(sqlite_database, "nothing", gives_back=False, stores=True) == (None, None)


async def test_an_update_that_stores_nothing_new_rewrites_no_list(sqlite_database: Database) -> None:
    assert await left_out(sqlite_database, "same", gives_back=True, stores=False) == (None, None)
