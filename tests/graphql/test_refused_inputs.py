"""Inputs at their borders, and the whole error for each input and each failure behind a field."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from graphql import GraphQLError
from structlog.testing import capture_logs

from api.errors import ForbiddenError, RateLimitedError, TooLargeError, TooLongError, UnauthenticatedError
from api.graphql.across_traces import _cursor, _Place, _place_of
from api.graphql.failure_filter import FailureFilter, FailureOrder, groups_of, wanted_failures, wanted_order
from api.graphql.levers import LeverKind, _name
from api.graphql.lineage import MAX_HOPS, MAX_NODES, bounds
from api.graphql.public_errors import public_error, public_errors
from api.graphql.requests import (
    EARLY_CHARACTERS,
    MAX_DEPTH,
    MAX_VALUES,
    Complete,
    ConnectionInit,
    Ping,
    Pong,
    Request,
    Subscribe,
    read_early_message,
    read_message,
    read_request,
)
from api.graphql.scalars import JSON, SCALARS, BigInt, Direction, ErrorType, QuestionKind, VariableKind
from schema.errors import (
    AmbiguousError,
    ConflictError,
    CorruptValueError,
    DiskFullError,
    InputError,
    MemTraceError,
    NotFoundError,
    StoreError,
)
from store.contract import answers
from tests.factory import moment

INFO: Any = SimpleNamespace(
    context=SimpleNamespace(platform=SimpleNamespace(settings=SimpleNamespace(request_seconds=30.0)))
)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"text": "x" * 1000}, None),
        ({"text": "x" * 1001}, "filter: text: is longer than 1,000 characters"),
        ({"method": "x" * 1001}, "filter: method: is longer than 1,000 characters"),
        ({"operation": "x" * 1001}, "filter: operation: is longer than 1,000 characters"),
        ({"text": "a\ud800"}, "filter: text: has half of a surrogate pair"),
        ({"operation": "\udfff"}, "filter: operation: has half of a surrogate pair"),
        ({"method": "\ud7ff\ue000"}, None),
        ({"min_confidence": 0.0, "max_confidence": 1.0}, None),
        ({"min_confidence": 0.5, "max_confidence": 0.5}, None),
        ({"min_confidence": -0.1}, "filter: minConfidence: must be from 0 to 1, not -0.1"),
        ({"max_confidence": 1.1}, "filter: maxConfidence: must be from 0 to 1, not 1.1"),
        ({"max_confidence": float("nan")}, "filter: maxConfidence: must be from 0 to 1, not nan"),
        (
            {"min_confidence": 0.6, "max_confidence": 0.5},
            "filter: minConfidence: is 0.6, above maxConfidence, which is 0.5",
        ),
        ({"since": moment(1), "until": moment(2)}, None),
        ({"since": moment(2), "until": moment(2)}, "filter: until: must be after since"),
    ],
)
def test_a_filter_is_taken_or_refused(said: dict[str, Any], problem: str | None) -> None:
    if problem is None:
        assert wanted_failures(FailureFilter(**said)) == answers.FailureFilter(**said)
        return
    with pytest.raises(InputError) as caught:
        wanted_failures(FailureFilter(**said))
    assert str(caught.value) == problem


def test_filters_orders_and_groups_say_the_same_in_the_store() -> None:
    whole: dict[str, Any] = {
        "text": "t",
        "labelled": False,
        "method": "m",
        "error_type": ErrorType.UPDATE,
        "abstained": True,
        "operation": "o",
        "question_kind": QuestionKind.PLAIN,
        "min_confidence": 0.1,
        "max_confidence": 0.9,
    }
    assert wanted_failures(FailureFilter(**whole)) == answers.FailureFilter(**whole)
    assert wanted_failures(None) is answers.ALL_FAILURES
    assert wanted_order(None) is None
    key = answers.FailureKey.CONFIDENCE
    for descending in (True, False):
        assert wanted_order(FailureOrder(by=key, descending=descending)) == answers.FailureOrder(key, descending)
    found = groups_of([answers.VerdictGroup("m", "UpdateError", "o", 3), answers.VerdictGroup("n", None, None, 1)])
    assert [(one.method, one.error_type, one.operation, one.failures) for one in found] == [
        ("m", ErrorType.UPDATE, "o", 3),
        ("n", None, None, 1),
    ]


@pytest.mark.parametrize(
    ("hops", "nodes", "problem"),
    [
        (None, 1, None),
        (0, MAX_NODES, None),
        (MAX_HOPS, 1, None),
        (None, 0, f"maxNodes: 0 is not from 1 to {MAX_NODES}"),
        (None, MAX_NODES + 1, f"maxNodes: {MAX_NODES + 1} is not from 1 to {MAX_NODES}"),
        (-1, 1, f"maxHops: -1 is not from 0 to {MAX_HOPS}"),
        (MAX_HOPS + 1, 1, f"maxHops: {MAX_HOPS + 1} is not from 0 to {MAX_HOPS}"),
    ],
)
def test_a_lineage_has_bounds(hops: int | None, nodes: int, problem: str | None) -> None:
    if problem is None:
        found = bounds(INFO, Direction.FORWARD, hops, nodes, [VariableKind.ANSWER, VariableKind.ANSWER], 7)
        assert (found.direction, found.kinds) == (Direction.FORWARD, frozenset({"Answer"}))
        assert found.budget == answers.Budget(hops=hops, nodes=nodes, seconds=15.0, until=7)
        return
    with pytest.raises(InputError) as caught:
        bounds(INFO, Direction.BACKWARD, hops, nodes, [], None)
    assert str(caught.value) == problem


@pytest.mark.parametrize("place", [_Place(), _Place("a"), _Place("a", "b"), _Place(None, "b")])
def test_a_place_across_traces_comes_back(place: _Place) -> None:
    assert _place_of(_cursor(place)) == place
    assert _place_of(None) == _Place()


@pytest.mark.parametrize("cursor", ["", "x", "{}", "[1]", '["a","b","c"', "[" * 99])
def test_another_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InputError) as caught:
        _place_of(cursor)
    assert str(caught.value) == f"after: {cursor[:80]!r} is not a cursor of this list"


TIME, INTEGER, ANY = (SCALARS[of].parse_value for of in (datetime, BigInt, JSON))


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("2026-01-31T12:00:00Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31T12:00:00.000001+02:00", datetime(2026, 1, 31, 10, 0, 0, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_moment_is_taken_in_utc(said: str, moment: datetime) -> None:
    assert TIME is not None
    found = TIME(said)
    assert (found, found.tzinfo) == (moment, UTC)


@pytest.mark.parametrize(
    ("parse", "said", "problem"),
    [
        (TIME, "soon", "DateTime: 'soon' is not ISO 8601, such as 2026-01-31T12:00:00Z"),
        (TIME, "x" * 99, f"DateTime: '{'x' * 80}' is not ISO 8601, such as 2026-01-31T12:00:00Z"),
        (TIME, 7, "DateTime: what is no text is not ISO 8601, such as 2026-01-31T12:00:00Z"),
        (
            TIME,
            "2026-01-31T12:00:00",
            "DateTime: '2026-01-31T12:00:00' does not say its zone: end it with Z, or with +02:00",
        ),
        (
            TIME,
            "0001-01-01T00:00:00+02:00",
            "DateTime: '0001-01-01T00:00:00+02:00' is not from the year 1 to the year 9999 in UTC",
        ),
        (INTEGER, True, "BigInt: an integer is needed"),
        (INTEGER, 1.0, "BigInt: an integer is needed"),
        (INTEGER, "1", "BigInt: an integer is needed"),
        (ANY, {}, "JSON: is only for answers"),
    ],
)
def test_another_value_of_a_scalar_is_refused(parse: Any, said: Any, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(said)
    assert str(caught.value) == problem


def test_a_large_integer_is_taken() -> None:
    assert INTEGER is not None
    assert INTEGER(2**63) == 2**63


@pytest.mark.parametrize(
    ("kind", "key", "name"),
    [
        (LeverKind.PROMPT, "prompt:a:b", "a:b"),
        (LeverKind.DATA, "data", None),
        *(
            (kind, "settings:Retrieval:a:b", "a:b")
            for kind in LeverKind
            if kind not in {LeverKind.PROMPT, LeverKind.DATA}
        ),
    ],
)
def test_a_lever_has_the_name_in_its_key(kind: LeverKind, key: str, name: str | None) -> None:
    assert _name(kind, key) == name


AWAY = "the store can't be used at the moment"


@pytest.mark.parametrize(
    ("error", "message", "extensions"),
    [
        (NotFoundError("t", "trace"), None, {"code": "NOT_FOUND"}),
        (UnauthenticatedError("secret", "told"), "told", {"code": "UNAUTHENTICATED"}),
        (ForbiddenError("p", "admin"), None, {"code": "FORBIDDEN"}),
        (RateLimitedError(1.0), None, {"code": "RATE_LIMITED"}),
        (TooLargeError("it", 1), None, {"code": "TOO_LARGE"}),
        (TooLongError(1.0, "less"), None, {"code": "TIMEOUT"}),
        (AmbiguousError("t", ["a", "b"]), None, {"code": "AMBIGUOUS", "candidates": ["a", "b"]}),
        (ConflictError("Trace", "t", "name"), None, {"code": "CONFLICT"}),
        (InputError("a", "b", "c"), "a: b: c", {"code": "BAD_INPUT"}),
        (StoreError("secret"), AWAY, {"code": "UNAVAILABLE"}),
        (CorruptValueError("secret"), AWAY, {"code": "UNAVAILABLE"}),
        (DiskFullError("secret"), "the store is full: nothing can be written", {"code": "UNAVAILABLE"}),
        (MemTraceError("told"), "told", {"code": "FAILED"}),
        (KeyError("secret"), "an unexpected error: the log says more", {"code": "INTERNAL"}),
    ],
)
def test_an_error_has_a_code(error: Exception, message: str | None, extensions: dict[str, Any]) -> None:
    for given in (error, GraphQLError("outer", original_error=error)):
        with capture_logs() as logs:
            found = public_error(given)
        assert (found.message, found.extensions) == (message or str(error), extensions)
        assert [one["event"] for one in logs] == (
            ["the store can't be used"]
            if isinstance(error, StoreError)
            else ["unexpected error"]
            if extensions["code"] == "INTERNAL"
            else []
        )


def test_an_error_of_the_document_stays_as_it_is() -> None:
    own = GraphQLError("of the document")
    handled = GraphQLError("outer", path=["a"], original_error=GraphQLError("inner"))
    assert public_error(own) is own
    assert public_error(handled) is handled
    assert public_error(GraphQLError("outer", original_error=own)) is own
    outside = GraphQLError("secret", original_error=StoreError("secret"))
    placed = GraphQLError("told", path=["a"], original_error=StoreError("secret"))
    with capture_logs():
        assert [one.message for one in public_errors([own, outside, placed])] == ["of the document", AWAY, "told"]


def test_an_error_keeps_no_frames() -> None:
    try:
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise StoreError("outer") from inner
    except StoreError as caught:
        error = caught
    with capture_logs():
        public_errors([GraphQLError("x", original_error=error)])
    assert error.__traceback__ is None
    assert error.__cause__ is not None
    assert error.__cause__.__traceback__ is None


SUBSCRIBE = """{"type": "subscribe", "id": "1", "payload":
    {"query": "q", "operationName": "o", "variables": {"a": 1}, "extensions": {"b": 2}}}"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"type": "ping"}', Ping()),
        ('{"type": "pong", "payload": {"a": 1}}', Pong()),
        ('{"type": "complete", "id": "1"}', Complete("1")),
        ('{"type": "connection_init"}', ConnectionInit()),
        ('{"type": "connection_init", "payload": {"authorization": "x"}}', ConnectionInit({"authorization": "x"})),
        (
            SUBSCRIBE,
            Subscribe("1", Request("q", {"a": 1}, "o", {"b": 2})),
        ),
    ],
)
def test_a_message_is_read(text: str, message: Any) -> None:
    assert read_message(text) == message
    early = read_early_message(text)
    assert early == (Subscribe("", Request()) if isinstance(message, Subscribe) else message)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"type": "no"}', "message: type: Invalid value 'no'"),
        ("[]", "message: Expected `object`, got `array`"),
        ('{"type": "complete", "id": 1}', "message: id: Expected `str`, got `int`"),
    ],
)
def test_another_message_is_refused_at_its_place(text: str, problem: str) -> None:
    for read in (read_message, read_early_message):
        with pytest.raises(InputError) as caught:
            read(text)
        assert str(caught.value).replace("$.", "") == problem


