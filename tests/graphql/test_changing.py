"""Mutations and subscriptions, from beginning to end."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from websockets.asyncio.client import ClientConnection, connect

from api.loading import open_databases
from tests.contract.samples import assistant
from tests.data import SAMPLE
from tests.factory import TraceBuilder
from tests.graphql.world import World
from tests.server.running import RunningServer


def _change(world: World, text: str, variables: dict[str, Any], role: str = "writer") -> dict[str, Any]:
    (result,) = world.ask(text, {"p": world.project, **variables}, role).values()
    found: dict[str, Any] = result
    return found


def _judge(world: World, role: str = "writer", **verdict: Any) -> dict[str, Any]:
    return _change(
        world,
        """mutation($p: String!, $i: VerdictInput!) { recordVerdict(project: $p, input: $i) {
          __typename
          ... on VerdictRecorded { attribution { id author method errorType operationId reason confidence } }
          ... on Problem { message } } }""",
        {"i": verdict},
        role,
    )


def _verdicts(world: World, failure: str) -> list[dict[str, Any]]:
    text = "query($p: String!, $f: String!) { project(name: $p) { failure(reference: $f) {"
    text += " verdicts { id author method errorType } } } }"
    found: list[dict[str, Any]] = world.ask(text, {"p": world.project, "f": failure})["project"]["failure"]["verdicts"]
    return found


def _withdraw(world: World, verdict: str, role: str = "writer") -> dict[str, Any]:
    text = "mutation($p: String!, $id: ID!) { withdrawVerdict(project: $p, id: $id) {"
    text += " __typename ... on Problem { message } } }"
    return _change(world, text, {"id": verdict}, role)


@pytest.fixture(autouse=True)
def nobody_has_judged(world: World) -> None:
    """What other modules said of the shared world's failure, such as the documents of docs/graphql.md, is gone."""
    for verdict in _verdicts(world, world.ids["failure"]):
        if verdict["method"] == "human":
            assert _withdraw(world, verdict["id"], "admin")["__typename"] == "VerdictWithdrawn"


def test_a_verdict_replaces_ones_own_and_goes_away(world: World) -> None:
    failure, operation = world.ids["failure"], world.ids["operation"]
    before = _verdicts(world, failure)
    first = _judge(world, failure=failure, errorType="ExtractionError", operation=operation, reason="lost")
    second = _judge(world, failure=failure, errorType="UpdateError", operation=operation, confidence=0.5)
    assert first["attribution"]["id"] == second["attribution"]["id"]
    assert second["attribution"]["author"].startswith("key:")
    of_admin = _judge(world, "admin", failure=failure)
    assert len(_verdicts(world, failure)) == len(before) + 2
    assert _withdraw(world, of_admin["attribution"]["id"])["__typename"] == "InvalidInput"
    assert _withdraw(world, of_admin["attribution"]["id"], "admin")["__typename"] == "VerdictWithdrawn"
    assert _withdraw(world, second["attribution"]["id"])["__typename"] == "VerdictWithdrawn"
    assert _withdraw(world, second["attribution"]["id"])["__typename"] == "NotFound"
    assert _withdraw(world, world.ids["verdict"], "admin")["message"].endswith("not a person's: it stays")
    assert _verdicts(world, failure) == before


def test_two_keys_of_a_person_are_one_author(world: World) -> None:
    """A new key in place of an old one changes nothing of what somebody said, and nobody says whose verdict it is."""
    create = """mutation($p: String!, $n: String!, $w: String) {
      createKey(project: $p, name: $n, role: writer, person: $w) {
        ... on KeyCreated { secret key { id person } } ... on Problem { message } } }"""
    judge = """mutation($p: String!, $i: VerdictInput!) { recordVerdict(project: $p, input: $i) {
      ... on VerdictRecorded { attribution { id author } } } }"""
    said = set()
    for name in ("laptop", "new laptop"):
        made = _change(world, create, {"n": name, "w": "Ada"}, "admin")
        assert made["key"]["person"] == "Ada"
        with world.server.client(None) as client:
            variables = {"p": world.project, "i": {"failure": world.ids["failure"], "reason": name}}
            headers = {"Authorization": f"Bearer {made['secret']}"}
            answer = client.post("/graphql", json={"query": judge, "variables": variables}, headers=headers).json()
            whose = client.post("/graphql", json={"query": "{ viewer { person } }"}, headers=headers).json()
        assert whose["data"]["viewer"]["person"] == "Ada"
        verdict = answer["data"]["recordVerdict"]["attribution"]
        said.add((verdict["id"], verdict["author"]))
    ((id_, author),) = said
    assert author == "Ada"
    assert _withdraw(world, id_)["message"].endswith("is another person's: an admin may take it back")
    assert _withdraw(world, id_, "admin")["__typename"] == "VerdictWithdrawn"
    assert "is a method" in _change(world, create, {"n": "bad", "w": "flow"}, "admin")["message"]


