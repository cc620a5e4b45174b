"""The history of a person's verdict: which changes are noted, and what an undo takes back; without a store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schema.annotation import MAX_CHANGES, VerdictChange
from schema.errors import InputError, NotFoundError
from schema.kinds import HUMAN_METHOD, ErrorType
from schema.models import Attribution
from store.contract.verdict_changes import (
    adjudication_id,
    changes_of,
    first_change,
    is_adjudicated,
    is_human,
    read_said,
    undone,
)
from tests.factory import TraceBuilder

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def verdict(**more: Any) -> Attribution:
    builder = TraceBuilder("p")
    builder.session("talk")
    failure = builder.failure(builder.variable("question"))
    return builder.attribution(failure, HUMAN_METHOD, **{"author": "Ada", "created_at": NOW, "seconds": None} | more)


GIVEN = verdict()
CHANGED = replace(GIVEN, error_type=ErrorType.UPDATE, reason="it was overwritten", created_at=NOW + timedelta(hours=1))


def noted(changes: list[VerdictChange]) -> list[tuple[int, str, Attribution | None]]:
    return [(one.number, one.changed_by, None if one.said is None else read_said(one.said)) for one in changes]


@pytest.mark.parametrize(
    ("new", "stored", "last", "by", "changes"),
    [
        (GIVEN, None, 0, None, []),
        (None, None, 0, None, []),
        (None, None, 0, "Ben", []),
        (GIVEN, None, 2, None, [(3, "Ada", GIVEN)]),
        (CHANGED, GIVEN, 0, None, [(1, "Ada", GIVEN), (2, "Ada", CHANGED)]),
        (CHANGED, GIVEN, 1, None, [(2, "Ada", CHANGED)]),
        (CHANGED, GIVEN, 7, None, [(8, "Ada", CHANGED)]),
        (None, GIVEN, 0, None, [(1, "Ada", GIVEN), (2, "Ada", None)]),
        (None, GIVEN, 4, "Ben", [(5, "Ben", None)]),
        (replace(GIVEN, created_at=CHANGED.created_at), GIVEN, 0, None, []),
        (replace(GIVEN, proof='{"result":"proved"}'), GIVEN, 3, None, []),
        (CHANGED, GIVEN, MAX_CHANGES - 1, None, [(MAX_CHANGES, "Ada", CHANGED)]),
    ],
)
def test_a_change_is_noted_with_what_was_said(
    new: Attribution | None,
    stored: Attribution | None,
    last: int,
    by: str | None,
    changes: list[tuple[int, str, Attribution | None]],
) -> None:
    assert noted(changes_of(new, stored, last, by)) == changes


@pytest.mark.parametrize("last", [MAX_CHANGES, MAX_CHANGES + 1])
@pytest.mark.parametrize("new", [CHANGED, None])
def test_a_verdict_takes_a_bounded_number_of_changes(new: Attribution | None, last: int) -> None:
    with pytest.raises(InputError, match=f"was changed {MAX_CHANGES:,} times"):
        changes_of(new, GIVEN, last)


def test_a_change_tells_its_place_and_time() -> None:
    first, second = changes_of(CHANGED, GIVEN, 0)
    assert (first.changed_at, second.changed_at) == (NOW, CHANGED.created_at)
    assert first == first_change(GIVEN)
    for one in (first, second):
        assert (one.project_id, one.trace_id, one.failure_id, one.attribution_id) == (
            "p",
            GIVEN.trace_id,
            GIVEN.failure_id,
            GIVEN.id,
        )
        assert (one.undone_at, one.undone_by) == (None, None)
    assert len({first.id, second.id, first_change(replace(GIVEN, id="0" * 32)).id}) == 3


def test_everything_of_a_verdict_comes_back() -> None:
    full = replace(
        GIVEN,
        operation_id="1" * 32,
        model="m",
        evidence='[{"variableId":"v"}]',
        candidates='[{"errorType":"UpdateError"}]',
        losses='[{"piece":"tea"}]',
        tokens=5,
        cost=0.25,
        proof='{"result":"proved"}',
    )
    said = first_change(full).said
    assert said is not None
    assert read_said(said) == full


def change(number: int, said: Attribution | None, undone_before: bool = False) -> VerdictChange:
    made = replace(first_change(said or GIVEN), number=number, id=f"c{number}")
    at, by = (NOW, "Cy") if undone_before else (None, None)
    return replace(made, said=made.said if said else None, undone_at=at, undone_by=by)


@pytest.mark.parametrize(
    ("stored", "changes", "taken", "left"),
    [
        (GIVEN, [], 1, None),
        (CHANGED, [change(1, GIVEN), change(2, CHANGED)], 2, GIVEN),
        (None, [change(1, GIVEN), change(2, None)], 2, GIVEN),
        (None, [change(1, GIVEN), change(2, None), change(3, CHANGED)], 3, None),
        (GIVEN, [change(1, GIVEN), change(2, CHANGED, True)], 1, None),
        (GIVEN, [change(1, GIVEN), change(2, CHANGED, True), change(3, CHANGED)], 3, GIVEN),
    ],
)
def test_an_undo_takes_the_last_standing_change(
    stored: Attribution | None, changes: list[VerdictChange], taken: int, left: Attribution | None
) -> None:
    found = undone(GIVEN.id, stored, changes, "Ben")
    assert found.verdict == left
    (one,) = found.changes
    assert (one.number, one.undone_by) == (taken, "Ben")
    assert one.undone_at is not None
    assert changes == [] or replace(one, undone_at=None, undone_by=None) == changes[taken - 1]


@pytest.mark.parametrize(
    ("stored", "changes"),
    [(None, []), (replace(GIVEN, method="flow"), []), (None, [change(1, GIVEN, True), change(2, CHANGED, True)])],
)
def test_without_a_standing_change_nothing_is_undone(stored: Attribution | None, changes: list[VerdictChange]) -> None:
    with pytest.raises(NotFoundError, match=f"no attribution '{GIVEN.id}' in this project"):
        undone(GIVEN.id, stored, changes, "Ben")


def test_the_final_word_has_one_place_whoever_says_it() -> None:
    final = replace(GIVEN, id=adjudication_id(GIVEN.failure_id))
    assert is_adjudicated(final)
    assert is_adjudicated(replace(final, author="Ben"))
    assert not is_adjudicated(GIVEN)
    assert not is_adjudicated(replace(final, method="flow"))
    assert not is_adjudicated(replace(final, failure_id="0" * 32))
    assert (is_human(GIVEN), is_human(replace(GIVEN, method="flow"))) == (True, False)
