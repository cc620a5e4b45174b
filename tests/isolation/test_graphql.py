"""Nothing of a project can be seen or changed with a key of another one, or with none: made from the schema itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLString,
    GraphQLUnionType,
    get_named_type,
    is_list_type,
)

from tests.graphql.built import SCHEMA as BUILT
from tests.graphql.world import World
from tests.isolation.asking import asked_of, valid
from tests.server.running import RunningServer

SCHEMA = BUILT._schema
NODES = ("trace", "session", "operation", "variable", "failure", "attribution", "job", "derivation")

# What an argument may be given, by its name; an argument that is not here fails the test, so that none is forgotten.
_ID_OF = {
    "Query.node.id": "unit",
    "Query.nodes.ids": "unit",
    "Project.trace.reference": "trace",
    "Project.session.reference": "session",
    "Project.operation.reference": "operation",
    "Project.variable.reference": "unit",
    "Project.failure.reference": "failure",
    "Project.attribution.reference": "verdict",
    "Project.failures.trace": "trace",
    "Project.answers.trace": "trace",
    "Project.search.trace": "trace",
    "Project.session.trace": "trace",
    "Project.operation.trace": "trace",
    "Project.variable.trace": "trace",
    "Project.statistics.trace": "trace",
    "Project.verdictGroups.trace": "trace",
    "Project.agreement.trace": "trace",
    "Project.blame.trace": "trace",
    "Project.levers.trace": "trace",
    "Project.compareTraces.before": "trace",
    "Project.compareTraces.after": "trace",
    "Project.compareMethods.trace": "trace",
    "MemoryMoment.unit.reference": "unit",
    "Project.paths.source": "answer",
    "Project.paths.target": "message",
    "Project.diff.before": "before",
    "Project.diff.after": "unit",
    "Project.failureCount.trace": "trace",
    "Project.job.id": "job",
    "Mutation.cancelJob.id": "job",
    "Mutation.markRight.answer": "unjudged",
    "Mutation.withdrawFailure.id": "failure",
    "Mutation.withdrawVerdict.id": "verdict",
    "Mutation.undoVerdict.failure": "failure",
    "Project.annotationQueue.reference": "queue",
    "Mutation.closeAnnotationQueue.queue": "queue",
    "Mutation.deleteAnnotationQueue.queue": "queue",
    "Mutation.nextCase.queue": "queue",
    "Mutation.submitCase.queue": "queue",
    "Mutation.skipCase.queue": "queue",
    "Mutation.skipCase.failure": "failure",
    "Mutation.undoCase.queue": "queue",
    "Mutation.undoCase.failure": "failure",
    "Mutation.adjudicate.queue": "queue",
    "AnnotationQueueInput.traces": "trace",
    "AnnotationQueueInput.failures": "failure",
    "EvidenceInput.variable": "message",
    "Mutation.deleteTrace.id": "trace",
    "Mutation.revokeKey.id": "key",
    "Subscription.job.id": "job",
    "Subscription.traceGrowth.id": "trace",
    "FailureInput.question": "question",
    "FailureInput.answer": "answer",
    "FailureInput.evidence": "message",
    "VerdictInput.failure": "failure",
    "VerdictInput.operation": "operation",
    "AcceptedInput.operation": "operation",
    "AttributeInput.failures": "failure",
    "AttributeInput.trace": None,
    "ReportInput.traces": "trace",
    "ReportInput.failures": "failure",
}
_FOR_ADMINS = {
    "deleteTrace",
    "createKey",
    "createInvitation",
    "revokeKey",
    "setRetention",
    "closeAnnotationQueue",
    "deleteAnnotationQueue",
}
_PLAIN: dict[str, str | None] = {
    "Project.search.text": "Mara",
    "FailureFilter.text": "Mara",
    "Project.timeline.since": "2026-11-01T00:00:00Z",
    "Project.timeline.until": "2026-12-01T00:00:00Z",
    "Project.agreement.first": "flow",
    "Project.agreement.second": "flow",
    "Project.compareMethods.before": "flow",
    "Project.compareMethods.after": "flow",
    "Mutation.createKey.name": "leak",
    "AnnotationQueueInput.name": "leak",
    "AnnotationQueueInput.seed": "leak",
    "AnnotationQueueInput.people": None,
    "EvidenceInput.quote": "",
    "Mutation.createKey.person": "Eve",
    "Mutation.createInvitation.person": "Eve",
    "Mutation.createInvitation.expiresAt": (datetime.now(UTC) + timedelta(days=1)).isoformat(),
    "ImportInput.content": "{}",
    "LabelsInput.content": '{"query_id": "leak", "primary": {"type": "AnnotationError"}}',
}


@dataclass(frozen=True)
class Call:
    """A field, with arguments that name elements of a project."""

    place: str
    text: str


def _literal(place: str, argument: Any, world: World) -> str | None:
    """A value as it is written in a document; None where the argument is left out."""
    named = get_named_type(argument.type)
    if place.endswith(".project") or place == "Query.project.name":
        return json.dumps(world.project)
    if place in _ID_OF:
        key = _ID_OF[place]
        if key is None:
            return None
        text = json.dumps(world.ids[key])
        inner = argument.type.of_type if isinstance(argument.type, GraphQLNonNull) else argument.type
        return f"[{text}]" if is_list_type(inner) else text
    if place in _PLAIN:
        return None if _PLAIN[place] is None else json.dumps(_PLAIN[place])
    if isinstance(named, GraphQLInputObjectType):
        inner_values = {name: _literal(f"{named.name}.{name}", field, world) for name, field in named.fields.items()}
        return "{" + ", ".join(f"{name}: {text}" for name, text in inner_values.items() if text is not None) + "}"
    is_id = isinstance(named, GraphQLScalarType) and named.name in {"ID", "String"}
    required = isinstance(argument.type, GraphQLNonNull) and argument.default_value is _UNDEFINED
    if required and isinstance(named, GraphQLEnumType):
        return str(next(iter(named.values)))
    optional_text = {"after", "method", "operation", "source", "reason", "comment", "name", "timezone", "goldAnswers"}
    assert not required, f"{place}: say in this test what to send"
    assert not is_id or place.rpartition(".")[2] in optional_text, f"{place}: say in this test what to send"
    return None


_UNDEFINED = GraphQLArgument(GraphQLString).default_value


def _arguments(owner: str, name: str, field: GraphQLField, world: World) -> str:
    values = {key: _literal(f"{owner}.{name}.{key}", argument, world) for key, argument in field.args.items()}
    said = ", ".join(f"{key}: {text}" for key, text in values.items() if text is not None)
    return f"({said})" if said else ""


def _selection(field: GraphQLField) -> str:
    """All leaves, one level deep and, of connections, of their nodes."""
    named = get_named_type(field.type)
    if isinstance(named, GraphQLScalarType | GraphQLEnumType):
        return ""
    if not isinstance(named, GraphQLObjectType):
        inner = "... on Problem { message }" if isinstance(named, GraphQLUnionType) else "id"
        return f" {{ __typename {inner} }}"
    leaves = [
        name
        for name, inner in named.fields.items()
        if isinstance(get_named_type(inner.type), GraphQLScalarType | GraphQLEnumType) and not inner.args
    ]
    if "nodes" in named.fields and "pageInfo" in named.fields:
        leaves.append(f"nodes{_selection(named.fields['nodes'])}")
    return " { __typename " + " ".join(leaves) + " }"


def _calls(owner: str, world: World) -> Iterator[Call]:
    type_ = SCHEMA.type_map[owner]
    assert isinstance(type_, GraphQLObjectType)
    for name, field in type_.fields.items():
        text = f"{name}{_arguments(owner, name, field, world)}{_selection(field)}"
        yield Call(f"{owner}.{name}", text)


def test_queries(world: World, other: World) -> None:
    for call in _calls("Query", world):
        document = f"{{ {call.text} }}"
        if call.place in {"Query.viewer", "Query.projects"}:
            continue
        data = json.loads(asked_of(world, other, document))["data"]
        assert all(value in (None, [None]) for value in data.values()), (document, data)


def test_lists_of_projects_hold_only_ones_own(world: World, other: World) -> None:
    answer = asked_of(world, other, "{ viewer { projects { name } } projects { name } }")
    own = [{"name": other.project}]
    assert json.loads(answer)["data"] == {"viewer": {"projects": own}, "projects": own}


def test_fields_of_ones_own_project_know_nothing_of_the_others_things(world: World, other: World) -> None:
    for call in _calls("Project", world):
        if "(" not in call.text.partition("{")[0]:
            continue
        document = f"{{ project(name: {json.dumps(other.project)}) {{ {call.text} }} }}"
        answer = asked_of(world, other, document)
        for secret in world.ids.values():
            assert secret not in answer, (document, answer)


def test_one_sees_the_same_where_a_thing_is_foreign_as_where_there_is_none(world: World, other: World) -> None:
    nowhere = World(world.server, "no-such-project", {name: _unlike(id_) for name, id_ in world.ids.items()})
    for owner in ("Query", "Mutation"):
        foreign = {call.place: call.text for call in _calls(owner, world)}
        for call in _calls(owner, nowhere):
            if call.place in {"Query.viewer", "Query.projects"}:
                continue
            kind = "mutation" if owner == "Mutation" else "query"
            one = asked_of(world, other, f"{kind} {{ {foreign[call.place]} }}")
            none = asked_of(world, other, f"{kind} {{ {call.text} }}")
            for name, id_ in world.ids.items():
                none = none.replace(nowhere.ids[name], id_)
            assert one == none.replace(nowhere.project, world.project), call.place


def _unlike(id_: str) -> str:
    return "".join(format(15 - int(digit, 16), "x") if digit in "0123456789abcdef" else digit for digit in id_)


def test_mutations_of_another_project_do_nothing(world: World, other: World) -> None:
    before = _state(world)
    for call in _calls("Mutation", world):
        data = json.loads(asked_of(world, other, f"mutation {{ {call.text} }}"))["data"]
        assert all(value["__typename"] == "NotFound" for value in data.values()), (call.text, data)
    assert _state(world) == before


def test_mutations_of_ones_own_project_cannot_touch_the_others_things(world: World, other: World) -> None:
    before = _state(world)
    for call in _calls("Mutation", world):
        text = call.text.replace(json.dumps(world.project), json.dumps(other.project))
        data = json.loads(asked_of(world, other, f"mutation {{ {text} }}"))["data"]
        names_a_thing = any(id_ in text for id_ in world.ids.values())
        if names_a_thing:
            assert all(value["__typename"] in {"NotFound", "InvalidInput"} for value in data.values()), (text, data)
    assert _state(world) == before


def _state(world: World) -> dict[str, Any]:
    """All that a mutation could change."""
    return world.ask(
        """query($p: String!) { project(name: $p) {
          statistics { labels { label count } }
          failures { nodes { id goldAnswers evidenceIds verdicts { id errorType author } } }
          traces { nodes { variables(kinds: [Answer]) { nodes { id right } } } }
          jobs { nodes { id cancelRequested } }
          annotationQueues { nodes { id closedAt progress { verdicts people { person } } } }
          keys(first: 500) { nodes { id revokedAt role } }
        } }""",
        {"p": world.project},
        "admin",
    )


@pytest.mark.parametrize("key", [None, "mt_" + "0" * 16 + "_" + "a" * 43, "nonsense"])
def test_without_a_key(world: World, key: str | None) -> None:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    with world.server.client(None) as client:
        for owner, kind in (("Query", "query"), ("Mutation", "mutation"), ("Subscription", "subscription")):
            for call in _calls(owner, world):
                response = client.post("/graphql", json={"query": f"{kind} {{ {call.text} }}"}, headers=headers)
                assert response.status_code in {401, 429}, call.place
                assert not any(secret in response.text for secret in (*world.ids.values(), "Mara", "pottery"))


def test_roles(world: World) -> None:
    """Readers change nothing, and writers do no admin's work: whatever the schema has."""
    before = _state(world)
    for call in _calls("Mutation", world):
        data = json.loads(_ask_as(world, "reader", f"mutation {{ {call.text} }}"))["data"]
        assert all(value["__typename"] == "Forbidden" for value in data.values()), (call.place, data)
    for call in _calls("Mutation", world):
        if call.place.rpartition(".")[2] in _FOR_ADMINS:
            data = json.loads(_ask_as(world, "writer", f"mutation {{ {call.text} }}"))["data"]
            assert all(value["__typename"] == "Forbidden" for value in data.values()), (call.place, data)
    for field in ("keys { nodes { id } }", "audit { nodes { id } }"):
        for role in ("reader", "writer"):
            answer = json.loads(_ask_as(world, role, f"{{ project {{ {field} }} }}"))
            assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert _state(world) == before