def test_a_verdict_keeps_its_history_and_is_undone(world: World) -> None:
    failure = world.ids["failure"]
    read = """query($p: String!, $f: String!, $n: Int!, $after: String) { project(name: $p) { failure(reference: $f) {
      verdicts { reason method history(first: 1) { number verdict { reason } } }
      verdictHistory(first: $n, after: $after) { nodes { number changedBy undoneBy verdict { reason } }
        pageInfo { hasNextPage endCursor } } } } }"""
    undo = """mutation($p: String!, $f: ID!) { undoVerdict(project: $p, failure: $f) { __typename
      ... on VerdictUndone { attribution { reason } } ... on Problem { message } } }"""

    def looked(after: str | None = None, first: int = 2) -> dict[str, Any]:
        found: dict[str, Any] = world.ask(read, {"p": world.project, "f": failure, "after": after, "n": first})[
            "project"
        ]["failure"]
        return found

    for reason in ("one", "two", "three"):
        _judge(world, failure=failure, errorType="AnnotationError", reason=reason)
    assert _change(world, undo, {"f": failure})["attribution"] == {"reason": "two"}
    page = looked()["verdictHistory"]
    rest = looked(page["pageInfo"]["endCursor"], 500)["verdictHistory"]
    assert (page["pageInfo"]["hasNextPage"], rest["pageInfo"]["hasNextPage"]) == (True, False)
    nodes = [*page["nodes"], *rest["nodes"]][-3:]
    assert [(one["verdict"]["reason"], one["undoneBy"] is None) for one in nodes] == [
        ("one", True),
        ("two", True),
        ("three", False),
    ]
    (said,) = [one for one in looked()["verdicts"] if one["reason"] == "two"]
    assert [one["verdict"]["reason"] for one in said["history"]] == ["three"]
    for before in ({"reason": "one"}, None):
        assert _change(world, undo, {"f": failure})["attribution"] == before
    assert "human" not in {one["method"] for one in looked()["verdicts"]}


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ({"confidence": 1.5}, "1.5 is not from 0 to 1"),
        ({"operation": "x"}, "an abstention blames no operation"),
        ({"errorType": "UpdateError", "operation": "x"}, "no operation 'x'"),
        ({"errorType": "UpdateError"}, "UpdateError needs the operation at fault"),
        ({"errorType": "AnnotationError", "also": [{"errorType": "UpdateError"}]}, "UpdateError needs the operation"),
        ({"errorType": "AnnotationError", "also": [{"errorType": "UpdateError", "operation": "x"}]}, "operation 'x'"),
        ({"reason": "x" * 20_001}, "longer than 20,000"),
    ],
)
def test_a_bad_verdict_is_refused(world: World, verdict: dict[str, Any], words: str) -> None:
    before = _verdicts(world, world.ids["failure"])
    assert words in _judge(world, failure=world.ids["failure"], **verdict)["message"]
    assert _verdicts(world, world.ids["failure"]) == before


def test_what_a_person_would_accept_too_are_candidates(world: World) -> None:
    failure, operation = world.ids["failure"], world.ids["operation"]
    other = {"errorType": "UpdateError", "operation": operation[:12]}
    also = [{"errorType": "AnnotationError"}, other]
    said = _judge(world, failure=failure, errorType="ExtractionError", operation=operation, also=also)
    text = """query($p: String!, $id: String!) { project(name: $p) { attribution(reference: $id) {
      candidates { errorType confidence operation { id } } } } }"""
    found = world.ask(text, {"p": world.project, "id": said["attribution"]["id"]})["project"]["attribution"]
    assert found["candidates"] == [
        {"errorType": "AnnotationError", "confidence": None, "operation": None},
        {"errorType": "UpdateError", "confidence": None, "operation": {"id": operation}},
    ]
    text = """query($p: String!) { project(name: $p) { audit(first: 500) { nodes { action target } } } }"""
    entries = world.ask(text, {"p": world.project}, "admin")["project"]["audit"]["nodes"]
    assert {"action": "recordVerdict", "target": said["attribution"]["id"]} in entries
    _withdraw(world, said["attribution"]["id"])


