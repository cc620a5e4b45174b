"""Every web page, taken from the table of pages: another project's things are not there, and nobody is told why."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from api.web.pages.routes import PAGES
from tests.graphql.world import World
from tests.web.test_doors import OWN_PAGE, visitor

pytestmark = pytest.mark.one_engine

_ID_OF = {
    "failures": "failure",
    "traces": "trace",
    "operations": "operation",
    "variables": "unit",
    "queues": "queue",
    "jobs": "job",
    "keys": "key",
    "answers": "answer",
}
_FORM = {
    "type": "unknown",
    "reason": "leak",
    "name": "leak",
    "ordering": "random",
    "count": "1",
    "annotators": "1",
    "minutes": "1",
    "role": "reader",
    "days": "1",
    "labels": '{"query_id": "leak", "primary": {"type": "AnnotationError"}}',
}
ABOUT_NO_PROJECT = {"/ui", "/ui/help", "/ui/me"}


def _addresses(world: World, project: str) -> Iterator[tuple[str, str]]:
    """The method and the address of each page, about the things of a world in a project."""
    for method, path, _ in PAGES:
        if path in ABOUT_NO_PROJECT:
            continue
        thing = re.search(r"/(\w+)/\{id\}", path)
        id_ = world.ids[_ID_OF[thing[1]]] if thing else ""
        case = world.ids["failure"]
        yield method, path.format(project=project, id=id_, case=case)
        if path.endswith("/failures"):
            yield method, f"{path.format(project=project)}?trace={world.ids['trace']}"
        if path.endswith("/variables/{id}"):
            yield method, f"{path.format(project=project, id=id_)}?compare={world.ids['before']}"


def _ask(client: httpx.Client, method: str, address: str) -> httpx.Response:
    return client.request(method, address, data=_FORM if method == "POST" else None, headers=OWN_PAGE)


def _without(answer: httpx.Response, world: World, asker: World) -> tuple[int, str]:
    """An answer without what was said in its address."""
    text = answer.text.replace(asker.project, "own")
    for said in (world.project, *world.ids.values()):
        text = text.replace(said, "…")
    return answer.status_code, text


def test_another_project_is_not_there(world: World, other: World) -> None:
    nowhere = world.nowhere()
    with visitor(other.server, other.server.key("admin", other.project)) as client:
        pairs = zip(_addresses(world, world.project), _addresses(nowhere, nowhere.project), strict=True)
        for (method, foreign), (_, absent) in pairs:
            answer = _ask(client, method, foreign)
            assert answer.status_code == 404, (method, foreign)
            assert "Mara" not in answer.text
            assert _without(answer, world, other) == _without(_ask(client, method, absent), nowhere, other), foreign


def test_its_things_are_not_in_ones_own_project(world: World, other: World) -> None:
    nowhere = world.nowhere()
    with visitor(other.server, other.server.key("admin", other.project)) as client:
        pairs = zip(_addresses(world, other.project), _addresses(nowhere, other.project), strict=True)
        for (method, foreign), (_, absent) in pairs:
            if foreign == absent:
                continue
            answer = _ask(client, method, foreign)
            assert answer.status_code == 404 or "?trace=" in foreign, (method, foreign)
            assert "<mark>" not in answer.text
            assert _without(answer, world, other) == _without(_ask(client, method, absent), nowhere, other), foreign
    asked = "{ project { failures { nodes { verdicts { method } } } } }"
    verdicts = [one for failure in world.ask(asked)["project"]["failures"]["nodes"] for one in failure["verdicts"]]
    assert {one["method"] for one in verdicts} == {"flow"}


@pytest.mark.parametrize("key", [None, "nonsense", "mt_" + "0" * 16 + "_" + "a" * 43])
def test_without_a_key(world: World, key: str | None) -> None:
    with visitor(world.server, key) as client:
        for method, address in _addresses(world, world.project):
            answer = _ask(client, method, address)
            assert answer.status_code in {303, 429}, address
            assert "Mara" not in answer.text
            assert answer.status_code == 429 or answer.headers["location"].startswith("/ui/sign-in?next=")
        for address in sorted(ABOUT_NO_PROJECT):
            assert world.project not in client.get(address).text


def test_a_header_opens_no_page(world: World) -> None:
    """A page shows itself to browsers that are signed in; programs ask GraphQL."""
    with world.server.client("admin", world.project) as client:
        assert client.get(f"/ui/projects/{world.project}").status_code == 303


def test_readers_change_nothing(world: World) -> None:
    with visitor(world.server, world.server.key("reader", world.project)) as client:
        for method, address in _addresses(world, world.project):
            if method == "POST":
                expected = {404} if "/disputes/" in address else {400, 403}  # no case of the world is disputed
                assert _ask(client, method, address).status_code in expected, address
    asked = "{ project { failures { nodes { verdicts { method } } } } }"
    verdicts = [one for failure in world.ask(asked)["project"]["failures"]["nodes"] for one in failure["verdicts"]]
    assert {one["method"] for one in verdicts} == {"flow"}
