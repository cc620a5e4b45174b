"""A team annotates over HTTP and a websocket: annotators see no verdicts of others before they have given their own."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from tests.graphql.world import World

pytestmark = pytest.mark.one_engine

_CASE = """__typename ... on CaseGiven { assignment { failureId person progress reservedUntil draft } failure { id } }
  ... on Problem { message code }"""
_LOOK = """query Look($p: String!, $f: String!, $t: String!, $v: String!, $id: ID!) {
  node(id: $id) { id }
  project(name: $p) {
    failure(reference: $f) { verdicts { id method } verdictHistory { nodes { id } } whyNot { piece } }
    attribution(reference: $v) { id }
    agreement(first: "flow", second: "flow") { cases }
    blame { id }
    levers { failures of }
    statistics { labels { label count } }
    timeline(since: "2026-01-01T00:00:00Z", until: "2028-01-01T00:00:00Z", seconds: 3000000) { verdicts { count } }
    trace(reference: $t) { counts { attributions } }
    failures { nodes { verdicts { id } attributes } }
  }
}"""


class Person:
    """Somebody with a key."""

    def __init__(self, world: World, name: str, role: str = "writer") -> None:
        self._world = world
        text = """mutation($p: String!, $w: String!, $r: Role!) {
          createKey(project: $p, name: "annotator", role: $r, person: $w) { ... on KeyCreated { secret } } }"""
        made = world.ask(text, {"p": world.project, "w": name, "r": role}, "admin")
        self.headers = {"Authorization": f"Bearer {made['createKey']['secret']}"}

    def client(self) -> httpx.Client:
        """A client with the key."""
        return self._world.server.client(None)

    def ask(self, text: str, **variables: Any) -> Any:
        """Data of an answer."""
        body = {"query": text, "variables": {"p": self._world.project, **variables}}
        with self.client() as client:
            answer = client.post("/graphql", json=body, headers=self.headers).json()
        assert "errors" not in answer, answer
        return answer["data"]

    def do(self, field: str, arguments: str, selection: str, declared: str = "", **variables: Any) -> dict[str, Any]:
        """The result of a mutation."""
        text = f"mutation($p: String!{declared}) {{ {field}(project: $p, {arguments}) {{ {selection} }} }}"
        return dict(self.ask(text, **variables)[field])

    def look(self) -> dict[str, Any]:
        """Every answer that could reveal verdicts."""
        ids = self._world.ids
        named = {"f": ids["failure"], "t": ids["trace"], "v": ids["verdict"], "id": ids["verdict"]}
        return dict(self.ask(_LOOK, **named))

    def follow(self, text: str) -> list[dict[str, Any]]:
        """All states of a subscription until it ends."""
        found = []
        url = f"{self._world.server.url.replace('http', 'ws', 1)}/graphql"
        with connect(url, subprotocols=["graphql-transport-ws"]) as socket:  # type: ignore[list-item]
            socket.send(
                json.dumps({"type": "connection_init", "payload": {"authorization": self.headers["Authorization"]}})
            )
            assert json.loads(socket.recv())["type"] == "connection_ack"
            socket.send(
                json.dumps({"type": "subscribe", "id": "1", "payload": {"query": f"subscription {{ {text} }}"}})
            )
            message = json.loads(socket.recv(timeout=300))
            while message["type"] == "next":
                found.append(message["payload"]["data"])
                if "traceGrowth" in text:
                    break
                message = json.loads(socket.recv(timeout=300))
        return found


@pytest.fixture
def queue(world: World) -> Iterator[str]:
    """A queue of the one failure, for Ada, Ben and Cleo."""
    name = f"queue {time.monotonic_ns()}"
    wish = {"name": name, "people": ["Ada", "Ben", "Cleo"], "failures": [world.ids["failure"]]}
    made = world.ask(
        """mutation($p: String!, $i: AnnotationQueueInput!) { createAnnotationQueue(project: $p, input: $i) {
          ... on QueueChanged { queue { id annotators people progress { cases } } } ... on Problem { message } } }""",
        {"p": world.project, "i": wish},
        "writer",
    )["createAnnotationQueue"]["queue"]
    assert (made["annotators"], made["people"], made["progress"]) == (2, ["Ada", "Ben", "Cleo"], {"cases": 1})
    yield name
    delete = "mutation($p: String!, $q: String!) { deleteAnnotationQueue(project: $p, queue: $q) { __typename } }"
    world.ask(delete, {"p": world.project, "q": name}, "admin")
    for verdict in world.ask(_VERDICTS, {"p": world.project, "f": world.ids["failure"]})["project"]["failure"][
        "verdicts"
    ]:
        if verdict["method"] == "human":
            withdraw = "mutation($p: String!, $v: ID!) { withdrawVerdict(project: $p, id: $v) { __typename } }"
            world.ask(withdraw, {"p": world.project, "v": verdict["id"]}, "admin")


_VERDICTS = (
    "query($p: String!, $f: String!) { project(name: $p) { failure(reference: $f) { verdicts { id method } } } }"
)


def _next(person: Person, queue: str) -> dict[str, Any]:
    return person.do("nextCase", "queue: $q", _CASE, ", $q: String!", q=queue)


def _submit(person: Person, queue: str, **verdict: Any) -> dict[str, Any]:
    selection = """__typename
      ... on CaseSubmitted { assignment { progress } attribution { id author evidence { quote } } }
      ... on CaseRefused { assignment { draft } } ... on Problem { message code }"""
    declared = ", $q: String!, $i: VerdictInput!"
    return person.do("submitCase", "queue: $q, input: $i", selection, declared, q=queue, i=verdict)


def _done(world: World, start: str) -> str:
    """The id of a job that has ended, started over HTTP by the keeper of the project."""
    with world.server.client("admin", world.project) as client:
        job = client.post(f"/v1/{start}", json={"failureIds": [world.ids["failure"]]}).json()["id"]
        while client.get(f"/v1/jobs/{job}").json()["state"] not in {"done", "failed"}:
            time.sleep(0.05)
    return str(job)


def _attributions(project: dict[str, Any]) -> int:
    return int(next(one["count"] for one in project["statistics"]["labels"] if one["label"] == "Attribution"))


@pytest.mark.parametrize(("name", "role"), [("Ada", "writer"), ("Ben", "admin")])
def test_nothing_is_told_before_ones_own_verdict(world: World, queue: str, name: str, role: str) -> None:
    reader = Person(world, "Dan", "reader").look()
    ada = Person(world, name, role)
    assert reader["node"] is not None
    assert reader["project"]["failure"]["whyNot"]
    seen = ada.look()["project"]
    assert ada.look()["node"] is None
    assert seen["failure"] == {"verdicts": [], "verdictHistory": {"nodes": []}, "whyNot": []}
    told = reader["project"]
    assert (seen["attribution"], told["attribution"]) == (None, {"id": world.ids["verdict"]})
    assert (seen["agreement"]["cases"], told["agreement"]["cases"]) == (2, 3)
    assert len(seen["blame"]) < len(told["blame"])
    assert [{one["of"] for one in each["levers"]} for each in (seen, told)] == [{2}, {3}]
    assert [_attributions(one) for one in (seen, told)] == [2, 3]
    assert [sum(n["count"] for p in one["timeline"] for n in p["verdicts"]) for one in (seen, told)] == [2, 3]
    assert [one["trace"]["counts"]["attributions"] for one in (seen, told)] == [2, 3]
    assert sorted(len(one["verdicts"]) for one in seen["failures"]["nodes"]) == [0, 1, 1]
    case = _next(ada, queue)
    assert case["failure"] == {"id": world.ids["failure"]}
    message = world.ids["message"]
    read = "query($p: String!, $m: String!) { project(name: $p) { variable(reference: $m) { preview } } }"
    quote = world.ask(read, {"p": world.project, "m": message})["project"]["variable"]["preview"][:12]
    shown = {"variable": message, "quote": quote}
    wrong = _submit(ada, queue, failure=world.ids["failure"], evidence=[shown | {"quote": "nobody said this"}])
    assert "does not say 'nobody said this'" in wrong["message"]
    done = _submit(ada, queue, failure=world.ids["failure"], errorType="AnnotationError", evidence=[shown])
    assert (done["attribution"]["author"], done["attribution"]["evidence"]) == (name, [{"quote": quote}])
    after = ada.look()["project"]
    assert len(after["failure"]["verdicts"]) == 2
    assert after["attribution"] == {"id": world.ids["verdict"]}
    assert after["failure"]["whyNot"] == reader["project"]["failure"]["whyNot"]


def test_results_of_jobs_are_not_told(world: World, queue: str) -> None:
    ada, dan = Person(world, "Ada"), Person(world, "Dan")
    jobs = {kind: _done(world, kind) for kind in ("attributions", "reports")}
    field = "{ id state result error }"
    for kind, id_ in jobs.items():
        follow = f'job(project: "{world.project}", id: "{id_}") {{ state result error }}'
        text = (
            f"query($p: String!, $id: ID!) {{ project(name: $p) {{ job(id: $id) {field} jobs {{ nodes {field} }} }} }}"
        )
        for person, is_told in ((ada, False), (dan, True)):
            found = person.ask(text, id=id_)["project"]
            (listed,) = [one for one in found["jobs"]["nodes"] if one["id"] == id_]
            told = person.follow(follow)[-1]["job"]
            for one in (found["job"], listed, told):
                assert (one["result"] is not None, one["error"] is None) == (is_told, is_told), kind
            if kind == "reports":
                with person.client() as client:
                    answer = client.get(f"/v1/reports/{id_}", headers=person.headers)
                assert answer.status_code == (200 if is_told else 409)
    growth = f'traceGrowth(project: "{world.project}", id: "{world.ids["trace"]}") {{ attributions }}'
    assert ada.follow(growth) == [{"traceGrowth": {"attributions": 2}}]
    assert dan.follow(growth) == [{"traceGrowth": {"attributions": 3}}]


def test_a_report_that_they_ask_for_lacks_what_is_withheld(world: World, queue: str) -> None:
    ada = Person(world, "Ada")
    started = ada.do("report", "input: {}", "... on JobStarted { job { id } }")["job"]["id"]
    text = "query($p: String!, $id: ID!) { project(name: $p) { job(id: $id) { state result } } }"
    while (job := ada.ask(text, id=started)["project"]["job"])["state"] not in {"done", "failed"}:
        time.sleep(0.05)
    assert job["result"]["withheld"] == [world.ids["failure"]]
    assert world.ids["verdict"] not in json.dumps(job["result"])
    with ada.client() as client:
        answer = client.get(f"/v1/reports/{started}", headers=ada.headers, params={"format": "html"})
    assert answer.status_code == 200


def test_two_disagree_and_a_third_decides(world: World, queue: str) -> None:
    ada, ben, dan = (Person(world, name) for name in ("Ada", "Ben", "Dan"))
    failure, operation = world.ids["failure"], world.ids["operation"]
    for person in (ada, ben):
        _next(person, queue)
    assert _next(Person(world, "Cleo"), queue)["failure"] is None
    assert "'Dan' is not among its annotators" in _next(dan, queue)["message"]
    _submit(ada, queue, failure=failure, errorType="AnnotationError", reason="Ada's reason")
    _submit(ben, queue, failure=failure, errorType="UpdateError", operation=operation, reason="Ben's reason")
    read = """query($p: String!, $q: String!) { project(name: $p) { annotationQueue(reference: $q) {
      progress { done verdicts people { person done } } agreement { cases agreed jointKappa pairs { first second } }
      mine { nodes { progress } }
      disputes { nodes { failure { id } sides { name errorType operationId operation { id } reason confidence
        candidates { errorType } evidence { quote } } adjudicated { author errorType } } } } } }"""
    found = dan.ask(read, q=queue)["project"]["annotationQueue"]
    assert (found["progress"]["done"], found["progress"]["verdicts"]) == (1, 2)
    assert found["agreement"] == {
        "cases": 1,
        "agreed": 0,
        "jointKappa": -1.0,
        "pairs": [{"first": "Ada", "second": "Ben"}],
    }
    (dispute,) = found["disputes"]["nodes"]
    assert [one["name"] for one in dispute["sides"]] == ["A", "B"]
    assert {one["errorType"] for one in dispute["sides"]} == {"AnnotationError", "UpdateError"}
    cleo = Person(world, "Cleo").ask(read, q=queue)["project"]["annotationQueue"]
    assert (cleo["disputes"]["nodes"], cleo["agreement"]["cases"]) == ([], 0)
    assert ada.ask(read, q=queue)["project"]["annotationQueue"]["mine"]["nodes"] == [{"progress": "done"}]
    selection = "__typename ... on Adjudicated { attribution { author } } ... on Problem { message }"
    declared, input_ = ", $q: String!, $i: VerdictInput!", {"failure": failure, "errorType": "AnnotationError"}
    refused = ada.do("adjudicate", "queue: $q, input: $i", selection, declared, q=queue, i=input_)
    assert "leave it to others" in refused["message"]
    final = dan.do("adjudicate", "queue: $q, input: $i", selection, declared, q=queue, i=input_)
    assert final["attribution"] == {"author": "Dan"}
    (dispute,) = dan.ask(read, q=queue)["project"]["annotationQueue"]["disputes"]["nodes"]
    assert dispute["adjudicated"] == {"author": "Dan", "errorType": "AnnotationError"}


_CASE_PAGE = """query($p: String!, $q: String!, $f: String!, $c: ID!) { project(name: $p) {
  failure(reference: $f) { isWithheld suspects { kind } ownVerdict { author reason } }
  annotationQueue(reference: $q) {
    labels assignment(failure: $c) { person progress secondsLeft } dispute(failure: $c) { sides { name } } } } }"""


def _nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth - 1):
        found = [found]
    return found


_IMPORT = """mutation($p: String!, $i: LabelsInput!) { importLabels(project: $p, input: $i) { __typename
  ... on LabelsImported { imported unchanged unmatched { line missing } } ... on Problem { message } } }"""


def test_what_a_page_asks_of_a_case(world: World, queue: str) -> None:
    ada, ben = Person(world, "Ada"), Person(world, "Ben")
    failure = world.ids["failure"]

    def asked(person: Person) -> tuple[dict[str, Any], dict[str, Any]]:
        found = person.ask(_CASE_PAGE, q=queue, f=failure, c=failure)["project"]
        return found["failure"], found["annotationQueue"]

    seen, of_queue = asked(ada)
    assert (seen["isWithheld"], seen["ownVerdict"]) == (True, None)
    # The suspects are the same for everybody, from the graph alone, and include the update at fault.
    kinds = [one["kind"] for one in seen["suspects"]]
    assert {"Extraction", "Update", "Retrieval", "Generation"} <= set(kinds)
    assert kinds == [one["kind"] for one in asked(Person(world, "Dan"))[0]["suspects"]]
    assert of_queue == {"labels": "", "assignment": None, "dispute": None}
    for person, kind in ((ada, "AnnotationError"), (ben, "LLMAsAJudgeError")):
        _next(person, queue)
        assert 0 < asked(person)[1]["assignment"]["secondsLeft"] <= 1800
        _submit(person, queue, failure=failure, errorType=kind, reason=f"{kind} it is")
    seen, of_queue = asked(ada)
    assert (seen["isWithheld"], seen["ownVerdict"]) == (
        False,
        {"author": "Ada", "reason": "AnnotationError it is"},
    )
    assert of_queue["assignment"] == {"person": "Ada", "progress": "done", "secondsLeft": None}
    assert of_queue["dispute"] == {"sides": [{"name": "A"}, {"name": "B"}]}
    lines = [json.loads(line) for line in of_queue["labels"].splitlines()]
    assert [one["author"] for one in lines] == ["Ada", "Ben"]
    # Cleo sees no verdicts on cases that she has still to judge.
    assert asked(Person(world, "Cleo"))[1]["labels"] == ""
    own = {"content": json.dumps(lines[0] | {"why": "said again"}), "name": "mine"}
    assert ada.ask(_IMPORT, i=own)["importLabels"] == {
        "__typename": "LabelsImported",
        "imported": 1,
        "unchanged": 0,
        "unmatched": [],
    }
    assert asked(ada)[0]["ownVerdict"]["reason"] == "said again"
    for line, said in (
        (lines[1], "line 1: is by 'Ben'"),
        (lines[0] | {"adjudicated": True}, "is a final word"),
        (lines[0] | {"more": _nested(101)}, "line 1: is no JSON object: lists and objects are nested more than 100"),
    ):
        assert said in ada.ask(_IMPORT, i={"content": json.dumps(line)})["importLabels"]["message"]
    everybody = {"content": of_queue["labels"]}
    done = Person(world, "Dan", "admin").ask(_IMPORT, i=everybody)["importLabels"]
    assert (done["imported"], done["unchanged"]) == (2, 1)
    assert "message" in Person(world, "Eve", "reader").ask(_IMPORT, i=own)["importLabels"]


def test_what_is_refused_is_kept_for_its_author(world: World, queue: str) -> None:
    ada = Person(world, "Ada")
    _next(ada, queue)
    close = "mutation($p: String!, $q: String!) { closeAnnotationQueue(project: $p, queue: $q) { __typename } }"
    assert world.ask(close, {"p": world.project, "q": queue}, "writer")["closeAnnotationQueue"] == {
        "__typename": "Forbidden"
    }
    assert world.ask(close, {"p": world.project, "q": queue}, "admin")["closeAnnotationQueue"] == {
        "__typename": "QueueChanged"
    }
    refused = _submit(ada, queue, failure=world.ids["failure"], reason="a long text")
    assert (refused["__typename"], refused["code"]) == ("CaseRefused", "REFUSED")
    assert refused["assignment"]["draft"]["reason"] == "a long text"
    undo = ada.do("undoCase", "queue: $q", _CASE, ", $q: String!", q=queue)
    skip = ada.do(
        "skipCase", "queue: $q, failure: $f", _CASE, ", $q: String!, $f: ID!", q=queue, f=world.ids["failure"]
    )
    for one in (undo, skip, _next(ada, queue)):
        assert "is closed" in one["message"]
