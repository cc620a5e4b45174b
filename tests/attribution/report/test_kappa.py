from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.statistics.kappa import agreement, cohens_kappa, sources_of
from schema.kinds import ErrorType
from schema.models import Attribution, Failure
from tests.factory import TraceBuilder

E, U, R = ErrorType.EXTRACTION, ErrorType.UPDATE, ErrorType.RETRIEVAL


def test_kappa_of_a_known_table() -> None:
    # 20 and 15 times the same of 50; chance alone gives half: (0.7 - 0.5) / (1 - 0.5).
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    assert cohens_kappa(pairs) == pytest.approx(0.4)


def test_kappa_of_three_classes() -> None:
    table = {
        ("a", "a"): 44, ("a", "b"): 5, ("a", "c"): 1,
        ("b", "a"): 7, ("b", "b"): 20, ("b", "c"): 3,
        ("c", "a"): 9, ("c", "b"): 5, ("c", "c"): 6,
    }  # fmt: skip
    pairs = [pair for pair, count in table.items() for _ in range(count)]
    # Observed 70 of 100; by chance 0.5 * 0.6 + 0.3 * 0.3 + 0.2 * 0.1.
    assert cohens_kappa(pairs) == pytest.approx((0.70 - 0.41) / (1 - 0.41))


def test_kappa_at_its_ends() -> None:
    assert cohens_kappa([("a", "a"), ("b", "b")]) == 1
    assert cohens_kappa([("a", "b"), ("b", "a")]) == -1
    assert cohens_kappa([]) is None
    assert cohens_kappa([("a", "a"), ("a", "a")]) is None
    assert cohens_kappa([("a", "b"), ("a", "b")]) == 0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1))
def test_kappa_does_not_ask_who_is_first(pairs: list[tuple[str, str]]) -> None:
    found = cohens_kappa(pairs)
    swapped = cohens_kappa([(b, a) for a, b in pairs])
    assert found == swapped if found is None or swapped is None else found == pytest.approx(swapped)
    assert found is None or -1 <= found <= 1


class Judged:
    """Failures of one trace, with verdicts."""

    def __init__(self) -> None:
        self.trace = TraceBuilder("project")
        self.operations = [self.trace.operation(f"op-{number}") for number in range(3)]
        self.failures: list[Failure] = []

    def add(self, **kinds: tuple[ErrorType | None, int | None]) -> None:
        """A failure with the verdicts of some sources: an error type and the place of an operation."""
        question = self.trace.variable(f"question-{len(self.failures)}")
        failure = self.trace.failure(question)
        self.failures.append(failure)
        for source, (kind, place) in kinds.items():
            author = source if source == "annotation" else None
            self.trace.attribution(
                failure,
                "human" if author else source,
                error_type=kind,
                operation_id=None if place is None else self.operations[place].id,
                author=author,
            )

    @property
    def verdicts(self) -> list[Attribution]:
        return self.trace.attributions


@pytest.fixture
def judged() -> Judged:
    found = Judged()
    found.add(flow=(E, 0), annotation=(E, 0))
    found.add(flow=(E, 0), annotation=(E, 1))
    found.add(flow=(U, 1), annotation=(U, 1))
    found.add(flow=(R, 2), annotation=(U, 1))
    found.add(flow=(None, None), annotation=(R, 2))
    found.add(flow=(R, 2))
    found.add(annotation=(E, 0))
    return found


def test_agreement(judged: Judged) -> None:
    found = agreement(judged.verdicts, "flow", "annotation")
    assert (found.first, found.second) == ("flow", "annotation")
    assert (found.cases, found.abstained) == (4, 1)
    assert found.type_accuracy == 0.75
    assert found.operation_accuracy == 0.5
    assert found.joint_accuracy == 0.5
    # By chance: (2 * 2 + 1 * 2 + 1 * 0) / 16.
    assert found.type_kappa == pytest.approx((0.75 - 0.375) / (1 - 0.375))
    assert found.operation_kappa == pytest.approx((0.5 - (2 * 1 + 1 * 3 + 0) / 16) / (1 - 5 / 16))
    # By chance: (2 * 1 + 1 * 2) / 16.
    assert found.joint_kappa == pytest.approx((0.5 - 4 / 16) / (1 - 4 / 16))
    assert found.confusion == {
        "ExtractionError": {"ExtractionError": 2},
        "UpdateError": {"UpdateError": 1},
        "RetrievalError": {"UpdateError": 1},
    }
    assert found.type_accuracy_interval is not None
    assert found.type_accuracy_interval.low <= 0.75 <= found.type_accuracy_interval.high


def test_a_source_is_a_method_or_an_author(judged: Judged) -> None:
    assert (
        agreement(judged.verdicts, "flow", "human").type_kappa
        == agreement(judged.verdicts, "flow", "annotation").type_kappa
    )
    assert sources_of(judged.verdicts) == ["annotation", "flow", "human"]


def test_the_order_of_sources_changes_no_number(judged: Judged) -> None:
    one, other = agreement(judged.verdicts, "flow", "human"), agreement(judged.verdicts, "human", "flow")
    assert one.type_kappa == pytest.approx(other.type_kappa)
    assert one.operation_kappa == pytest.approx(other.operation_kappa)
    assert one.joint_accuracy == other.joint_accuracy


def test_the_newest_verdict_of_a_source_counts(judged: Judged) -> None:
    again = judged.trace.attribution(judged.failures[3], "flow", error_type=U, operation_id=judged.operations[1].id)
    assert again in judged.verdicts
    assert agreement(judged.verdicts, "flow", "human").type_accuracy == 1


def test_sources_without_common_cases_have_no_numbers(judged: Judged) -> None:
    found = agreement(judged.verdicts, "flow", "nobody")
    assert found.cases == 0
    assert (found.type_accuracy, found.type_kappa, found.joint_accuracy) == (None, None, None)
    assert (found.type_accuracy_interval, found.type_kappa_interval) == (None, None)
    assert found.confusion == {}
