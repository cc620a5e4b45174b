"""Invalid requests and invalid values get an error that names the mistake."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from api.graphql.requests import MAX_DEPTH, MAX_VALUES, read_request
from api.graphql.socket import EARLY_MESSAGES
from schema.errors import InputError
from tests.graphql.world import World

pytestmark = pytest.mark.one_engine

_DEEP = "[" * 9000 + "]" * 9000
_DEEPER_THAN_TAKEN = "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)
_LONG = "9" * 5000

DEAR = "{ project { traces(first: 500) { nodes { operations(first: 500) { nodes { id } } } } } }"


def _with(variables: str) -> str:
    document = "query($a: Int) { project { traces(first: $a) { nodes { id } } } }"
    return f'{{"query": "{document}", "variables": {variables}}}'


def _a(value: str) -> str:
    return f'{{"a": {value}}}'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("null", "Expected `object`, got `null`"),
        ('"x"', "Expected `object`, got `str`"),
        ("5", "Expected `object`, got `int`"),
        ("[]", "Expected `object`, got `array`"),
        ("[null]", "Expected `object`, got `array`"),
        ('{"query": 5}', "$.query: Expected `str | null`, got `int`"),
        ('{"query": "{ projects { name } }", "operationName": ["x"]}', "$.operationName"),
        ('{"query": "{ projects { name } }", "extensions": 5}', "$.extensions"),
        (_with("[]"), "$.variables: Expected `object | null`, got `array`"),
        (_with(_a(_DEEP)), f"nested more than {MAX_DEPTH} deep"),
        (_with(_a(_DEEPER_THAN_TAKEN)), f"nested more than {MAX_DEPTH} deep"),
        ('{"query": "{ projects { name } }", "extensions": ' + _a(_DEEP) + "}", f"nested more than {MAX_DEPTH} deep"),
        ('{"query": "{ projects { name } }", "more": %s}' % ("[" * 9000), "nested more than"),
        (_with('{"a": [%s0]}' % ("0," * MAX_VALUES)), f"more than {MAX_VALUES:,} values"),
        (_with(_a(_LONG)), "$.variables[...]: Integer value out of range"),
        (_with('{"a": 1e999}'), "Number out of range"),
        (_with('{"a": NaN}'), "not JSON"),
        (_with('{"a": "\\ud800"}'), "half of a surrogate pair is no text"),
        (_with('{"a": "x\\udfffy"}'), "half of a surrogate pair is no text"),
        (_with('{"\\udfff": "y"}'), "half of a surrogate pair is no text"),
        ('{"query": "{ project(name: \\"\\ud800\\") { name } }"}', "half of a surrogate pair is no text"),
        ('{"query": "\xff"', "not JSON"),
    ],
)
def test_what_is_no_request_is_refused_with_its_place(world: World, body: str, words: str) -> None:
    with world.server.client("admin", world.project) as client:
        answer = client.post("/graphql", content=body.encode(), headers={"Content-Type": "application/json"})
        assert answer.status_code == 400, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert words in answer.json()["detail"]
        raw = client.post(
            "/graphql", content=b'{"query": "\xed\xa0\x80"}', headers={"Content-Type": "application/json"}
        )
        assert "half of a surrogate pair" in raw.json()["detail"]
        by_get = client.get("/graphql", params={"query": "{ projects { name } }", "variables": _DEEP[:4000]})
        assert by_get.status_code == 400


def test_as_much_as_is_taken() -> None:
    deep: Any = "x"
    for _ in range(MAX_DEPTH - 1):
        deep = [deep]
    many = list(range(MAX_VALUES - 100))
    for value in (deep, many, ["[{,"] * 5000, {"a": {"b": None}}):
        assert read_request(json.dumps({"variables": {"a": value}}).encode()).variables == {"a": value}
    with pytest.raises(InputError, match="nested"):
        read_request(json.dumps({"variables": {"a": [[deep]]}}).encode())
    text = "[" * 200_000 + "," * 200_000 + '"'
    assert read_request(json.dumps({"query": text}).encode()).query == text


_TIMELINE = "query($p: String!, $a: DateTime!, $b: DateTime!, $s: Int!) { project(name: $p) {"
_TIMELINE += " timeline(since: $a, until: $b, seconds: $s) { start } } }"
_CREATE = 'mutation($p: String!, $e: DateTime) { createKey(project: $p, name: "n", expiresAt: $e) {'
_CREATE += " __typename ... on KeyCreated { key { expiresAt } } ... on Problem { message } } }"


@pytest.mark.parametrize(
    "moment",
    ["0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-14:00", "9999-12-31T23:59-00:01"],
)
def test_a_moment_that_utc_does_not_have_is_refused(world: World, moment: str) -> None:
    other = "2026-01-01T00:00:00Z"
    literal = f'{{ project(name: "{world.project}") {{ timeline(since: "{moment}", until: "{other}") {{ start }} }} }}'
    for document, variables in (
        (_TIMELINE, {"p": world.project, "a": moment, "b": other, "s": 10**9}),
        (_TIMELINE, {"p": world.project, "a": other, "b": moment, "s": 10**9}),
        (_CREATE, {"p": world.project, "e": moment}),
        (literal, {}),
    ):
        answer = world.answer(document, variables, "admin")
        (error,) = answer["errors"]
        assert f"'{moment}' is not from the year 1 to the year 9999 in UTC" in error["message"]
        assert answer["data"] is None


def test_moments_at_the_ends_of_time_are_taken(world: World) -> None:
    first, last = "0001-01-01T14:00:00+14:00", "9999-12-31T09:59:59-14:00"
    asked = {"p": world.project, "a": first, "b": last, "s": 2**31 - 1}
    found = world.ask(_TIMELINE, asked, "admin")["project"]["timeline"]
    assert found[0]["start"] == "0001-01-01T00:00:00.000000Z"
    assert len(found) == 147
    made = world.ask(_CREATE, {"p": world.project, "e": last}, "admin")["createKey"]
    assert made["key"]["expiresAt"] == "9999-12-31T23:59:59.000000Z"


_REFERENCE = "query($p: String!, $r: String!) { project(name: $p) { variable(reference: $r) { id } } }"


@pytest.mark.parametrize("value", [[["x"]], {"a": 1}, 5, True, 1e300, 10**400])
def test_a_moment_is_a_text(world: World, value: Any) -> None:
    asked = {"p": world.project, "a": value, "b": "2026-01-01T00:00:00Z", "s": 1}
    (error,) = world.answer(_TIMELINE, asked)["errors"]
    assert "ISO 8601" in error["message"]


@pytest.mark.parametrize("reference", ["\x00", "\x00" * 32, "\uffff", "\U0010ffff", "", " ", "%", "x" * 100_000])
def test_a_strange_reference_means_nothing(world: World, reference: str) -> None:
    assert world.ask(_REFERENCE, {"p": world.project, "r": reference}) == {"project": {"variable": None}}


async def _last_words(world: World, *messages: str | bytes, greet: bool = True) -> tuple[int | None, str]:
    """How a socket is closed after some messages: the code and the reason."""
    protocols: Any = ["graphql-transport-ws"]
    async with connect(f"{world.server.url.replace('http', 'ws', 1)}/graphql", subprotocols=protocols) as socket:
        if greet:
            token = f"Bearer {world.server.key('admin', world.project)}"
            await socket.send(json.dumps({"type": "connection_init", "payload": {"authorization": token}}))
            assert json.loads(await socket.recv())["type"] == "connection_ack"
        for message in messages:
            await socket.send(message)
        try:
            while True:
                await asyncio.wait_for(socket.recv(), 60)
        except ConnectionClosed as closed:
            return (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (None, "")


_SUBSCRIBE = '{"type": "subscribe", "id": "1", "payload": %s}'


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("[]", "Expected `object`, got `array`"),
        ("null", "Expected `object`, got `null`"),
        ("5", "Expected `object`, got `int`"),
        ('"x"', "Expected `object`, got `str`"),
        ("{}", "required field `type`"),
        ('{"type": []}', "$.type"),
        ('{"type": "%s"}' % ("x" * 500), "$.type"),
        ('{"type": "subscribe"}', "required field `id`"),
        ('{"type": "subscribe", "id": [], "payload": {}}', "$.id"),
        ('{"type": "complete", "id": {}}', "$.id"),
        ('{"type": "complete"}', "required field `id`"),
        ('{"type": "connection_init", "payload": 5}', "$.payload"),
        (_SUBSCRIBE % "null", "$.payload"),
        (_SUBSCRIBE % "[]", "$.payload"),
        (_SUBSCRIBE % '{"query": 5}', "$.payload.query"),
        (_SUBSCRIBE % '{"query": "{ __typename }", "variables": 5}', "$.payload.variables"),
        (_SUBSCRIBE % '{"query": "{ __typename }", "operationName": []}', "$.payload.operationName"),
        (_SUBSCRIBE % '{"query": "{ __typename }", "extensions": "x"}', "$.payload.extensions"),
        (_SUBSCRIBE % _with(_a(_DEEP)), "nested more than"),
        (_SUBSCRIBE % _with(_a(_LONG)), "out of range"),
        (_SUBSCRIBE % _with('{"a": "\\ud800"}'), "not JSON"),
        ('{"type": "subscribe", "id": "\\ud800", "payload": {"query": "{ __typename }"}}', "not JSON"),
        ("[" * 9000, "Expected `object`"),
        ("{", "not JSON"),
        (b"\x00", "must be text"),
    ],
)
async def test_what_is_no_message_ends_the_socket_with_the_reason(
    world: World, message: str | bytes, words: str
) -> None:
    code, reason = await _last_words(world, message)
    assert (code, words in reason) == (4400, True), (code, reason)
    # A ``subscribe`` of a client that has not said who it is is refused for that, if it is JSON at all.
    is_subscribe = isinstance(message, str) and message.startswith('{"type": "subscribe"')
    expected = {4400, 4401} if is_subscribe else {4400}
    assert (await _last_words(world, message, greet=False))[0] in expected


@pytest.mark.parametrize(
    "start", ['{"type": "subscribe", "id": "1", "payload": {"query": "', '{"type": "connection_init", "']
)
async def test_before_it_is_known_who_asks_a_message_is_short(world: World, start: str) -> None:
    began = time.monotonic()
    code, reason = await _last_words(world, start + '\\"' * 15_000, greet=False)
    assert (code, "20,000 characters" in reason) == (4400, True), (code, reason)
    assert time.monotonic() - began < 10


async def test_before_it_is_known_who_asks_messages_are_few(world: World) -> None:
    assert await _last_words(world, *['{"type": "ping"}'] * EARLY_MESSAGES, "x", greet=False) == (
        4400,
        f"message: more than {EARLY_MESSAGES} came before connection_ack",
    )
    # Later they are not counted.
    code, reason = await _last_words(world, *['{"type": "ping"}'] * (2 * EARLY_MESSAGES), "x")
    assert (code, "not JSON" in reason) == (4400, True)


async def test_a_reason_fits_into_a_closing_frame(world: World) -> None:
    growth = 'subscription { traceGrowth(project: "%s", id: "%s") { variables } }'
    follow = {"query": growth % (world.project, world.ids["trace"])}
    message = json.dumps({"type": "subscribe", "id": "é" * 300, "payload": follow})
    code, reason = await _last_words(world, message, message)
    assert code == 4409
    assert reason.startswith("Subscriber for éé")


@pytest.mark.parametrize(
    ("payload", "words", "code"),
    [
        ({"query": "{ projects { name }"}, "Syntax Error", "INVALID_DOCUMENT"),
        ({"query": ""}, "query", None),
        ({}, "query", None),
        ({"query": "{" + "project {" * 20 + "name" + "}" * 21}, "15 levels of fields", "LIMIT"),
        ({"query": "{" + " ".join(f"a{i}: projects {{ name }}" for i in range(31)) + "}"}, "30 aliases", "LIMIT"),
        ({"query": "{" + " a" * 2100 + "}"}, "2,000 tokens", "LIMIT"),
        ({"query": "#" * 50_001}, "50,000 characters", "LIMIT"),
        ({"query": DEAR}, "may cost", "LIMIT"),
        ({"query": "{ project { traces(first: 100000) { nodes { id } } } }"}, "is not from 1 to 500", "BAD_INPUT"),
        ({"query": "{ noSuchField }"}, "Cannot query field", "INVALID_DOCUMENT"),
        ({"query": "query A { __typename }", "operationName": "B"}, 'operation named "B"', None),
        ({"extensions": {"persistedQuery": {"sha256Hash": "0"}}}, "no document with this hash", "BAD_INPUT"),
    ],
)
async def test_an_operation_that_can_not_run_ends_in_an_error(
    world: World, payload: dict[str, Any], words: str, code: str | None
) -> None:
    protocols: Any = ["graphql-transport-ws"]
    async with connect(f"{world.server.url.replace('http', 'ws', 1)}/graphql", subprotocols=protocols) as socket:
        token = f"Bearer {world.server.key('reader', world.project)}"
        await socket.send(json.dumps({"type": "connection_init", "payload": {"authorization": token}}))
        assert json.loads(await socket.recv())["type"] == "connection_ack"
        await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": payload}))
        told = json.loads(await asyncio.wait_for(socket.recv(), 60))
        assert (told["type"], told["id"]) == ("error", "1")
        assert words in told["payload"][0]["message"]
        assert told["payload"][0].get("extensions", {}).get("code") == code
        # The socket and the id are as good as before.
        document = {"query": "{ project { name } }"}
        await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": document}))
        kinds = [json.loads(await asyncio.wait_for(socket.recv(), 60))["type"] for _ in range(2)]
        assert kinds == ["next", "complete"]


@pytest.mark.parametrize(
    ("document", "variables", "said", "column"),
    [
        (
            "{ project { traces(first: 100000) { nodes { id } } } }",
            {},
            "traces: first: 100000 is not from 1 to 500",
            20,
        ),
        ('{ project { name search(text: "x", first: 0) { score } } }', {}, "search: first: 0 is not from 1 to 500", 36),
        (
            "query($n: Int = 501) { project { ...P } } fragment P on Project { failures(first: $n) { nodes { id } } }",
            {},
            "failures: first: 501 is not from 1 to 500",
            76,
        ),
        (
            'query($n: Int) { project { paths(source: "a", target: "b", first: $n) { variables { id } } } }',
            {"n": 51},
            "paths: first: 51 is not from 1 to 50",
            60,
        ),
        ('{ project { audit(after: "MINE") { nodes { at } } } }', {}, "audit: after: 'MINE' is not a cursor", 19),
        (
            "query($a: String) { project { jobs(after: $a) { nodes { id } } } }",
            {"a": "?"},
            "jobs: after: '?' is not",
            36,
        ),
        (
            "query($k: [OperationKind!]) { project { operations(kinds: $k) { nodes { id } } } }",
            {"k": ["Retreival"]},
            "'Retreival' does not exist in 'OperationKind' enum. Did you mean the enum value 'Retrieval'",
            7,
        ),
    ],
)
def test_a_bad_argument_is_refused_at_its_place_before_anything_runs(
    world: World, document: str, variables: dict[str, Any], said: str, column: int
) -> None:
    answer = world.answer(document, variables, "admin")
    assert answer["data"] is None
    (error,) = answer["errors"]
    assert said in error["message"]
    assert error["extensions"]["code"] == "BAD_INPUT"
    assert error["locations"] == [{"line": 1, "column": column}]


def test_what_is_wrong_with_a_document_has_a_code_and_suggestions(world: World) -> None:
    for document, said in (
        ("{ project { failurs { nodes { id } } } }", "Did you mean 'failure' or 'failures'"),
        ("{ project { operations(kinds: [Retreival]) { nodes { id } } } }", "Did you mean the enum value 'Retrieval'"),
        ("{ project { traces(last: 5) { nodes { id } } } }", "Unknown argument 'last'"),
        ("{ project {", "Syntax Error"),
    ):
        (error,) = world.answer(document)["errors"]
        assert said in error["message"]
        assert error["extensions"]["code"] == "INVALID_DOCUMENT"


def test_a_field_in_the_wrong_place_is_shown_where_it_is(world: World) -> None:
    cases = {
        "{ failures { id } }": "It is further down: { project { failures { nodes { ... } } } }",
        "{ project { failures { question } } }": "It is further down: { nodes { question } }",
        "{ project { failures { questions } } }": "Further down there is: { nodes { question } }",
        "{ memories { text } }": '{ project { search(text: "WORD", kinds: [MemoryUnit]) { ... } }',
        "{ stats { label } }": "It is further down: { project { statistics } }",
        "{ project { variables { nodes { id } } } }": '{ trace(reference: "ID") { variables { nodes { ... } } } }',
        '{ project { operation(reference: "x") { duration } } }': "startedAt and endedAt say it.",
        "{ anything { text } }": "What a project holds is in: { project { ... } }",
        "{ project { failures { nodes { confidence } } } }": "Verdicts have it: { verdicts { confidence } }",
        '{ project { operation(reference: "x") { inputs { id } } } }': "It is called used here.",
        "{ project { traces(limit: 5) { nodes { id } } } }": "Did you mean 'first'",
        "{ project { failures(traceId: 5) { nodes { id } } } }": "'trace'",
    }
    for text, told in cases.items():
        assert told in world.answer(text)["errors"][0]["message"]
    mutations = world.answer('mutation { markWrong(answer: "x") { id } }')["errors"][0]["message"]
    assert "markRight" in mutations
    assert "recordFailure" in mutations
