"""How far the annotators of a queue agree, during their work."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from attribution.statistics.kappa import SourceAgreement, agreement
from schema.models import Attribution

_MOST_PAIRS = 100


@dataclass(frozen=True, slots=True)
class QueueAgreement:
    """How far annotators agree on the cases with enough submitted verdicts.

    Attributes:
        cases: the number of these cases.
        agreed: the number of cases with the same error type and operation by all annotators.
        type_kappa: Fleiss' kappa of the error types; None without cases, and if chance alone would always agree.
        operation_kappa: Fleiss' kappa of the operations.
        joint_kappa: Fleiss' kappa of error type and operation together.
        changed: the number of cases on which somebody changed the error type or operation, maybe after seeing the
            others' verdicts.
        pairs: for each two people with common cases, by name.
    """

    cases: int
    agreed: int
    changed: int
    type_kappa: float | None
    operation_kappa: float | None
    joint_kappa: float | None
    pairs: list[SourceAgreement]


def queue_agreement(
    said: Mapping[str, Sequence[Attribution]], annotators: int, changed: Collection[str] = ()
) -> QueueAgreement:
    """How far annotators agree; an abstention is a class of its own.

    Args:
        said: the verdicts on each case.
        annotators: the number of verdicts needed.
        changed: the ids of changed verdicts.
    """
    # A case may have been in two queues: of more verdicts than needed, the first count. One verdict agrees with none.
    needed = max(2, annotators)
    whole = [some[:needed] for some in said.values() if len(some) >= needed]
    return QueueAgreement(
        cases=len(whole),
        agreed=sum(not disagree(some) for some in whole),
        changed=sum(any(one.id in changed for one in some) for some in whole),
        type_kappa=fleiss_kappa([[str(one.error_type) for one in some] for some in whole]),
        operation_kappa=fleiss_kappa([[str(one.operation_id) for one in some] for some in whole]),
        joint_kappa=fleiss_kappa([[f"{one.error_type} {one.operation_id}" for one in some] for some in whole]),
        pairs=_pairs(said),
    )


def disagree(verdicts: Sequence[Attribution]) -> bool:
    """Whether some verdicts on a failure differ in error type or operation."""
    return len({(one.error_type, one.operation_id) for one in verdicts}) > 1


def fleiss_kappa(items: Sequence[Sequence[str]]) -> float | None:
    """Agreement of several raters beyond chance, where different items may have different raters (J. L. Fleiss 1971).

    Args:
        items: the classes that the raters gave each item; all items have the same number of raters, two or more.

    Returns:
        1 for full agreement, 0 for agreement by chance; None if undefined: without items, and with only one class.
    """
    if not items:
        return None
    raters, classes = len(items[0]), Counter(name for item in items for name in item)
    total = len(items) * raters
    expected = sum(count * count for count in classes.values()) / (total * total)
    pairs = raters * (raters - 1)
    observed = sum(sum(n * (n - 1) for n in Counter(item).values()) / pairs for item in items) / len(items)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def _pairs(said: Mapping[str, Sequence[Attribution]]) -> list[SourceAgreement]:
    shared: dict[tuple[str, str], list[Attribution]] = defaultdict(list)
    for some in said.values():
        named = sorted((one for one in some if one.author), key=lambda one: one.author or "")
        for one, other in combinations(named, 2):
            shared[one.author or "", other.author or ""] += [one, other]
    found = sorted(shared.items())[:_MOST_PAIRS]
    return [agreement(verdicts, first, second) for (first, second), verdicts in found]
