"""How far the annotators of a queue agree, while they work."""

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
    """How far annotators agree on the cases that as many of them as needed have submitted.

    Attributes:
        cases: how many these are.
        agreed: on how many of these all name the same error type and the same operation.
        type_kappa: Fleiss' kappa of the error types; None without cases, and if chance alone would always agree.
        operation_kappa: the same of the operations.
        joint_kappa: the same of error type and operation together.
        changed: on how many of them somebody named another error type or operation before, and so may have seen what
            the others say when they gave the verdict that counts.
        pairs: of each two people who have submitted the same cases, by name.
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
        said: what they say of each case.
        annotators: how many are needed.
        changed: the ids of verdicts that said something else before.
    """
    # Two queues may have had the same case: of more verdicts than needed the first count.
    whole = [some[:annotators] for some in said.values() if len(some) >= max(2, annotators)]
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
    """Whether some verdicts on a failure differ in their error type or their operation."""
    return len({(one.error_type, one.operation_id) for one in verdicts}) > 1


def fleiss_kappa(items: Sequence[Sequence[str]]) -> float | None:
    """Agreement beyond chance of several raters, who need not be the same for each item (J. L. Fleiss 1971).

    Args:
        items: the class that each rater gave each item; all items have as many raters, two or more.

    Returns:
        1 for full agreement, 0 for what chance gives; None if it is undefined: without items, and if there is only one
        class.
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