def _complain(world: World, **failure: Any) -> dict[str, Any]:
    return _change(
        world,
        """mutation($p: String!, $i: FailureInput!) { recordFailure(project: $p, input: $i) {
          __typename
          ... on FailureRecorded { failure { id origin question prediction goldAnswers evidenceIds attributes } }
          ... on Problem { message } } }""",
        {"i": failure},
    )


def test_a_known_failure_takes_what_a_person_adds(world: World) -> None:
    ids = world.ids
    said = _complain(world, question=ids["question"], answer=ids["answer"], goldAnswers=["so"], comment="see the log")
    assert said["failure"]["id"] == ids["failure"]
    assert said["failure"]["goldAnswers"] == ["so"]
    again = _complain(world, question=ids["question"], answer=ids["answer"], evidence=[ids["message"]])
    assert again["failure"]["goldAnswers"] == ["so"]
    assert again["failure"]["evidenceIds"] == [ids["message"]]


def test_a_new_failure_has_the_texts_of_its_variables(world: World) -> None:
    ids = world.ids
    said = _complain(world, question=ids["question"], answer=ids["unit"])["failure"]
    assert said["origin"] == "user"
    assert said["question"]
    assert said["prediction"]
    assert _complain(world, question="x")["__typename"] == "NotFound"


def _mark_right(world: World, answer: str, role: str = "writer") -> dict[str, Any]:
    text = """mutation($p: String!, $a: ID!) { markRight(project: $p, answer: $a) {
      __typename ... on RightMarked { answer { id right } } ... on Problem { message } } }"""
    return _change(world, text, {"a": answer}, role)


def test_an_answer_is_right_unless_it_was_wrong(world: World) -> None:
    text = """query($p: String!) { project(name: $p) { audit(first: 500) { nodes { action target outcome } } } }"""
    answer = world.ids["unjudged"]
    assert _mark_right(world, answer, "reader")["__typename"] == "Forbidden"
    for reference in (answer, answer[:12]):
        assert _mark_right(world, reference)["answer"] == {"id": answer, "right": True}
    entries = world.ask(text, {"p": world.project}, "admin")["project"]["audit"]["nodes"]
    said = {"action": "markRight", "target": answer, "outcome": "ok"}
    assert [one for one in entries if one["action"] == "markRight"] == [said]
    refused = _mark_right(world, world.ids["answer"])
    assert refused["__typename"] == "InvalidInput"
    assert world.ids["failure"] in refused["message"]
    assert _mark_right(world, "x")["__typename"] == "NotFound"


def _withdraw_failure(world: World, failure: str, role: str = "writer") -> dict[str, Any]:
    text = """mutation($p: String!, $id: ID!) { withdrawFailure(project: $p, id: $id) {
      __typename ... on FailureWithdrawn { id counts { failures attributions } } ... on Problem { message code } } }"""
    return _change(world, text, {"id": failure}, role)


def test_a_failure_is_withdrawn(world: World) -> None:
    """As it is named by itself or by its answer; of what the world's judge says nothing is."""
    ids = world.ids
    look = """query($p: String!, $v: String!) { project(name: $p) { variable(reference: $v) { right }
      audit(first: 500) { nodes { action target outcome } } } }"""

    def seen() -> tuple[bool | None, list[dict[str, str]]]:
        found = world.ask(look, {"p": world.project, "v": ids["before"]}, "admin")["project"]
        entries = [one for one in found["audit"]["nodes"] if one["action"] == "withdrawFailure"]
        return found["variable"]["right"], entries

    entries: list[dict[str, str]] = []
    for reference in (ids["before"], ids["before"][:12], None):
        failure = _complain(world, question=ids["question"], answer=ids["before"])["failure"]["id"]
        _judge(world, failure=failure)
        assert seen() == (False, entries)
        assert _withdraw_failure(world, reference or failure[:12], "reader")["__typename"] == "Forbidden"
        done = _withdraw_failure(world, reference or failure[:12])
        assert done == {
            "__typename": "FailureWithdrawn",
            "id": failure,
            "counts": {"failures": 1, "attributions": 1},
        }
        entries = [{"action": "withdrawFailure", "target": failure, "outcome": "ok"}, *entries]
        assert seen() == (None, entries)
    assert _withdraw_failure(world, ids["before"])["code"] == "NOT_FOUND"
    for reference in (ids["failure"], ids["answer"]):
        refused = _withdraw_failure(world, reference)
        assert (refused["__typename"], refused["code"]) == ("InvalidInput", "BAD_INPUT")
        assert "and stays: only what a user reported can be withdrawn" in refused["message"]
    assert seen() == (None, entries)


