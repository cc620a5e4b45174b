"""Agreement of two sources of verdicts: two people, two methods, or a method and a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from attribution.statistics.intervals import Interval, bootstrap
from schema.kinds import ErrorType
from schema.models import Attribution
from store.contract.verdict_changes import is_adjudicated


@dataclass(frozen=True, slots=True)
class SourceAgreement:
    """How far two sources agree on the failures for which both have named an error type.

    Attributes:
        cases: failures that both have judged, without abstentions.
        abstained: failures on which at least one of the two abstained.
        type_accuracy: share of cases with the same error type; None without cases.
        type_kappa: Cohen's kappa of the error types; None if chance alone would always agree.
        operation_accuracy: share of cases for which both name the same operation, or both name none.
        operation_kappa: Cohen's kappa of the operations.
        joint_accuracy: share of cases with the same error type and the same operation.
        joint_kappa: Cohen's kappa of error type and operation together.
        confusion: how often each pair of error types occurred: the first source's, then the second's.
    """

    first: str
    second: str
    cases: int
    abstained: int
    type_accuracy: float | None
    type_accuracy_interval: Interval | None
    type_kappa: float | None
    type_kappa_interval: Interval | None
    operation_accuracy: float | None
    operation_kappa: float | None
    joint_accuracy: float | None
    joint_kappa: float | None
    confusion: dict[str, dict[str, int]]


def cohens_kappa(pairs: Sequence[tuple[str | None, str | None]]) -> float | None:
    """Agreement beyond chance of two sources that sort things into unordered classes (J. Cohen 1960).

    1 is full agreement, 0 is agreement by chance. None if undefined: without pairs, or if both sources use one class
    only.
    """
    total = len(pairs)
    if not total:
        return None
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    observed = sum(a == b for a, b in pairs) / total
    expected = sum(count * second[name] for name, count in first.items()) / (total * total)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def is_from(verdict: Attribution, source: str) -> bool:
    """Whether a verdict comes from a source: a method or an author.

    The final word on a disputed failure counts as people's, not as its author's.
    """
    return source == verdict.method or (source == verdict.author and not is_adjudicated(verdict))


def newest_by_failure(verdicts: Iterable[Attribution], source: str) -> dict[str, Attribution]:
    """The newest verdict of a source on each failure. The final word comes before all others.

    Args:
        verdicts: oldest first, as stores give them.
        source: a method or an author.
    """
    found = [verdict for verdict in verdicts if is_from(verdict, source)]
    return {verdict.failure_id: verdict for verdict in sorted(found, key=is_adjudicated)}


def sources_of(verdicts: Iterable[Attribution]) -> list[str]:
    """The methods and authors of some verdicts, sorted."""
    return sorted({name for verdict in verdicts for name in (verdict.method, verdict.author) if name})


def agreement(verdicts: Sequence[Attribution], first: str, second: str) -> SourceAgreement:
    """How far two sources agree.

    Args:
        verdicts: of all failures in question, oldest first. If a source has several on a failure, the newest counts.
        first: a method or an author.
        second: another one.
    """
    ones, others = newest_by_failure(verdicts, first), newest_by_failure(verdicts, second)
    both = [(ones[failure], others[failure]) for failure in sorted(ones.keys() & others.keys())]
    pairs = [pair for pair in both if pair[0].error_type and pair[1].error_type]
    types = [(a.error_type, b.error_type) for a, b in pairs]
    numbers = _type_numbers(types)
    intervals = bootstrap(types, _type_numbers)
    return SourceAgreement(
        first=first,
        second=second,
        cases=len(pairs),
        abstained=len(both) - len(pairs),
        type_accuracy=numbers["accuracy"],
        type_accuracy_interval=intervals["accuracy"],
        type_kappa=numbers["kappa"],
        type_kappa_interval=intervals["kappa"],
        operation_accuracy=_mean(a.operation_id == b.operation_id for a, b in pairs),
        operation_kappa=cohens_kappa([(a.operation_id, b.operation_id) for a, b in pairs]),
        joint_accuracy=_mean(a.error_type == b.error_type and a.operation_id == b.operation_id for a, b in pairs),
        joint_kappa=cohens_kappa([(_joint(a), _joint(b)) for a, b in pairs]),
        confusion=_confusion(Counter(types)),
    )


def _joint(verdict: Attribution) -> str:
    """Error type and operation as one class."""
    return f"{verdict.error_type} {verdict.operation_id}"


def _type_numbers(types: Sequence[tuple[str | None, str | None]]) -> dict[str, float | None]:
    return {"accuracy": _mean(a == b for a, b in types), "kappa": cohens_kappa(types)}


def _mean(values: Iterable[bool]) -> float | None:
    hits = list(values)
    return sum(hits) / len(hits) if hits else None


def _confusion(counts: Mapping[tuple[ErrorType | None, ErrorType | None], int]) -> dict[str, dict[str, int]]:
    return {
        one.value: row
        for one in ErrorType
        if (row := {other.value: counts[one, other] for other in ErrorType if counts.get((one, other))})
    }
