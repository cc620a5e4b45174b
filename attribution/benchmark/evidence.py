"""How many of the evidence messages a method retrieved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.benchmark.result import Result

RANKS = (1, 3, 5, 8, 10, 20)


@dataclass(frozen=True, slots=True)
class RecallAt:
    """Recall among the first ``k`` retrieved messages.

    Attributes:
        micro: share of all evidence messages of all cases.
        macro: mean over cases of each case's share.
    """

    k: int
    micro: float
    macro: float


@dataclass(frozen=True, slots=True)
class EvidenceRecall:
    """Recall at several ranks, over the cases with known and retrieved evidence."""

    cases: int
    messages: int
    at: list[RecallAt]


def evidence_recall(results: Sequence[Result]) -> EvidenceRecall | None:
    """Recall of the evidence; None if no method retrieved evidence."""
    known = [
        (frozenset(result.case.evidence), result.retrieved)
        for result in results
        if result.retrieved is not None and result.case.evidence
    ]
    if not known:
        return None
    messages = sum(len(wanted) for wanted, _ in known)
    at = []
    for k in RANKS:
        hits = [(len(wanted.intersection(retrieved[:k])), len(wanted)) for wanted, retrieved in known]
        micro = sum(hit for hit, _ in hits) / messages
        macro = sum(hit / wanted for hit, wanted in hits) / len(known)
        at.append(RecallAt(k, micro, macro))
    return EvidenceRecall(len(known), messages, at)