async def _job(world: World, started: dict[str, Any]) -> dict[str, Any]:
    """Wait until a job has ended."""
    text = "query($p: String!, $id: ID!) { project(name: $p) { job(id: $id) { state result error } } }"
    while True:
        job: dict[str, Any] = world.ask(text, {"p": world.project, "id": started["job"]["id"]})["project"]["job"]
        if job["state"] in {"done", "failed", "cancelled"}:
            return job
        await asyncio.sleep(0.2)


_IMPORT = """mutation($p: String!, $i: ImportInput!) { importTrace(project: $p, input: $i) {
  __typename ... on JobStarted { job { id state kind } } ... on InvalidInput { message place } } }"""


async def test_import_and_delete_a_trace(world: World, server: RunningServer) -> None:
    content = SAMPLE.read_text("utf-8").replace("assistant-sample", "by-graphql")
    job = await _job(world, _change(world, _IMPORT, {"i": {"content": content, "name": "mine.json"}}))
    assert job["state"] == "done", job
    look = 'query($p: String!) { project(name: $p) { trace(reference: "by-graphql") { id counts { variables } } } }'
    trace = world.ask(look, {"p": world.project})["project"]["trace"]
    assert trace["counts"]["variables"] > 300
    delete = "mutation($p: String!, $id: ID!) { deleteTrace(project: $p, id: $id) {"
    delete += " ... on TraceDeleted { id counts { variables } } } }"
    assert _change(world, delete, {"id": trace["id"]}, "admin")["counts"] == trace["counts"]
    assert world.ask(look, {"p": world.project})["project"]["trace"] is None


@pytest.mark.one_engine
async def test_a_bad_file_fails_with_its_place(world: World) -> None:
    job = await _job(world, _change(world, _IMPORT, {"i": {"content": '{"data": 5}', "name": "mine.json"}}))
    assert job["state"] == "failed"
    assert "mine.json" in job["error"]
    refused = _change(world, _IMPORT, {"i": {"content": "{}", "timezone": "Mars/Olympus"}})
    assert refused["__typename"] == "InvalidInput"


def test_keys_open_only_what_they_say_and_until_they_are_revoked(world: World, server: RunningServer) -> None:
    create = """mutation($p: String!, $e: DateTime) { createKey(project: $p, name: "n", role: reader, expiresAt: $e) {
      ... on KeyCreated { secret key { id } } ... on InvalidInput { message } } }"""
    made = _change(world, create, {}, "admin")
    document = {"query": "{ viewer { actor } project { role } }"}
    with server.client(None) as client:
        headers = {"Authorization": f"Bearer {made['secret']}"}
        answer = client.post("/graphql", json=document, headers=headers).json()["data"]
        assert answer == {"viewer": {"actor": f"key:{made['key']['id']}"}, "project": {"role": "reader"}}
    assert "is past" in _change(world, create, {"e": "2020-01-01T00:00:00Z"}, "admin")["message"]
    (far,) = world.answer(create, {"p": world.project, "e": "9999-12-31T23:59:59-14:00"}, "admin")["errors"]
    assert "is not from the year 1 to the year 9999 in UTC" in far["message"]
    revoke = "mutation($p: String!, $id: ID!) { revokeKey(project: $p, id: $id) {"
    revoke += " ... on KeyRevoked { key { revokedAt } } } }"
    assert _change(world, revoke, {"id": made["key"]["id"]}, "admin")["key"]["revokedAt"]
    log = world.ask(
        "query($p: String!) { project(name: $p) { audit { nodes { action target } } } }", {"p": world.project}, "admin"
    )["project"]["audit"]["nodes"]
    assert {"action": "revokeKey", "target": made["key"]["id"]} in log
    assert made["secret"] not in json.dumps(log)


