"""Mutations, from beginning to end."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.data import SAMPLE
from tests.graphql.changing import change, complain, judge, verdicts, withdraw
from tests.graphql.world import World
from tests.server.running import RunningServer

pytestmark = pytest.mark.usefixtures("nobody_has_judged")


def test_a_verdict_replaces_ones_own_and_goes_away(world: World) -> None:
    failure, operation = world.ids["failure"], world.ids["operation"]
    before = verdicts(world, failure)
    first = judge(world, failure=failure, errorType="ExtractionError", operation=operation, reason="lost")
    second = judge(world, failure=failure, errorType="UpdateError", operation=operation, confidence=0.5)
    assert first["attribution"]["id"] == second["attribution"]["id"]
    assert second["attribution"]["author"].startswith("key:")
    of_admin = judge(world, "admin", failure=failure)
    assert len(verdicts(world, failure)) == len(before) + 2
    assert withdraw(world, of_admin["attribution"]["id"])["__typename"] == "InvalidInput"
    assert withdraw(world, of_admin["attribution"]["id"], "admin")["__typename"] == "VerdictWithdrawn"
    assert withdraw(world, second["attribution"]["id"])["__typename"] == "VerdictWithdrawn"
    assert withdraw(world, second["attribution"]["id"])["__typename"] == "NotFound"
    assert withdraw(world, world.ids["verdict"], "admin")["message"].endswith("not a person's: it stays")
    assert verdicts(world, failure) == before


@pytest.mark.one_engine
def test_two_keys_of_a_person_are_one_author(world: World) -> None:
    """A new key of the same person changes the person's own verdict; the author can't be chosen."""
    create = """mutation($p: String!, $n: String!, $w: String) {
      createKey(project: $p, name: $n, role: writer, person: $w) {
        ... on KeyCreated { secret key { id person } } ... on Problem { message } } }"""
    judge = """mutation($p: String!, $i: VerdictInput!) { recordVerdict(project: $p, input: $i) {
      ... on VerdictRecorded { attribution { id author } } } }"""
    said = set()
    for name in ("laptop", "new laptop"):
        made = change(world, create, {"n": name, "w": "Ada"}, "admin")
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
    assert withdraw(world, id_)["message"].endswith("is another person's: an admin may take it back")
    assert withdraw(world, id_, "admin")["__typename"] == "VerdictWithdrawn"
    assert "is a method" in change(world, create, {"n": "bad", "w": "flow"}, "admin")["message"]


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
        judge(world, failure=failure, errorType="AnnotationError", reason=reason)
    assert change(world, undo, {"f": failure})["attribution"] == {"reason": "two"}
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
        assert change(world, undo, {"f": failure})["attribution"] == before
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
    before = verdicts(world, world.ids["failure"])
    assert words in judge(world, failure=world.ids["failure"], **verdict)["message"]
    assert verdicts(world, world.ids["failure"]) == before


@pytest.mark.one_engine
def test_what_a_person_would_accept_too_are_candidates(world: World) -> None:
    failure, operation = world.ids["failure"], world.ids["operation"]
    other = {"errorType": "UpdateError", "operation": operation[:12]}
    also = [{"errorType": "AnnotationError"}, other]
    said = judge(world, failure=failure, errorType="ExtractionError", operation=operation, also=also)
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
    withdraw(world, said["attribution"]["id"])


@pytest.mark.one_engine
def test_a_known_failure_takes_what_a_person_adds(world: World) -> None:
    ids = world.ids
    said = complain(world, question=ids["question"], answer=ids["answer"], goldAnswers=["so"], comment="see the log")
    assert said["failure"]["id"] == ids["failure"]
    assert said["failure"]["goldAnswers"] == ["so"]
    again = complain(world, question=ids["question"], answer=ids["answer"], evidence=[ids["message"]])
    assert again["failure"]["goldAnswers"] == ["so"]
    assert again["failure"]["evidenceIds"] == [ids["message"]]


@pytest.mark.one_engine
def test_a_new_failure_has_the_texts_of_its_variables(world: World) -> None:
    ids = world.ids
    said = complain(world, question=ids["question"], answer=ids["unit"])["failure"]
    assert said["origin"] == "user"
    assert said["question"]
    assert said["prediction"]
    assert complain(world, question="x")["__typename"] == "NotFound"


def _mark_right(world: World, answer: str, role: str = "writer") -> dict[str, Any]:
    text = """mutation($p: String!, $a: ID!) { markRight(project: $p, answer: $a) {
      __typename ... on RightMarked { answer { id right } } ... on Problem { message } } }"""
    return change(world, text, {"a": answer}, role)


@pytest.mark.one_engine
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
    return change(world, text, {"id": failure}, role)


@pytest.mark.one_engine
def test_a_failure_is_withdrawn(world: World) -> None:
    """A failure is named by its id or by its answer; a failure of the world's judge can't be withdrawn."""
    ids = world.ids
    look = """query($p: String!, $v: String!) { project(name: $p) { variable(reference: $v) { right }
      audit(first: 500) { nodes { action target outcome } } } }"""

    def seen() -> tuple[bool | None, list[dict[str, str]]]:
        found = world.ask(look, {"p": world.project, "v": ids["before"]}, "admin")["project"]
        entries = [one for one in found["audit"]["nodes"] if one["action"] == "withdrawFailure"]
        return found["variable"]["right"], entries

    entries: list[dict[str, str]] = []
    for reference in (ids["before"], ids["before"][:12], None):
        failure = complain(world, question=ids["question"], answer=ids["before"])["failure"]["id"]
        judge(world, failure=failure)
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
    job = await _job(world, change(world, _IMPORT, {"i": {"content": content, "name": "mine.json"}}))
    assert job["state"] == "done", job
    look = 'query($p: String!) { project(name: $p) { trace(reference: "by-graphql") { id counts { variables } } } }'
    trace = world.ask(look, {"p": world.project})["project"]["trace"]
    assert trace["counts"]["variables"] > 300
    delete = "mutation($p: String!, $id: ID!) { deleteTrace(project: $p, id: $id) {"
    delete += " ... on TraceDeleted { id counts { variables } } } }"
    assert change(world, delete, {"id": trace["id"]}, "admin")["counts"] == trace["counts"]
    assert world.ask(look, {"p": world.project})["project"]["trace"] is None


@pytest.mark.one_engine
async def test_a_bad_file_fails_with_its_place(world: World) -> None:
    job = await _job(world, change(world, _IMPORT, {"i": {"content": '{"data": 5}', "name": "mine.json"}}))
    assert job["state"] == "failed"
    assert "mine.json" in job["error"]
    refused = change(world, _IMPORT, {"i": {"content": "{}", "timezone": "Mars/Olympus"}})
    assert refused["__typename"] == "InvalidInput"


@pytest.mark.one_engine
def test_keys_open_only_what_they_say_and_until_they_are_revoked(world: World, server: RunningServer) -> None:
    create = """mutation($p: String!, $e: DateTime) { createKey(project: $p, name: "n", role: reader, expiresAt: $e) {
      ... on KeyCreated { secret key { id } } ... on InvalidInput { message } } }"""
    made = change(world, create, {}, "admin")
    document = {"query": "{ viewer { actor } project { role } }"}
    with server.client(None) as client:
        headers = {"Authorization": f"Bearer {made['secret']}"}
        answer = client.post("/graphql", json=document, headers=headers).json()["data"]
        assert answer == {"viewer": {"actor": f"key:{made['key']['id']}"}, "project": {"role": "reader"}}
    assert "is past" in change(world, create, {"e": "2020-01-01T00:00:00Z"}, "admin")["message"]
    (far,) = world.answer(create, {"p": world.project, "e": "9999-12-31T23:59:59-14:00"}, "admin")["errors"]
    assert "is not from the year 1 to the year 9999 in UTC" in far["message"]
    revoke = "mutation($p: String!, $id: ID!) { revokeKey(project: $p, id: $id) {"
    revoke += " ... on KeyRevoked { key { revokedAt } } } }"
    assert change(world, revoke, {"id": made["key"]["id"]}, "admin")["key"]["revokedAt"]
    log = world.ask(
        "query($p: String!) { project(name: $p) { audit { nodes { action target } } } }", {"p": world.project}, "admin"
    )["project"]["audit"]["nodes"]
    assert {"action": "revokeKey", "target": made["key"]["id"]} in log
    assert made["secret"] not in json.dumps(log)
