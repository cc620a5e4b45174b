"""Roles, states, bounds, errors, conflicts and texts of queries: rules of the schema and the store without a store."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schema.control import MOST_DAYS, MOST_TRACES, JobState, RetentionPolicy, Role
from schema.errors import (
    AmbiguousError,
    Candidate,
    ConflictError,
    CorruptValueError,
    InputError,
    MemTraceError,
    NotFoundError,
    QueueFullError,
    StoreError,
)
from schema.models import Element
from store.contract.answers import Label
from store.retention import EVERY, policy
from store.shared.conflicts import check
from store.shared.texts import placeholders, texts_in, texts_of
from store.sqlite.queries import Table
from tests.factory import TraceBuilder

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("place", range(4))
def test_a_role_includes_those_below_it(place: int) -> None:
    order = [Role.READER, Role.ANNOTATOR, Role.WRITER, Role.ADMIN]
    assert list(Role) == order
    assert [order[place].allows(needed) for needed in order] == [number <= place for number in range(4)]


def test_three_states_are_final() -> None:
    assert [state for state in JobState if state.is_final] == [JobState.DONE, JobState.FAILED, JobState.CANCELLED]


@pytest.mark.parametrize(
    ("days", "traces", "problem"),
    [
        (1, None, None),
        (None, 1, None),
        (MOST_DAYS, MOST_TRACES, None),
        (None, None, "say how many days, or how many traces, are kept"),
        (0, None, "retention: days: 0 is not from 1 to 36,500"),
        (None, 0, "retention: traces: 0 is not from 1 to 1,000,000,000"),
        (5, -1, "retention: traces: -1 is not from 1"),
        (MOST_DAYS + 1, 5, "retention: days: 36501 is not from 1 to 36,500"),
        (None, MOST_TRACES + 1, "retention: traces: 1000000001 is not from 1"),
    ],
)
def test_a_policy_has_a_bound_within_range(days: int | None, traces: int | None, problem: str | None) -> None:
    def policy() -> RetentionPolicy:
        return RetentionPolicy("p", days, traces, NOW, "Ada", NOW)

    if problem is None:
        assert policy().id == "p"
    else:
        with pytest.raises(InputError, match=problem):
            policy()


ONE, THREE, WAY_OUT = "1" * 32, "3" * 32, "name the trace or give the whole id"
CANDIDATES = [Candidate(ONE, "Operation", "add", THREE), Candidate(THREE, "Trace", "", THREE)]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (InputError("a.json", "edges[1]", "is wrong"), "a.json: edges[1]: is wrong"),
        (InputError("a.json", "", "is wrong"), "a.json: is wrong"),
        (ConflictError("Variable", "v1", "valueHash"), "Variable 'v1' is stored already with another valueHash"),
        (NotFoundError("v1", "Variable"), "no variable 'v1' in this project"),
        (NotFoundError("x" * 200), f"no '{'x' * 200}' in this project"),
        (NotFoundError("x" * 201), f"no '{'x' * 200}…' in this project"),
        (
            AmbiguousError("ab", [ONE, THREE], CANDIDATES),
            f"'ab' is ambiguous: {ONE} (operation 'add' of trace {THREE}), {THREE} (trace); {WAY_OUT}",
        ),
        (AmbiguousError("ab", ["abc", "abd"], way_out="say which"), "'ab' is ambiguous: abc, abd; say which"),
        (StoreError("away"), "away"),
        (QueueFullError(), "the queue of events is full: send them again later"),
        (CorruptValueError("h"), "the stored value h is damaged: its bytes do not match its hash"),
    ],
)
def test_an_error_says_all_and_passes_between_processes(error: MemTraceError, text: str) -> None:
    assert str(error) == text
    other = pickle.loads(pickle.dumps(error))
    assert (type(other), str(other), other.args, other.__dict__) == (type(error), text, error.args, error.__dict__)


def test_an_error_keeps_its_parts() -> None:
    wrong, other = InputError("a.json", "edges[1]", "is wrong"), ConflictError("Variable", "v1", "valueHash")
    assert (wrong.source, wrong.place, wrong.problem) == ("a.json", "edges[1]", "is wrong")
    assert (other.label, other.external_id, other.field) == ("Variable", "v1", "valueHash")
    assert (NotFoundError("v1").reference, CorruptValueError("h").value_hash) == ("v1", "h")
    several = AmbiguousError("ab", [ONE, THREE], CANDIDATES)
    assert (several.reference, several.candidates, several.described) == ("ab", [ONE, THREE], CANDIDATES)
    assert AmbiguousError("ab", [ONE, THREE]).described == []


@pytest.mark.parametrize(("length", "shown"), [(59, "n" * 59), (60, "n" * 60), (61, "n" * 60 + "…")])
def test_a_long_name_of_a_candidate_is_cut(length: int, shown: str) -> None:
    assert str(Candidate("i", "Session", "n" * length, "t")) == f"i (session '{shown}' of trace t)"


def element(label: Label) -> Element:
    builder = TraceBuilder("p")
    session = builder.session("s")
    made_by = builder.operation("o")
    question, answer = builder.variable("q"), builder.variable("a", "tea", made_by)
    (derived,) = builder.derive(answer, question, by=made_by)
    failure = builder.failure(question, answer)
    found: Sequence[Element] = [builder.trace, session, made_by, answer, derived, failure, builder.attribution(failure)]
    return found[list(Label).index(label)]


@pytest.mark.parametrize(
    ("label", "change", "named"),
    [
        (Label.TRACE, {"attributes": '{"a":1}'}, None),
        (Label.TRACE, {"name": "other"}, "name"),
        (Label.TRACE, {"created_at": NOW - timedelta(days=900)}, "createdAt"),
        (Label.SESSION, {"sequence": 99}, None),
        (Label.SESSION, {"name": "other"}, "name"),
        (Label.OPERATION, {"sequence": 99}, None),
        (Label.OPERATION, {"name": "other"}, "name"),
        (Label.VARIABLE, {"sequence": 99}, None),
        (Label.VARIABLE, {"value_hash": "0" * 64, "sequence": 99}, "valueHash"),
        (Label.DERIVATION, {"sequence": 99}, None),
        (Label.DERIVATION, {"comment": "other"}, "comment"),
        (Label.FAILURE, {"gold_answers": ("other",), "evidence_ids": ()}, None),
        (Label.FAILURE, {"question": "other"}, "question"),
        (Label.ATTRIBUTION, {"confidence": 0.01}, None),
    ],
)
def test_a_later_write_may_change_a_few_fields(label: Label, change: dict[str, Any], named: str | None) -> None:
    stored = element(label)
    new = replace(stored, **change)
    assert new != stored
    check(label, {}, [new])
    check(label, {"0" * 32: stored}, [new])
    check(label, {stored.id: stored}, [stored])
    if named is None:
        check(label, {stored.id: stored}, [new])
    else:
        with pytest.raises(ConflictError, match=f"stored already with another {named}$") as caught:
            check(label, {stored.id: stored}, [stored, new])
        shown = getattr(stored, "external_id", None) or stored.id
        assert (caught.value.label, caught.value.external_id, caught.value.field) == (label.value, shown, named)


def test_a_trace_may_get_its_name_later_and_only_once() -> None:
    named = TraceBuilder("p").trace
    check(Label.TRACE, {named.id: replace(named, name=None)}, [named])
    with pytest.raises(ConflictError, match="another name"):
        check(Label.TRACE, {named.id: named}, [replace(named, name=None)])


def test_texts_of_a_file_are_named() -> None:
    content = "-- name: one\nSELECT 1\n\n-- name: two\n\nSELECT {{table}}, {{a.b}}, {{kind}}\n"
    assert texts_in(content) == {"one": "SELECT 1", "two": "SELECT {{table}}, {{a.b}}, {{kind}}"}
    assert texts_in("SELECT 1\n") == {"": "SELECT 1\n"}
    assert placeholders(content) == {"table", "kind"}
    assert placeholders("SELECT {table}") == set()


def test_a_template_is_filled_from_a_closed_list() -> None:
    text = texts_of("store.sqlite.queries", ".sql", {Table.MIGRATION: {"table": "here", "columns": "a", "marks": "?"}})
    assert "here" in text("tables.insert", Table.MIGRATION)
    assert "{{" not in text("tables.insert", Table.MIGRATION)
    for name, about, problem in (
        ("tables.insert", Label.TRACE, "no text is about"),
        ("counts.of_label", Table.MIGRATION, "can't be about .*: that has no kind"),
        ("tables.insert", None, "that has no table"),
        ("tables.nothing", None, "there is no text tables.nothing$"),
        ("nowhere", None, "there is no text nowhere$"),
        ("tables", None, "there is no text tables$"),
    ):
        with pytest.raises(ValueError, match=problem):
            text(name, about)


def test_a_new_policy_deletes_nothing_for_an_hour() -> None:
    """In this hour a mistaken policy can be taken back."""
    before = datetime.now(UTC)
    found = policy("p", 30, 7, "Ada")
    assert (found.project_id, found.days, found.traces, found.changed_by) == ("p", 30, 7, "Ada")
    assert before <= found.changed_at <= datetime.now(UTC)
    assert found.due_at - found.changed_at == EVERY == timedelta(hours=1)
    with pytest.raises(InputError):
        policy("p", None, None, "Ada")