async def _socket(world: World, token: str) -> ClientConnection:
    url = f"{world.server.url.replace('http', 'ws', 1)}/graphql"
    socket = await connect(url, subprotocols=["graphql-transport-ws"])  # type: ignore[list-item]
    await socket.send(json.dumps({"type": "connection_init", "payload": {"authorization": f"Bearer {token}"}}))
    assert json.loads(await socket.recv())["type"] == "connection_ack"
    return socket


_GROWTH = "subscription($p: String!, $id: ID!) { traceGrowth(project: $p, id: $id) { failures attributions } }"


async def _follow(world: World, socket: ClientConnection, name: str = "1") -> None:
    payload = {"query": _GROWTH, "variables": {"p": world.project, "id": world.ids["trace"]}}
    await socket.send(json.dumps({"type": "subscribe", "id": name, "payload": payload}))


async def test_a_trace_is_seen_to_grow(world: World) -> None:
    socket = await _socket(world, world.server.key("reader", world.project))
    async with socket:
        await _follow(world, socket)
        before = json.loads(await socket.recv())["payload"]["data"]["traceGrowth"]
        made = await asyncio.to_thread(_judge, world, "admin", failure=world.ids["failure"])
        after = json.loads(await asyncio.wait_for(socket.recv(), 30))["payload"]["data"]["traceGrowth"]
        assert after["attributions"] == before["attributions"] + 1
    await asyncio.to_thread(_withdraw, world, made["attribution"]["id"], "admin")


async def test_a_revoked_key_ends_its_subscriptions(world: World) -> None:
    create = 'mutation($p: String!) { createKey(project: $p, name: "n") { ... on KeyCreated { secret key { id } } } }'
    made = _change(world, create, {}, "admin")
    socket = await _socket(world, made["secret"])
    async with socket:
        await _follow(world, socket)
        assert json.loads(await socket.recv())["type"] == "next"
        revoke = "mutation($p: String!, $id: ID!) { revokeKey(project: $p, id: $id) { __typename } }"
        await asyncio.to_thread(_change, world, revoke, {"id": made["key"]["id"]}, "admin")
        while (message := json.loads(await asyncio.wait_for(socket.recv(), 60)))["type"] == "next":
            if message["payload"].get("errors"):
                break
        assert "UNAUTHENTICATED" in json.dumps(message)


@pytest.mark.one_engine
async def test_operations_of_one_socket_are_bounded(world: World) -> None:
    socket = await _socket(world, world.server.key("reader", world.project))
    async with socket:
        for number in range(40):
            await _follow(world, socket, str(number))
        kinds = [json.loads(await asyncio.wait_for(socket.recv(), 30)) for _ in range(40)]
        refused = [message for message in kinds if message["type"] == "error"]
        assert len(refused) == 20
        assert [message["payload"][0]["extensions"] for message in refused] == [{"code": "LIMIT", "limit": 20}] * 20


@pytest.mark.one_engine
async def test_the_legacy_protocol_is_not_spoken(world: World) -> None:
    url = f"{world.server.url.replace('http', 'ws', 1)}/graphql"
    async with connect(url, subprotocols=["graphql-ws"]) as socket:  # type: ignore[list-item]
        await asyncio.wait_for(socket.wait_closed(), 30)
        assert socket.close_code == 4406


@pytest.mark.one_engine
async def test_a_page_of_another_origin_gets_no_socket(world: World) -> None:
    from websockets.exceptions import InvalidStatus

    url = f"{world.server.url.replace('http', 'ws', 1)}/graphql"
    with pytest.raises(InvalidStatus) as refused:
        await connect(url, subprotocols=["graphql-transport-ws"], origin="https://elsewhere.example")  # type: ignore[list-item, arg-type]
    assert refused.value.response.status_code == 403


_BRIEF = """{ __typename ... on Problem { message code } ... on Conflict { candidates } """


