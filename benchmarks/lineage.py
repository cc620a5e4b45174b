"""The time of a lineage through GraphQL, beside the store's closure alone."""

from __future__ import annotations

import json
import uuid
from dataclasses import fields
from functools import partial
from typing import Any, cast

from benchmarks.context import Context, say
from benchmarks.generated import fill, layout_key
from benchmarks.generator import QUICK, Shape, answer_of
from benchmarks.neo4j_server import ServerError
from benchmarks.report import Section, Table, at_most, milliseconds, raw, spread, times
from benchmarks.timing import Ratio, alternate, ratio, timed
from store.contract.answers import Budget
from store.contract.protocol import Database, GraphStore
from store.open import open_database

_MOST_RATIO = 1.5
_RUNS = 15
_NODES = 10_000
_SHAPE = Shape(traces=4, variables=6000, width=20)
_FIGURE = "GraphQL lineage of {} variables in {} to the store's closure"
_DOCUMENT = """query Lineage($answer: String!, $nodes: Int!) {
  project {
    variable(reference: $answer) {
      lineage(maxNodes: $nodes) {
        nodes { id kind name sequence preview }
        edges { id source target kind operationId }
        truncated
        frontier
      }
    }
  }
}"""


async def in_sqlite(context: Context) -> Section:
    """Measure in a new SQLite file."""
    section = Section("GraphQL lineage in SQLite")
    with context.scratch() as folder:
        async with await open_database(f"sqlite:///{folder / 'lineage.db'}") as database:
            await _measure(context, database, section, "SQLite")
    return section


async def in_neo4j(context: Context) -> Section:
    """Measure in a project of a Neo4j server, which is emptied again."""
    section = Section("GraphQL lineage in Neo4j")
    try:
        server = await context.server.get(layout_key("neo4j"))
    except ServerError as error:
        section.missing.append(f"no Neo4j can be had: {error}")
        section.goals.append(
            at_most(_FIGURE.format(f"{_shape(context).variables:,}", "Neo4j"), _MOST_RATIO, None, times)
        )
        return section
    with context.scratch() as folder:
        values = (folder / "values").as_uri()
        async with await open_database(server.uri, values, server.credentials) as database:
            await _measure(context, database, section, "Neo4j")
    section.notes.append(f"Neo4j {server.version} on the same machine.")
    return section


async def _measure(context: Context, database: Database, section: Section, engine: str) -> None:
    shape = _shape(context)
    project = f"lineage-{uuid.uuid4().hex}"
    store = database.project(project)
    try:
        await fill(store, shape)
        say(f"GraphQL lineage in {engine}")
        found = await _compare(context, database, project, section)
    finally:
        for trace in (await store.traces()).items:
            await store.delete_trace(trace.id)
    section.goals.append(at_most(_FIGURE.format(f"{shape.variables:,}", engine), _MOST_RATIO, found.value, times))


def _shape(context: Context) -> Shape:
    return QUICK if context.quick else _SHAPE


async def _compare(context: Context, database: Database, project: str, section: Section) -> Ratio:
    shape, runs = _shape(context), context.runs if context.quick else _RUNS
    store = database.project(project)
    ask = _door(database, project)

    def root(run: int) -> str:
        return answer_of(project, shape, run % shape.traces)

    async def by_store(run: int) -> float:
        await _closure(store, root(run))
        return (await timed(_closure(store, root(run))))[0]

    async def by_door(run: int) -> float:
        await ask(root(run))
        return (await timed(ask(root(run))))[0]

    answer = json.loads(await ask(root(0)))["data"]["project"]["variable"]["lineage"]
    closure = await _closure(store, root(0))
    if [node["id"] for node in answer["nodes"]] != [variable.id for variable in closure.variables]:
        raise RuntimeError("GraphQL and the store do not give the same variables")
    found = await alternate(runs, {"GraphQL": by_door, "store.shared.closure": by_store}, warm_ups=2)
    table = Table(("what", f"median of {runs} (least – most)"))
    for name, series in found.items():
        table.add(name, spread(series, milliseconds))
    section.tables.append(table)
    section.numbers["seconds"] = raw(found)
    section.notes.append(
        f"{len(answer['nodes']):,} nodes with 5 fields and {len(answer['edges']):,} edges with 5: all of GraphQL, from "
        "the text of the document to the text of the answer, with all its checks, but for the network. The store is "
        "asked with the same bounds, in turns."
    )
    return ratio(found["GraphQL"], found["store.shared.closure"])


async def _closure(store: GraphStore, root: str) -> Any:
    return await store.closure([root], budget=Budget(nodes=_NODES, seconds=15.0))


def _door(database: Database, project: str) -> Any:
    """GraphQL for a reader of one project: from an id to the text of an answer."""
    import msgspec

    from api.auth.access import Access, Principal
    from api.graphql.answering import Answering
    from api.graphql.context import Context as DoorContext
    from api.graphql.documents import Documents
    from api.graphql.guard import Guard
    from api.graphql.router import limits_of
    from api.graphql.schema import make_schema
    from api.graphql.trusted import TrustedDocuments
    from api.http.platform import Platform
    from api.settings import Settings
    from schema.control import Role

    settings = Settings()
    guard: Any = partial(
        Guard, Documents(limits_of(settings)), settings.request_seconds, TrustedDocuments({}), Answering()
    )
    schema = make_schema(guard)
    unused = cast("Any", {field.name: None for field in fields(Platform)})  # reads need a store and its settings only
    platform = Platform(**unused | {"settings": settings, "database": database})
    access = Access(database, Principal("benchmark", {project: Role.READER}))

    async def ask(answer: str) -> bytes:
        variables = {"answer": answer, "nodes": _NODES}
        result = await schema.execute(_DOCUMENT, variables, DoorContext(platform, access, None))
        if result.errors:
            raise RuntimeError(result.errors[0].message)
        return msgspec.json.encode({"data": result.data})

    return ask