def test_an_early_message_is_short() -> None:
    text = '{"type": "ping", "payload": {"a": "%s"}}'
    room = EARLY_CHARACTERS - len(text % "")
    assert read_early_message(text % ("x" * room)) == Ping()
    with pytest.raises(InputError) as caught:
        read_early_message(text % ("x" * (room + 1)))
    assert str(caught.value) == "message: it has more than 20,000 characters before connection_ack"


def _nested(depth: int) -> bytes:
    return b'{"query": "q", "variables": {"a": %s1%s}}' % (b"[" * (depth - 1), b"]" * (depth - 1))


def test_values_are_nested_so_deep_at_most() -> None:
    assert read_request(_nested(MAX_DEPTH)).variables is not None
    for depth in (MAX_DEPTH + 1, 5_000):
        with pytest.raises(InputError) as caught:
            read_request(_nested(depth))
        assert str(caught.value) == f"request: its values are nested more than {MAX_DEPTH} deep"


def test_a_request_has_so_many_values_at_most() -> None:
    def body(values: int) -> bytes:
        return b'{"query": "[[[,,,", "variables": {"a": [%s]}}' % b",".join([b"1"] * values)

    most = MAX_VALUES - 3  # the objects and the list around the values count as well
    assert len((read_request(body(most)).variables or {})["a"]) == most
    with pytest.raises(InputError) as caught:
        read_request(body(most + 1))
    assert str(caught.value) == "request: it has more than 12,000 values in its variables and extensions"


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (b'{"query": "\\ud800"}', True),
        (b'{"query": "\xed\xa0\x80"}', True),
        (b"{", False),
        (b'{"query": "\xff"}', False),
    ],
)
def test_half_a_pair_is_named(body: bytes, hint: bool) -> None:
    with pytest.raises(InputError, match=r"^request: this is not JSON: ") as caught:
        read_request(body)
    assert str(caught.value).endswith("; half of a surrogate pair is no text") is hint