def test_beginnings_of_ids_and_ids_in_the_source_will_do(world: World) -> None:
    ids = world.ids
    said = _complain(world, answer=ids["answer"][:8], evidence=[ids["message"][:12]])
    assert said["failure"]["id"] == ids["failure"]
    assert said["failure"]["evidenceIds"] == [ids["message"]]
    assert _complain(world, question=ids["question"][:8], answer=ids["answer"])["failure"]["id"] == ids["failure"]
    verdict = _judge(world, failure=ids["failure"][:8], errorType="UpdateError", operation=ids["operation"][:8])
    assert verdict["attribution"]["operationId"] == ids["operation"]
    text = "mutation($p: String!, $id: ID!) { withdrawVerdict(project: $p, id: $id) "
    text += _BRIEF + "... on VerdictWithdrawn { id } } }"
    withdrawn = _change(world, text, {"id": verdict["attribution"]["id"][:8]})
    assert withdrawn["id"] == verdict["attribution"]["id"]
    assert _change(world, text, {"id": verdict["attribution"]["id"]})["code"] == "NOT_FOUND"
    assert "name what was asked" in _complain(world)["message"]
    assert "does not say what was asked" in _complain(world, answer=ids["message"])["message"]


def test_fields_take_references(world: World) -> None:
    ids = world.ids
    text = """query($p: String!, $t: String!, $v: String!, $a: ID!, $m: ID!, $b: ID!, $u: ID!) { project(name: $p) {
      failures(trace: $t) { nodes { id } } search(text: "Mara", trace: $t) { variable { id } }
      statistics(trace: $t) { labels { label count } } variable(reference: $v, trace: $t) { id }
      paths(source: $a, target: $m) { variables { id } } diff(before: $b, after: $u) { isEqual } } }"""

    def named(trace: str, length: int) -> dict[str, str]:
        keys = {"v": "unit", "a": "answer", "m": "message", "b": "before", "u": "unit"}
        return {"p": world.project, "t": trace} | {name: ids[key][:length] for name, key in keys.items()}

    whole = world.ask(text, named(ids["trace"], 32))
    assert whole["project"]["search"] != []
    assert whole["project"]["paths"] != []
    assert world.ask(text, named(ids["trace"][:8], 8)) == whole
    assert world.ask(text, named(ids["trace_external"], 12)) == whole
    nothing = world.ask(text, named("nowhere", 32))["project"]
    assert (nothing["failures"]["nodes"], nothing["search"], nothing["variable"]) == ([], [], None)


async def test_half_an_id_deletes_nothing(world: World, server: RunningServer) -> None:
    delete = "mutation($p: String!, $id: ID!) { deleteTrace(project: $p, id: $id) "
    delete += _BRIEF + "... on TraceDeleted { id } } }"
    first = assistant(world.project, "to be deleted")
    twin = TraceBuilder(world.project, first.trace.id[:16])
    twin.variable("m", "called as the other's id begins")
    async with await open_databases(server.place.settings()) as database:
        for trace in (first, twin):
            await trace.write(database.project(world.project))
    refused = _change(world, delete, {"id": first.trace.id[:20]}, "admin")
    assert (refused["__typename"], refused["code"]) == ("InvalidInput", "BAD_INPUT")
    assert f"is the beginning of {first.trace.id}: a trace is deleted by its whole id" in refused["message"]
    ambiguous = _change(world, delete, {"id": first.trace.id[:16]}, "admin")
    assert (ambiguous["__typename"], ambiguous["code"]) == ("Conflict", "AMBIGUOUS")
    assert set(ambiguous["candidates"]) == {first.trace.id, twin.trace.id}
    assert _change(world, delete, {"id": "to be deleted"}, "admin")["id"] == first.trace.id
    assert _change(world, delete, {"id": first.trace.id}, "admin")["code"] == "NOT_FOUND"
    assert _change(world, delete, {"id": twin.trace.id}, "admin")["id"] == twin.trace.id


def test_jobs_take_references_too(world: World) -> None:
    ids = world.ids
    text = """mutation($p: String!, $f: [ID!]!, $t: [ID!]!) { report(project: $p, input: {failures: $f, traces: $t}) {
      __typename ... on Problem { message code } ... on JobStarted { job { arguments } } } }"""
    started = _change(world, text, {"f": [ids["failure"][:8], ids["failure"]], "t": [ids["trace_external"]]})
    assert started["job"]["arguments"]["failure_ids"] == [ids["failure"]] * 2
    assert started["job"]["arguments"]["trace_ids"] == [ids["trace"]]
    assert _change(world, text, {"f": ["nothing"], "t": []})["code"] == "NOT_FOUND"
    many = _change(world, text, {"f": [f"{number:08x}" for number in range(101)], "t": []})
    assert many["code"] == "BAD_INPUT"


