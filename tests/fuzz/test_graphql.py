"""GraphQL with strange values: over HTTP each request gets an answer that says what is wrong, over a websocket too.

``MEMTRACE_FUZZ_EXAMPLES`` is how many requests each test sends, times twenty.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import hypothesis
from hypothesis import strategies as st
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.fuzz.strange_graphql import MOMENTS, TEXTS, bodies, values
from tests.graphql.world import World

EXAMPLES = 20 * int(os.environ.get("MEMTRACE_FUZZ_EXAMPLES") or 5)

_settings = hypothesis.settings(
    max_examples=EXAMPLES,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.generate],
)

_DOCUMENTS = """
query($p: String, $r: String!) { project(name: $p) { trace(reference: $r) { id } operation(reference: $r) { id } } }
query($p: String, $r: String!, $t: String) { project(name: $p) { variable(reference: $r, trace: $t) { preview } } }
query($p: String, $r: String!) { project(name: $p) { failure(reference: $r) { id } attribution(reference: $r) { id } } }
query($p: String, $t: String, $f: Int!) { project(name: $p) { search(text: $t, first: $f) { score snippet } } }
query($p: String, $a: String, $f: Int!) { project(name: $p) { traces(first: $f, after: $a) { nodes { id } } } }
query($p: String, $a: String, $f: Int!) { project(name: $p) { jobs(first: $f, after: $a) { nodes { id } } } }
query($p: String, $a: String, $t: String) { project(name: $p) { failures(after: $a, trace: $t) { nodes { id } } } }
query($p: String, $s: DateTime!, $u: DateTime!, $n: Int!) {
  project(name: $p) { timeline(since: $s, until: $u, seconds: $n) { start traces verdicts { count } } } }
query($p: String, $i: ID!, $j: ID!, $f: Int!) {
  project(name: $p) { paths(source: $i, target: $j, first: $f) { variables { id } }
  diff(before: $i, after: $j) { added } } }
query($p: String, $i: String!, $n: Int, $h: Int, $o: Int) { project(name: $p) { variable(reference: $i) {
  lineage(maxNodes: $n, maxHops: $h, asOf: $o) { nodes { id } } } } }
query($p: String, $i: String!, $o: Int!, $n: Int!) {
  project(name: $p) { variable(reference: $i) { value(offset: $o, length: $n) { text total } } } }
query($p: String, $i: String!, $o: Int!, $n: Int!) {
  project(name: $p) { variable(reference: $i) { versions(first: $n, since: $o) { id } } } }
query($i: ID!, $l: [ID!]!) { node(id: $i) { id } nodes(ids: $l) { id } }
query($p: String, $t: String!, $u: String!) { project(name: $p) { agreement(first: $t, second: $u) { cases } } }
query($p: String, $t: String, $f: Int!) { project(name: $p) { blame(trace: $t, first: $f) { id element { id } } } }
query($t: String!) { __type(name: $t) { name fields { name } } }
mutation($p: String!, $t: String!, $e: DateTime) {
  createKey(project: $p, name: $t, expiresAt: $e) { __typename ... on Problem { message } } }
mutation($p: String!, $i: ID!) { revokeKey(project: $p, id: $i) { __typename ... on Problem { message } } }
mutation($p: String!, $i: ID!) { cancelJob(project: $p, id: $i) { __typename ... on Problem { message } } }
mutation($p: String!, $i: ID!) { markRight(project: $p, answer: $i) { __typename ... on Problem { message } } }
mutation($p: String!, $i: ID!) { withdrawFailure(project: $p, id: $i) { __typename ... on Problem { message } } }
mutation($p: String!, $i: ID!) { withdrawVerdict(project: $p, id: $i) { __typename ... on Problem { message } } }
mutation($p: String!, $i: ID!, $j: ID, $t: String, $l: [String!]!) {
  recordFailure(project: $p, input: {question: $i, answer: $j, comment: $t, goldAnswers: $l}) { __typename } }
mutation($p: String!, $i: ID!, $j: ID, $t: String, $c: Float) {
  recordVerdict(project: $p, input: {failure: $i, operation: $j, reason: $t, confidence: $c}) { __typename } }
mutation($p: String!, $t: String!, $u: String!) {
  importTrace(project: $p, input: {content: $t, name: $u, timezone: $u}) { __typename ... on Problem { message } } }
mutation($p: String!, $l: [ID!]!, $t: String) { report(project: $p, input: {failures: $l, source: $t}) { __typename } }
mutation($p: String!, $t: String!, $u: String, $f: Int!, $o: Int!, $l: [ID!]!) {
  createAnnotationQueue(project: $p, input: {name: $t, seed: $u, count: $f, annotators: $f, people: [$t], traces: $l,
  failures: $l, reservationMinutes: $o}) { __typename } }
mutation($p: String!, $t: String!) { nextCase(project: $p, queue: $t) { __typename ... on Problem { message } } }
mutation($p: String!, $t: String!, $i: ID!, $j: ID, $c: Float) {
  submitCase(project: $p, queue: $t, input: {failure: $i, operation: $j, reason: $t, confidence: $c}) { __typename } }
mutation($p: String!, $t: String!, $i: ID!) { skipCase(project: $p, queue: $t, failure: $i) { __typename } }
mutation($p: String!, $t: String!) { undoCase(project: $p, queue: $t) { __typename ... on Problem { message } } }
mutation($p: String!, $t: String!, $i: ID!, $j: ID, $c: Float) {
  adjudicate(project: $p, queue: $t, input: {failure: $i, operation: $j, reason: $t, confidence: $c}) { __typename } }
