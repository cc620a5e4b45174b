"""Which verdicts on a failure a newer one replaces."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from attribution.verdicts.gold import gold_mark
from attribution.verdicts.stored import newest
from schema.kinds import HUMAN_METHOD, ErrorType, VariableKind
from schema.models import Attribution, Failure
from store.contract.verdict_changes import adjudication_id
from tests.factory import TraceBuilder


def a_failure() -> tuple[Failure, Attribution]:
    trace = TraceBuilder("shop", "verdicts")
    failure = trace.failure(trace.variable("question", "Which pet?", kind=VariableKind.QUERY))
    return failure, trace.attribution(failure, "flow")


def marked(verdict: Attribution, failure: Failure) -> Attribution:
    """The verdict on the gold answers of the failure."""
    return replace(verdict, attributes=json.dumps(gold_mark(failure)))


def shown(failure: Failure, verdicts: list[Attribution]) -> list[str]:
    return [one.id for one in newest(verdicts, failure)]


@pytest.mark.parametrize(
    ("change", "replaces"),
    [
        ({}, True),
        ({"error_type": ErrorType.UPDATE, "reason": "by the rules of now"}, True),
        ({"error_type": None}, True),
        ({"method": "walk"}, False),
        ({"model": "small"}, False),
        ({"method": HUMAN_METHOD, "author": "ada"}, False),
    ],
)
def test_a_verdict_replaces_an_older_one_of_the_same_method_and_model(change: dict[str, Any], replaces: bool) -> None:
    failure, old = a_failure()
    new = replace(old, id="new", **change)
    assert shown(failure, [old, new]) == (["new"] if replaces else [old.id, "new"])


def test_people_replace_only_their_own_verdicts() -> None:
    failure, found = a_failure()
    said = replace(found, method=HUMAN_METHOD, author="ada", id="ada 1")
    again, other = replace(said, id="ada 2"), replace(said, author="ben", id="ben")
    assert shown(failure, [said, other, again]) == ["ben", "ada 2"]


def test_the_final_word_stands_beside_the_verdict_of_its_author() -> None:
    failure, found = a_failure()
    own = replace(found, method=HUMAN_METHOD, author="ada", id="own")
    final = replace(own, id=adjudication_id(failure.id))
    assert shown(failure, [final, own]) == [final.id, "own"]


def test_a_failed_attempt_replaces_no_verdict() -> None:
    failure, found = a_failure()
    old = replace(found, method="walk", model="small")
    failed = replace(old, id="failed", error_type=None, attributes='{"failed":true}')
    assert shown(failure, [old, failed, replace(failed, id="again")]) == [old.id, "again"]


def test_the_verdict_that_counts_is_never_left_out() -> None:
    """A model's abstention counts less than its older verdict."""
    failure, found = a_failure()
    old = replace(found, method="walk", model="small")
    assert shown(failure, [old, replace(old, id="unsure", error_type=None)]) == [old.id, "unsure"]


def test_a_verdict_on_earlier_gold_answers_gives_way_to_one_on_the_present_ones() -> None:
    failure, found = a_failure()
    present = marked(found, failure)
    earlier = replace(marked(found, replace(failure, gold_answers=("a cat",))), id="earlier")
    assert shown(failure, [present, earlier]) == [present.id]
    assert shown(failure, [earlier, present]) == [present.id]
