"""Asks with a key of one project for things of another."""

from __future__ import annotations

import httpx

from tests.graphql.world import World


def asked_of(world: World, asker: World, document: str) -> str:
    """The answer to a document that names things of one project, asked with an admin's key of the other."""
    with asker.server.client("admin", asker.project) as client:
        response = client.post("/graphql", json={"query": document})
    return valid(response)


def valid(response: httpx.Response) -> str:
    """An answer; a document that is not valid would prove nothing."""
    assert response.status_code == 200, response.text
    assert response.json()["data"] is not None, (response.request.content, response.text)
    return response.text