def _ask_as(world: World, role: str, document: str) -> str:
    with world.server.client(role, world.project) as client:
        return valid(client.post("/graphql", json={"query": document}))


def test_subscriptions(world: World, other: World) -> None:
    from websockets.sync.client import connect

    calls = list(_calls("Subscription", world))
    with connect(_socket(world.server), subprotocols=["graphql-transport-ws"]) as socket:  # type: ignore[list-item]
        init = {"authorization": other.server.headers("admin", other.project)["Authorization"]}
        socket.send(json.dumps({"type": "connection_init", "payload": init}))
        assert json.loads(socket.recv())["type"] == "connection_ack"
        for number, call in enumerate(calls):
            for place in (world.project, other.project):
                text = call.text.replace(json.dumps(world.project), json.dumps(place))
                operation = f"{number}-{place}"
                payload = {"query": f"subscription {{ {text} }}"}
                socket.send(json.dumps({"type": "subscribe", "id": operation, "payload": payload}))
                while (message := json.loads(socket.recv(timeout=300)))["type"] != "complete":
                    errors = message["payload"] if message["type"] == "error" else message["payload"]["errors"]
                    assert errors[0]["extensions"]["code"] == "NOT_FOUND", (text, message)
                    if message["type"] == "error":
                        break


def test_a_socket_without_a_key_is_closed(world: World) -> None:
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    for payload in ({}, {"authorization": "Bearer nonsense"}, {"authorization": 5}):
        with connect(_socket(world.server), subprotocols=["graphql-transport-ws"]) as socket:  # type: ignore[list-item]
            socket.send(json.dumps({"type": "connection_init", "payload": payload}))
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=300)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4403


def _socket(server: RunningServer) -> str:
    return f"{server.url.replace('http', 'ws', 1)}/graphql"