mutation($p: String!, $t: String!) { closeAnnotationQueue(project: $p, queue: $t) { __typename } }
mutation($p: String!, $t: String!) { deleteAnnotationQueue(project: $p, queue: $t) { __typename } }
subscription($p: String!, $i: ID!) { traceGrowth(project: $p, id: $i) { variables } }
subscription($p: String!, $i: ID!) { job(project: $p, id: $i) { state } }
"""


def _documents(world: World) -> list[tuple[str, dict[str, Any]]]:
    """Each document with plausible values for its variables."""
    given = {
        "p": world.project,
        **dict.fromkeys(("r", "i", "t"), world.ids["unit"]),
        **dict.fromkeys(("j", "u"), world.ids["before"]),
        "l": [world.ids["unit"]],
        "f": 3,
        "n": 100,
        "h": 2,
        "o": 0,
        "a": None,
        "c": 0.5,
        "s": "2026-11-01T00:00:00Z",
        "e": None,
    }
    found = []
    for document in _DOCUMENTS.replace("\n  ", " ").strip().splitlines():
        names = {part.split(":")[0] for part in document.split("$")[1:]}
        variables = {name: given[name] for name in names if name in given}
        if "$u: DateTime" in document:
            variables["u"] = "2026-12-01T00:00:00Z"
        found.append((document, variables))
    return found


def _check(text: str, body: str) -> None:
    """See that nothing is told that is the server's fault."""
    for code in ("INTERNAL", "UNAVAILABLE", "TIMEOUT"):
        assert f'"{code}"' not in text, (body[:2000], text[:2000])


def test_over_http(world: World) -> None:
    seen: set[int] = set()
    with world.server.client("admin", world.project) as client:

        @_settings
        @hypothesis.given(body=bodies(_documents(world)))
        def run(body: str) -> None:
            answer = client.post(
                "/graphql",
                content=body.encode("utf-8", "surrogatepass"),
                headers={"Content-Type": "application/json"},
            )
            seen.add(answer.status_code)
            assert answer.status_code in {200, 400}, (body[:2000], answer.text[:2000])
            if answer.status_code == 200:
                assert "data" in answer.json() or answer.json()["errors"]
                _check(answer.text, body)
            else:
                assert answer.headers["content-type"] == "application/problem+json"
                assert answer.json()["detail"]

        run()
    assert seen == {200, 400}


def test_texts_and_moments_in_documents(world: World) -> None:
    """In the place of a variable: the document's own way to write a text has other rules than JSON."""
    with world.server.client("admin", world.project) as client:
        for number, text in enumerate(TEXTS + MOMENTS):
            for written in (json.dumps(text), json.dumps(text, ensure_ascii=False), f'"""{text}"""'):
                for field in (
                    f"variable(reference: {written}) {{ id }}",
                    f"search(text: {written}) {{ score }}",
                    f'timeline(since: {written}, until: "2026-01-01T00:00:00Z", seconds: 1000000000) {{ start }}',
                ):
                    document = f"query Q{number} {{ project {{ {field} }} }}"
                    body = json.dumps({"query": document})
                    answer = client.post("/graphql", content=body, headers={"Content-Type": "application/json"})
                    assert answer.status_code in {200, 400}, (body, answer.text)
                    _check(answer.text, body)


async def test_over_a_websocket(world: World) -> None:
    """A message is answered, or the socket is closed with the reason; and never because of what went wrong inside."""
    message_texts: list[str] = []
    whole = st.sampled_from(["subscribe", "complete", "ping", "pong", "connection_init", "next", ""])
    members = st.sampled_from(["type", "id", "payload", "more"])

    def message(kind: str, body: str, more: dict[str, str]) -> str:
        said = {"type": json.dumps(kind), "id": '"1"', "payload": body} | more
        return "{" + ",".join(f'"{name}":{value}' for name, value in said.items()) + "}"

    shaped = st.builds(message, whole, bodies(_documents(world)), st.dictionaries(members, values(), max_size=1))
    subscribed = st.builds(message, st.just("subscribe"), bodies(_documents(world)), st.just({}))

    @_settings
    @hypothesis.given(text=st.one_of(subscribed, subscribed, shaped, values()))
    def collect(text: str) -> None:
        # Longer ones end the socket before they are read, maybe while they are sent: tests/graphql/test_sockets.py.
        message_texts.append(text.encode("utf-8", "replace")[:60_000].decode(errors="ignore"))

    collect()
    ends = [await _told(world, text) for text in message_texts]
    assert {1000, 4400} <= set(ends)


async def _told(world: World, text: str) -> int:
    """How a socket ends after a message: by its client, or as the server says it."""
    async with await _open(world) as socket:
        try:
            await socket.send(text)
            # The id is in use only while the server still runs the message's own operation.
            await socket.send('{"type": "complete", "id": "1"}')
            await socket.send('{"type": "subscribe", "id": "last", "payload": {"query": "{ __typename }"}}')
            while (told := json.loads(await asyncio.wait_for(socket.recv(), 60))).get("id") != "last":
                _check(json.dumps(told), text)
            code = 1000
        except ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd else 0
    assert code in {1000, 4400, 4409, 4429}, (code, text[:2000])
    return code


async def _open(world: World) -> ClientConnection:
    protocols: Any = ["graphql-transport-ws"]
    socket = await connect(f"{world.server.url.replace('http', 'ws', 1)}/graphql", subprotocols=protocols)
    token = f"Bearer {world.server.key('admin', world.project)}"
    await socket.send(json.dumps({"type": "connection_init", "payload": {"authorization": token}}))
    assert json.loads(await socket.recv())["type"] == "connection_ack"
    return socket
