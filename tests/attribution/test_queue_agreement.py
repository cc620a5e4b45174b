"""How far annotators of a queue agree, on verdicts made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from attribution.review.annotation.agreement import disagree, fleiss_kappa, queue_agreement
from schema.kinds import ErrorType
from schema.models import Attribution
from tests.factory import TraceBuilder

KINDS = {"U": ErrorType.UPDATE, "R": ErrorType.RETRIEVAL, "E": ErrorType.EXTRACTION, "-": None}


def said(*cases: str) -> dict[str, list[Attribution]]:
    """Verdicts such as ``Ada:U1 Ben:R2``: author, error type and operation."""
    builder = TraceBuilder("p")
    builder.session("talk")
    found: dict[str, list[Attribution]] = {}
    for number, case in enumerate(cases):
        failure = builder.failure(builder.variable(f"question {number}"))
        found[failure.id] = [
            replace(
                builder.attribution(failure, "human"),
                id=f"{number} {author}",
                author=author or None,
                error_type=KINDS[verdict[0]],
                operation_id=verdict[1:] or None,
            )
            for author, _, verdict in (one.partition(":") for one in case.split())
        ]
    return found


@pytest.mark.parametrize(
    ("cases", "annotators", "counted", "agreed"),
    [
        ([], 2, 0, 0),
        (["Ada:U1"], 2, 0, 0),
        (["Ada:U1"], 1, 0, 0),
        (["Ada:U1 Ben:U1"], 1, 1, 1),
        (["Ada:U1 Ben:R1 Cy:U1", "Ada:U1"], 1, 1, 0),
        (["Ada:U1 Ben:U1"], 2, 1, 1),
        (["Ada:U1 Ben:U2"], 2, 1, 0),
        (["Ada:U1 Ben:R1"], 2, 1, 0),
        (["Ada:- Ben:-"], 2, 1, 1),
        (["Ada:U1 Ben:U1"], 3, 0, 0),
        (["Ada:U1 Ben:U1 Cy:R2"], 2, 1, 1),
        (["Ada:U1 Ben:U1 Cy:R2"], 3, 1, 0),
        (["Ada:U1 Ben:U1", "Ada:U1", "Ada:U1 Ben:E1"], 2, 2, 1),
    ],
)
def test_cases_with_enough_verdicts_count(cases: list[str], annotators: int, counted: int, agreed: int) -> None:
    found = queue_agreement(said(*cases), annotators)
    assert (found.cases, found.agreed, found.changed) == (counted, agreed, 0)


def test_a_changed_verdict_counts_once_a_case_and_only_among_the_first() -> None:
    cases = said("Ada:U1 Ben:U1 Cy:R2", "Ada:U1 Ben:R1", "Ada:U1")
    changed = {"0 Cy", "1 Ada", "1 Ben", "2 Ada"}
    assert queue_agreement(cases, 2, changed).changed == 1
    assert queue_agreement(said("Ada:U1 Ben:U1 Cy:R2"), 3, changed).changed == 1


@pytest.mark.parametrize(
    ("items", "kappa"),
    [
        ([], None),
        ([["a", "a"]], None),
        ([["a", "a"], ["a", "a"]], None),
        ([["a", "a"], ["b", "b"]], 1.0),
        ([["a", "b"], ["b", "a"]], -1.0),
        ([["a", "a"], ["b", "b"], ["a", "b"], ["a", "b"]], 0.0),
        ([["a", "a", "a"], ["b", "b", "b"], ["a", "a", "b"], ["b", "b", "a"]], 1 / 3),
        ([["a", "a", "b", "c"], ["b", "b", "b", "b"]], (7 / 12 - 30 / 64) / (1 - 30 / 64)),
    ],
)
def test_kappa_is_agreement_beyond_chance(items: Sequence[Sequence[str]], kappa: float | None) -> None:
    found = fleiss_kappa(items)
    assert found == kappa if kappa is None else found == pytest.approx(kappa)


def test_types_operations_and_both_have_a_kappa_each() -> None:
    found = queue_agreement(said("Ada:U1 Ben:U2", "Ada:R1 Ben:R1", "Ada:U2 Ben:U2", "Ada:R2 Ben:R1"), 2)
    assert found.type_kappa == pytest.approx(1.0)
    assert found.operation_kappa == pytest.approx(0.0)
    assert found.joint_kappa == pytest.approx((0.5 - 20 / 64) / (1 - 20 / 64))


def test_each_two_people_with_common_cases_are_compared() -> None:
    found = queue_agreement(said("Ben:U1 Ada:U1 Cy:R1", "Cy:R1 Ada:U1", "Ada:U1", "Ada:U1 :U1"), 3)
    assert [(one.first, one.second, one.cases, one.type_accuracy) for one in found.pairs] == [
        ("Ada", "Ben", 1, 1.0),
        ("Ada", "Cy", 2, 0.0),
        ("Ben", "Cy", 1, 0.0),
    ]


def test_verdicts_disagree_in_type_or_operation() -> None:
    for case, differs in (
        ("Ada:U1", False),
        ("Ada:U1 Ben:U1", False),
        ("Ada:U1 Ben:U2", True),
        ("Ada:U1 Ben:R1", True),
    ):
        (verdicts,) = said(case).values()
        assert disagree(verdicts) is differs
    assert disagree([]) is False
