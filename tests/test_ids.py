from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from schema.ids import ID_LENGTH, IdMaker, hash_value, make_id, trace_id
from schema.models import Element, as_json, camel_case, format_time
from tests.factory import START, TraceBuilder

PARTS = st.lists(st.text(st.characters(codec=None, exclude_categories=()), max_size=4), min_size=1, max_size=4)


def test_ids_stay_what_they_are() -> None:
    assert make_id("Trace", "project", "trace") == "5ceee4394fd1ec9420c8309d6ff17e8c"
    assert trace_id("project", "trace") == make_id("Trace", "project", "trace")
    assert hash_value(b"Mia moved to Oslo") == "b2:fe341090783aad4afd3b3aa3417b078b"


@given(PARTS, PARTS)
def test_no_two_lists_of_parts_share_an_id(parts: list[str], others: list[str]) -> None:
    assert (make_id("Variable", *parts) == make_id("Variable", *others)) == (parts == others)


@given(PARTS, PARTS)
def test_ids_with_the_same_first_parts_are_made_at_once(first: list[str], last: list[str]) -> None:
    make = IdMaker("Variable", *first)
    assert make(*last) == make(*last) == make_id("Variable", *first, *last)


@given(st.text(), PARTS)
def test_an_id_is_hexadecimal_of_one_length(label: str, parts: list[str]) -> None:
    made = make_id(label, *parts)
    assert len(made) == ID_LENGTH
    assert set(made) <= set("0123456789abcdef")


def test_the_parts_do_not_run_together() -> None:
    lists = [("ab", "c"), ("a", "bc"), ("abc",), ("a", "b", "c"), ("abc", ""), ("", "abc"), ("2:ab", "c"), ("1:a2:bc",)]
    assert len({make_id("Label", *parts) for parts in lists}) == len(lists)
    assert make_id("A", "b") != make_id("", "Ab")


def test_an_id_can_be_made_of_any_text() -> None:
    assert make_id("Variable", "\ud800") != make_id("Variable", "\udfff")
    assert make_id("Variable", "\0") != make_id("Variable", "")


def test_the_hash_of_a_value_says_its_algorithm() -> None:
    assert hash_value(b"").startswith("b2:")
    assert hash_value(b"") != hash_value(b"\0")


def test_camel_case() -> None:
    assert [camel_case(name) for name in ("id", "value_hash", "started_at", "gold_answers")] == [
        "id",
        "valueHash",
        "startedAt",
        "goldAnswers",
    ]


def test_times_are_written_in_utc_with_microseconds() -> None:
    assert format_time(START) == "2026-03-01T12:30:15.123456Z"
    assert format_time(START.replace(microsecond=0)) == "2026-03-01T12:30:15.000000Z"
    east = timezone(timedelta(hours=5, minutes=30))
    assert format_time(datetime(2026, 1, 1, 2, 0, 0, 0, east)) == "2025-12-31T20:30:00.000000Z"


def test_the_public_form_of_a_variable_and_an_operation() -> None:
    trace = TraceBuilder("project")
    session = trace.session("talk")
    operation = trace.operation("extract", attributes='{"model":"m","list":[1,null]}')
    variable = trace.variable("note", "ünï", by=operation)
    assert as_json(operation) == {
        "id": operation.id,
        "projectId": "project",
        "traceId": trace.trace.id,
        "sessionId": session.id,
        "externalId": "extract",
        "name": "operation extract",
        "kind": "Update",
        "category": "update",
        "comment": None,
        "status": "ok",
        "sequence": 0,
        "startedAt": "2026-03-01T12:30:15.123456Z",
        "endedAt": "2026-03-01T12:30:15.124457Z",
        "location": None,
        "attributes": {"model": "m", "list": [1, None]},
    }
    public = as_json(variable)
    assert (public["className"], public["valueHash"], public["size"]) == (None, variable.value_hash, 5)
    assert (public["operationId"], public["revisionOf"]) == (operation.id, None)


def test_the_public_form_has_the_names_of_the_contract() -> None:
    trace = TraceBuilder("project")
    session = trace.session("talk")
    operation = trace.operation("extract")
    note = trace.variable("note", by=operation)
    (derivation,) = trace.derive(trace.variable("other"), note, by=operation)
    failure = trace.failure(note, evidence_ids=(note.id,))
    attribution = trace.attribution(failure, evidence='[["a","b"]]', candidates='["c"]')
    promised: dict[Element, str] = {
        trace.trace: "id projectId externalId name source createdAt attributes",
        session: "id projectId traceId externalId name category comment sequence createdAt attributes",
        operation: "id projectId traceId sessionId externalId name kind category comment status sequence startedAt "
        "endedAt location attributes",
        note: "id projectId traceId sessionId externalId name className version occurrence kind category comment "
        "preview value valueHash size mediaType sequence createdAt location attributes",
        derivation: "id operationId externalId kind category comment sequence attributes source target",
        failure: "id projectId traceId origin questionId answerId expectedId evidenceIds question prediction "
        "goldAnswers createdAt attributes",
        attribution: "id projectId traceId failureId errorType operationId confidence method model reason evidence "
        "candidates tokens cost seconds createdAt author",
    }
    for element, names in promised.items():
        assert set(names.split()) <= set(as_json(element))
    assert as_json(failure)["evidenceIds"] == [note.id]
    assert (as_json(attribution)["evidence"], as_json(attribution)["candidates"]) == ([["a", "b"]], ["c"])


def test_times_that_are_unknown_are_null() -> None:
    trace = TraceBuilder("project")
    assert as_json(replace(trace.trace, created_at=None))["createdAt"] is None