def test_operations_by_how_they_ended(world: World, server: RunningServer) -> None:
    text = """query($p: String!, $s: Status, $k: [OperationKind!]!) { project(name: $p) {
      trace(reference: "assistant-sample") {
        operations(first: 500, status: $s, kinds: $k) { nodes { id kind status } } } } }"""

    def asked(status: str | None, *kinds: str) -> list[dict[str, Any]]:
        found = world.ask(text, {"p": world.project, "s": status, "k": list(kinds)})
        nodes: list[dict[str, Any]] = found["project"]["trace"]["operations"]["nodes"]
        return nodes

    every = asked(None)
    assert len(every) > 100
    assert asked("unknown") == [one for one in every if one["status"] == "unknown"]
    assert asked("unknown", "Retrieval") == [one for one in every if one["kind"] == "Retrieval"] != []
    assert asked("error") == []


def test_answers_with_their_questions(world: World) -> None:
    text = """query($p: String!, $t: String, $a: String) { project(name: $p) { answers(first: 3, after: $a, trace: $t) {
      nodes { id kind right questions { id preview } trace { externalId } } pageInfo { endCursor } } } }"""

    def asked(trace: str | None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        after = None
        while True:
            page = world.ask(text, {"p": world.project, "t": trace, "a": after})["project"]["answers"]
            found += page["nodes"]
            after = page["pageInfo"]["endCursor"]
            if after is None:
                return found

    sample = asked("assistant-sample")
    assert len(sample) == 8
    assert {one["kind"] for one in sample} == {"Answer"}
    assert all(len(one["questions"]) == 1 for one in sample)
    assert any("What breed is Mara's dog?" in one["questions"][0]["preview"] for one in sample)
    everywhere = asked(None)
    assert [one for one in everywhere if one["trace"]["externalId"] == "assistant-sample"] == sample
    assert asked("no-such-trace") == []
    none = world.ask(
        "query($p: String!, $v: String!) { project(name: $p) { variable(reference: $v) { questions { id } } } }",
        {"p": world.project, "v": sample[0]["questions"][0]["id"]},
    )
    assert none["project"]["variable"]["questions"] == []


async def test_operations_across_traces_page_by_page(world: World, server: RunningServer) -> None:
    project = f"across-{uuid4().hex}"
    traces = [assistant(project, name) for name in ("one", "two", "three")]
    bare = TraceBuilder(project, "bare")
    bare.variable("m", "no operation")
    async with await open_databases(server.place.settings()) as database:
        for trace in (bare, *traces):
            await trace.write(database.project(project))
    text = """query($p: String!, $s: Status, $k: [OperationKind!]!, $n: Int!, $a: String) { project(name: $p) {
      operations(first: $n, after: $a, status: $s, kinds: $k) {
        nodes { id traceId } pageInfo { endCursor hasNextPage } } } }"""

    def asked(size: int, status: str | None, *kinds: str) -> list[str]:
        found: list[str] = []
        after = None
        while True:
            variables = {"p": project, "s": status, "k": list(kinds), "n": size, "a": after}
            with server.client("reader", project) as client:
                answer = client.post("/graphql", json={"query": text, "variables": variables}).json()
            page = answer["data"]["project"]["operations"]
            assert len(page["nodes"]) <= size
            found += [one["id"] for one in page["nodes"]]
            after = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                return found

    def wanted(trace: TraceBuilder, status: str | None, *kinds: str) -> set[str]:
        return {
            one.id
            for one in trace.operations
            if (status is None or one.status.value == status) and (not kinds or one.kind.value in kinds)
        }

    for status, kinds in ((None, []), ("error", []), ("ok", ["Retrieval", "Update"]), ("running", [])):
        expected = set.union(*(wanted(trace, status, *kinds) for trace in traces))
        for size in (1, 2, 7, 500):
            found = asked(size, status, *kinds)
            assert len(found) == len(set(found))
            assert set(found) == expected
    bad: dict[str, Any] = {"p": project, "s": None, "k": [], "n": 1, "a": "Nw"}
    with server.client("reader", project) as client:
        (error,) = client.post("/graphql", json={"query": text, "variables": bad}).json()["errors"]
    assert error["extensions"]["code"] == "BAD_INPUT"
