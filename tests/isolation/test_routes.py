"""Every route of HTTP, taken from the document in which the server describes itself."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.graphql.world import World

pytestmark = pytest.mark.one_engine

OPEN = {"/healthz", "/readyz"}
"""Routes without information about projects, which need no key."""

_ID_OF = {"trace": "trace", "variable": "unit", "job": "job"}
"""Values of path parameters by name. An unknown name fails the test, so that no parameter is forgotten."""

_BODIES: dict[str, list[dict[str, Any]]] = {
    "/v1/attributions": [{}, {"traceId": "trace"}, {"failureIds": ["failure"]}],
    "/v1/reports": [{}, {"traceIds": ["trace"]}, {"failureIds": ["failure"]}],
    "/v1/import": [{}],
    "/v1/events": [{}],
    "/v1/traces": [{}],
}
"""Bodies with the names of ids in the place of ids."""


@dataclass(frozen=True)
class Route:
    """A route, and a body for it."""

    method: str
    path: str
    body: dict[str, Any] | None

    def request(self, world: World, project: str) -> dict[str, Any]:
        """The request for a thing of a world, sent to a project."""
        path = re.sub(r"\{(\w+)\}", lambda found: world.ids[_ID_OF[found[1]]], self.path)
        request: dict[str, Any] = {"method": self.method, "url": path, "params": {"project": project}}
        if self.body is not None:
            text = json.dumps(self.body)
            for name in ("trace", "failure"):
                text = text.replace(f'"{name}"', f'"{world.ids[name]}"')
            request |= {"content": text, "headers": {"Content-Type": "application/json"}}
        return request

    @property
    def names_a_thing(self) -> bool:
        """Whether the request names a thing that is of one project."""
        return "{" in self.path or bool(self.body)


def _routes(world: World) -> list[Route]:
    with world.server.client(None) as client:
        document = client.get("/openapi.json").json()
    found = []
    for path, methods in document["paths"].items():
        for method in methods:
            if path not in OPEN:
                bodies: list[dict[str, Any] | None] = [*_BODIES[path]] if "requestBody" in methods[method] else [None]
                found += [Route(method.upper(), path, body) for body in bodies]
    assert len(found) >= 10
    return found


def _send(world: World, request: dict[str, Any], role: str | None, project: str) -> httpx.Response:
    with world.server.client(role, project) as client:
        return client.request(**request)


def _without_ids(response: httpx.Response, *worlds: World) -> tuple[int, str]:
    text = re.sub(r'"requestId": ?"\w+"', "", response.text)
    for world in worlds:
        for id_ in (*world.ids.values(), world.project):
            text = text.replace(id_, "…")
    return response.status_code, text


def test_another_project_does_not_exist(world: World, other: World) -> None:
    ghost = world.nowhere()
    for route in _routes(world):
        foreign = _send(other, route.request(world, world.project), "admin", other.project)
        nowhere = _send(other, route.request(ghost, ghost.project), "admin", other.project)
        assert foreign.status_code == 404, (route, foreign.text)
        assert _without_ids(foreign, world) == _without_ids(nowhere, ghost), route


def test_its_things_are_not_in_ones_own_project(world: World, other: World) -> None:
    ghost = world.nowhere()
    for route in _routes(world):
        if not route.names_a_thing:
            continue
        foreign = _send(other, route.request(world, other.project), "admin", other.project)
        nowhere = _send(other, route.request(ghost, other.project), "admin", other.project)
        assert foreign.status_code == 404, (route, foreign.text)
        assert _without_ids(foreign, world) == _without_ids(nowhere, ghost), route


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer nonsense", "Basic eDp5", "Bearer mt_" + "0" * 60]
)
def test_without_a_key(world: World, authorization: str | None) -> None:
    for route in _routes(world):
        request = route.request(world, world.project)
        if authorization is not None:
            request["headers"] = request.get("headers", {}) | {"Authorization": authorization}
        response = _send(world, request, None, world.project)
        assert response.status_code in {401, 429}, (route, response.text)
        assert not any(id_ in response.text for id_ in world.ids.values())
        assert "Mara" not in response.text


def test_readers_change_nothing(world: World) -> None:
    for route in _routes(world):
        if route.method != "GET":
            response = _send(world, route.request(world, world.project), "reader", world.project)
            assert response.status_code == 403, (route, response.text)


def test_open_routes_say_nothing_of_projects(world: World) -> None:
    with world.server.client(None) as client:
        for path in (*OPEN, "/metrics", "/openapi.json"):
            response = client.get(path)
            assert response.status_code == 200
            assert world.project not in response.text
            assert not any(id_ in response.text for id_ in world.ids.values())
