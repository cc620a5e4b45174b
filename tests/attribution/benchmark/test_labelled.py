"""Scores against labels: of all cases, of groups of cases, and of trivial rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from attribution.benchmark.labelled import LabelledScores, Origin, Share, Trivial, against
from attribution.benchmark.result import Result
from attribution.statistics.intervals import wilson
from tests.attribution.benchmark.results import E, U, labelled, result

R = E.RETRIEVAL


def case(number: int, label: Any, found: Any, operation: str | None, path: str = "a.json", **trivial: Any) -> Result:
    one = result(number, label, found, operation)
    return replace(one, case=replace(one.case, graph_path=path), trivial=trivial)


ORIGINS = {
    "a.json": Origin("trace a", "mem0", "talk 1"),
    "b.json": Origin("trace b", "mem0", "talk 1"),
    "c.json": Origin("trace c", "letta", "talk 2"),
}
RIGHT = replace(labelled(U, "op-1"), kinds=frozenset({"count", "time"}))
ALSO = replace(labelled(R, "op-2"), also=frozenset({(U, "op-1")}), kinds=frozenset({"count"}))


def scores() -> LabelledScores:
    return against(
        [
            case(1, RIGHT, U, "op-1", first=(U, "op-1"), other=(R, "op-2")),
            case(2, ALSO, U, "op-1", "b.json", first=(U, "op-1"), other=(R, "op-2")),
            case(3, ALSO, R, "op-9", "c.json", first=(R, "op-1")),
            case(4, RIGHT, None, None, "c.json", first=(U, None)),
            case(5, None, U, "op-1"),
        ],
        ORIGINS,
    )


def numbers(share: Share) -> tuple[int, float | None, float | None]:
    assert share.primary is not None
    assert share.accepted is not None
    assert share.primary_interval == wilson(round(share.primary * share.cases), share.cases)
    assert share.accepted_interval == wilson(round(share.accepted * share.cases), share.cases)
    return share.cases, share.primary, share.accepted


def test_cases_with_a_label_are_scored() -> None:
    found = scores()
    assert numbers(found) == (4, 0.25, 0.5)
    assert {name: numbers(one) for name, one in found.by_type.items()} == {R: (2, 0.0, 0.5), U: (2, 0.5, 0.5)}
    assert {name: numbers(one) for name, one in found.by_kind.items()} == {
        "count": (4, 0.25, 0.5),
        "time": (2, 0.5, 0.5),
    }
    assert {name: numbers(one) for name, one in found.by_system.items()} == {
        "letta": (2, 0.0, 0.0),
        "mem0": (2, 0.5, 1.0),
    }
    assert {name: numbers(one) for name, one in found.by_trace.items()} == {
        "trace a": (1, 1.0, 1.0),
        "trace b": (1, 0.0, 1.0),
        "trace c": (2, 0.0, 0.0),
    }


def test_trivial_rules_are_scored_by_the_same_labels() -> None:
    found = scores().trivial
    assert list(found) == ["first", "other"]
    first, other = found["first"], found["other"]
    assert (numbers(first), numbers(other)) == ((4, 0.25, 0.5), (4, 0.25, 0.25))
    # The rule "first" names 3 updates, 2 of them rightly, and 1 retrieval, rightly; 2 cases have each label.
    assert first.macro_f1 == pytest.approx((2 * 2 / 5 + 2 * 1 / 3) / 2)
    # The rule "other" names 2 retrievals, 1 of them rightly, and nothing for two cases.
    assert other.macro_f1 == pytest.approx((0 + 2 * 1 / 4) / 2)


def test_agreement_beyond_chance() -> None:
    found = scores().kappa
    # Types: (U, U), (R, U), (R, R), (U, none): 2 of 4 agree; by chance (2 * 2 + 2 * 1) / 16.
    assert found.type == pytest.approx((0.5 - 6 / 16) / (1 - 6 / 16))
    # With operations only the first case agrees; its class is twice the label's, and twice the verdict's.
    assert found.joint == pytest.approx((0.25 - 4 / 16) / (1 - 4 / 16))


def test_intervals_are_drawn_by_conversation() -> None:
    found = scores().conversation_intervals
    assert found is not None
    assert {name: (one.low, one.high) if one else None for name, one in found.items()} == {
        "primary": (0.0, 0.5),
        "accepted": (0.0, 1.0),
    }
    assert (
        against([case(1, RIGHT, U, "op-1"), case(2, ALSO, U, "op-1", "b.json")], ORIGINS).conversation_intervals is None
    )


def test_nothing_labelled() -> None:
    found = against([case(5, None, U, "op-1")], ORIGINS)
    assert (found.cases, found.primary, found.accepted, found.by_type, found.trivial) == (0, None, None, {}, {})


def test_public_names() -> None:
    assert set(Trivial.__struct_encode_fields__) == {
        "cases",
        "primary",
        "accepted",
        "primaryInterval",
        "acceptedInterval",
        "macroF1",
    }
