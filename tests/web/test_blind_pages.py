"""Whoever is blind to a case learns nothing of its verdicts by filters and orders at any door, on each engine.

What the doors give is compared before and after somebody else judges the case: nothing may differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from secrets import token_hex
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.graphql.world import World
from tests.server.running import RunningServer
from tests.web.team import Team, make_team
from tests.web.test_doors import visitor

pytestmark = pytest.mark.one_engine

_DOCUMENT = """query($p: String!, $f: FailureFilter, $o: FailureOrder, $a: String, $n: Int!) { project(name: $p) {
  failures(first: $n, after: $a, filter: $f, orderBy: $o) { nodes { id verdicts { id } } pageInfo { endCursor } } } }"""
_FILTERS: list[dict[str, Any]] = [
    {},
    {"labelled": True},
    {"labelled": False},
    {"method": "human"},
    {"errorType": "UpdateError"},
    {"abstained": True},
    {"minConfidence": 0.9},
    {"maxConfidence": 0.4},
]
_ORDERS = [None, {"by": "confidence"}, {"by": "errorType", "descending": True}, {"by": "operation"}]
_QUERIES = (
    "",
    "labelled=yes",
    "labelled=no",
    "method=human",
    "type=UpdateError",
    "type=none",
    "sure=low",
    "sure=high&method=human",
    "sort=confidence",
    "sort=-confidence&labelled=yes",
    "sort=errorType",
    "sort=-operation",
)
_SAY = """mutation($p: String!, $i: VerdictInput!) { recordVerdict(project: $p, input: $i) {
  __typename ... on VerdictRecorded { attribution { id } } ... on Problem { message } } }"""
_WITHDRAW = "mutation($p: String!, $v: ID!) { withdrawVerdict(project: $p, id: $v) { __typename } }"


@pytest.fixture
def team(shared: World) -> Iterator[Team]:
    """Ada must judge one case; Dan is no annotator, and sees everything."""
    made = make_team(shared, f"blind {token_hex(4)}", ("Ada", "Ben"), failures=[shared.ids["failure"]])
    yield made
    delete = "mutation($p: String!, $q: String!) { deleteAnnotationQueue(project: $p, queue: $q) { __typename } }"
    shared.ask(delete, {"p": shared.project, "q": made.queue}, "admin")


def _over_graphql(team: Team, person: str) -> list[Any]:
    return [
        team.ask(person, _DOCUMENT, f=wanted, o=order, n=first)
        for wanted in _FILTERS
        for order in _ORDERS
        for first in (1, 100)
    ]


def _over_websocket(server: RunningServer, team: Team, person: str) -> list[Any]:
    found = []
    url = f"{server.url.replace('http', 'ws', 1)}/graphql"
    with connect(url, subprotocols=["graphql-transport-ws"]) as socket:  # type: ignore[list-item]
        payload = {"authorization": f"Bearer {team.keys[person]}"}
        socket.send(json.dumps({"type": "connection_init", "payload": payload}))
        assert json.loads(socket.recv())["type"] == "connection_ack"
        for number, wanted in enumerate(_FILTERS):
            variables = {"p": team.world.project, "f": wanted, "o": _ORDERS[1], "n": 1}
            asked = {"query": _DOCUMENT, "variables": variables}
            socket.send(json.dumps({"type": "subscribe", "id": str(number), "payload": asked}))
            message = json.loads(socket.recv(timeout=300))
            found.append(message.get("payload"))
            if message["type"] == "next":
                json.loads(socket.recv(timeout=300))  # it is complete
    return found


def _over_pages(team: Team, person: str) -> list[str]:
    base = f"/ui/projects/{team.world.project}"
    with visitor(team.world.server, team.keys[person]) as client:
        addresses = [
            *(f"{base}/failures?{query}" for query in _QUERIES),
            *(f"{base}/failures/saved?{query}" for query in _QUERIES),
            base,
            f"{base}?method=human",
            f"{base}/blame",
        ]
        found = []
        for address in addresses:
            answer = client.get(address)
            assert answer.status_code == 200, address
            found.append(answer.text)
    return found


def _over_http(team: Team, person: str) -> list[str]:
    with team.world.server.client(None) as client:
        headers = {"Authorization": f"Bearer {team.keys[person]}"}
        answer = client.get(f"/v1/export/{team.world.ids['trace']}", headers=headers)
        assert answer.status_code == 200, answer.text
    return [answer.text]


def _seen(team: Team, person: str) -> dict[str, list[Any]]:
    return {
        "graphql": _over_graphql(team, person),
        "websocket": _over_websocket(team.world.server, team, person),
        "pages": _over_pages(team, person),
        "export": _over_http(team, person),
    }


def _shown(team: Team, person: str) -> tuple[list[Any], list[str]]:
    """Over GraphQL and on pages, other people do see the change."""
    with visitor(team.world.server, team.keys[person]) as client:
        answers = [client.get(f"/ui/projects/{team.world.project}/failures?{query}") for query in _QUERIES]
    assert all(answer.status_code == 200 for answer in answers)
    return [team.ask(person, _DOCUMENT, f=wanted, n=100) for wanted in _FILTERS], [one.text for one in answers]


def test_filters_and_orders_tell_nothing_at_any_door(shared: World, team: Team) -> None:
    failure = shared.ids["failure"]
    before, keeper = _seen(team, "Ada"), _shown(team, "Dan")
    for said in (
        {"errorType": "AnnotationError", "confidence": 0.95},
        {"errorType": "UpdateError", "operation": shared.ids["operation"], "confidence": 0.1},
        {"errorType": None},
    ):
        done = team.ask("Dan", _SAY, i={"failure": failure, "reason": "a secret reason", **said})["recordVerdict"]
        assert done["__typename"] == "VerdictRecorded", done
        after = _seen(team, "Ada")
        for door, shown in before.items():
            assert after[door] == shown, door
        told = _shown(team, "Dan")
        assert all(now != then for now, then in zip(told, keeper, strict=True))
        keeper = told
        assert "a secret reason" not in json.dumps(after)
    team.ask("Dan", _WITHDRAW, v=done["attribution"]["id"])
