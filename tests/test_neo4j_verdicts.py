"""The edges of a verdict, for Cypher and Bloom: they lead only to elements that the verdict names now."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from uuid import uuid4

import neo4j

from schema.models import Batch
from store.neo4j.database import Neo4jDatabase
from tests.contract.samples import assistant
from tests.neo4j_server import Neo4jServer

EDGES = "MATCH (:Attribution {id: $id})-[edge]->(end) RETURN type(edge) AS type, end.id AS id"


async def edges(server: Neo4jServer, id_: str) -> Counter[tuple[str, str]]:
    async with neo4j.AsyncGraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        records, _, _ = await driver.execute_query(EDGES, id=id_)
        return Counter((record["type"], record["id"]) for record in records)


async def test_a_verdict_points_to_what_it_names(neo4j_database: Neo4jDatabase, neo4j_server: Neo4jServer) -> None:
    trace = assistant(f"test-{uuid4().hex}")
    store = neo4j_database.project(trace.project)
    await trace.write(store)
    (verdict,), (failure,) = trace.attributions, trace.failures
    told, moved, note, note_2 = (trace.variables[place].id for place in (0, 1, 3, 4))
    extract, update = trace.operations[0].id, trace.operations[1].id
    explains = ("EXPLAINS", failure.id)
    first = [explains, ("BLAMES", update), ("CITES", moved), ("CITES", note_2)]
    lost = [("LOST", update), ("LOST", update), ("LOST", extract)]
    assert await edges(neo4j_server, verdict.id) == Counter([*first, *lost])
    steps = ", ".join(f'{{"variableId": "{id_}", "holds": true}}' for id_ in (told, note, told))
    again = replace(
        verdict, operation_id=extract, evidence=f'[{steps}, {{"quote": "x"}}, "{moved}", null]', losses="[]"
    )
    await store.write(Batch(trace.trace, attributions=[again]))
    second = {explains, ("BLAMES", extract), ("CITES", told), ("CITES", note)}
    assert await edges(neo4j_server, verdict.id) == Counter(second)
    await store.write(
        Batch(trace.trace, attributions=[replace(verdict, operation_id=None, evidence="[]", losses="[]")])
    )
    assert await edges(neo4j_server, verdict.id) == Counter({explains})


async def test_what_was_lost_stands_on_the_edge(neo4j_database: Neo4jDatabase, neo4j_server: Neo4jServer) -> None:
    trace = assistant(f"test-{uuid4().hex}")
    store = neo4j_database.project(trace.project)
    await trace.write(store)
    (verdict,) = trace.attributions
    extract, update = trace.operations[0].id, trace.operations[1].id
    text = "MATCH (:Attribution {id: $id})-[lost:LOST]->(o) RETURN properties(lost) AS lost, o.id AS id"
    for _ in range(2):  # the second write changes nothing
        async with neo4j.AsyncGraphDatabase.driver(
            neo4j_server.uri, auth=(neo4j_server.user, neo4j_server.password)
        ) as driver:
            records, _, _ = await driver.execute_query(text, id=verdict.id)
        found = [
            (record["lost"]["position"], record["lost"]["piece"], record["lost"]["confidence"], record["id"])
            for record in records
        ]
        assert {record["lost"]["errorType"] for record in records} == {"UpdateError"}
        assert sorted(found) == [
            (0, "moved on to Bergen", 0.5, update),
            (2, "Oslo", 0.75, extract),
            (3, "to", 0.875, update),
        ]
        await store.write(Batch(trace.trace, attributions=[verdict]))
