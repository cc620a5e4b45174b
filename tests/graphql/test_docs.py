"""Each document of docs/graphql.md, run by a real client on each engine."""

from __future__ import annotations

import re
from typing import Any

import pytest
from gql import Client, gql
from gql.transport.httpx import HTTPXAsyncTransport
from gql.transport.websockets import WebsocketsTransport
from graphql import OperationDefinitionNode, parse

from tests.data import ROOT
from tests.graphql.world import World

PAGE = (ROOT / "docs" / "graphql.md").read_text("utf-8")
DOCUMENTS = {
    re.search(r"\w+ (\w+)", block)[1]: block  # type: ignore[index]
    for block in re.findall(r"^```graphql\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
}
SUBSCRIPTIONS = {name for name, text in DOCUMENTS.items() if text.startswith("subscription")}


def _variables(world: World, text: str) -> dict[str, Any]:
    (operation,) = (node for node in parse(text).definitions if isinstance(node, OperationDefinitionNode))
    return {
        definition.variable.name.value: world.variables[definition.variable.name.value]
        for definition in operation.variable_definitions or ()
    }


def _empty(value: Any) -> bool:
    return value is None or value in ([], {})


@pytest.mark.parametrize("name", sorted(set(DOCUMENTS) - SUBSCRIPTIONS))
async def test_document(world: World, name: str) -> None:
    headers = world.server.headers("admin", world.project)
    transport = HTTPXAsyncTransport(f"{world.server.url}/graphql", headers=headers, timeout=300)
    async with Client(transport=transport, fetch_schema_from_transport=True, execute_timeout=None) as client:
        request = gql(DOCUMENTS[name])
        request.variable_values = _variables(world, DOCUMENTS[name])
        data = await client.execute(request)
    assert data
    for field, value in data.items():
        assert not _empty(value), field
        if "__typename" in value:
            assert value["__typename"] not in {"NotFound", "Forbidden", "InvalidInput", "Conflict"}, value
        elif isinstance(value, dict):
            assert not any(_empty(inner) for key, inner in value.items() if key != "agreement"), value


async def test_subscription(world: World) -> None:
    (name,) = SUBSCRIPTIONS
    transport = WebsocketsTransport(
        f"{world.server.url.replace('http', 'ws')}/graphql",
        init_payload={"authorization": world.server.headers("reader", world.project)["Authorization"]},
        subprotocols=[WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL],
    )
    request = gql(DOCUMENTS[name])
    request.variable_values = _variables(world, DOCUMENTS[name])
    async with Client(transport=transport) as client:
        states = [event["job"]["state"] async for event in client.subscribe(request)]
    assert states[-1] == "done"


def test_bounds_are_those_of_the_settings() -> None:
    from api.settings import Settings

    fields = Settings.model_fields
    for name in ("depth", "aliases", "tokens", "cost", "subscriptions"):
        assert f"| {fields[f'graphql_{name}'].default:,} | `MEMTRACE_GRAPHQL_{name.upper()}` |" in PAGE
