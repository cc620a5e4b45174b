"""Where one piece of what an answer needs ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.free_pass.failure_in_trace import Case
from attribution.free_pass.rules import Finding
from attribution.verdicts.probabilities import confidence
from schema.kinds import ErrorType, QuestionKind

_INFERRED = 0.6
"""The share of a verdict is multiplied by this if the gold answer does not say the detail word by word."""
_REACH = {ErrorType.RESPONSE: 3, ErrorType.RETRIEVAL: 2, None: 0}


@dataclass(frozen=True, slots=True, eq=False)
class Ending:
    """What the rules say about one piece, in their order. The first finding that is more likely than not is chosen.

    Attributes:
        case: the piece in the trace; None where no piece was needed for it.
        kind: of the question.
    """

    findings: Sequence[Finding]
    case: Case | None
    kind: QuestionKind

    @property
    def confidence(self) -> float:
        """How sure that is."""
        return confidence(self.share, self.kind)

    @property
    def shares(self) -> list[tuple[Finding, float]]:
        """Each finding with its probability: its likelihood, times what the findings before it leave."""
        left = 1.0
        found = []
        for one in self.findings:
            found.append((one, left * one.likelihood))
            left -= left * one.likelihood
        return found

    @property
    def chosen(self) -> Finding | None:
        """What is said of the piece."""
        return next((one for one in self.findings if one.likelihood >= 0.5), None)

    @property
    def share(self) -> float:
        """The probability of what is said, as the rules have it; 0 where nothing is."""
        chosen = self.chosen
        share = next((share for one, share in self.shares if one is chosen), 0.0)
        inferred = self.case is not None and not self.case.detail.literal
        return share * _INFERRED if inferred and chosen and chosen.error_type is not ErrorType.JUDGE else share

    @property
    def weighed(self) -> list[tuple[Finding, float]]:
        """The other findings, each with its share."""
        return [(one, share) for one, share in self.shares if one is not self.chosen]

    @property
    def best(self) -> tuple[Finding, float] | None:
        """What is said, with its share."""
        return None if self.chosen is None else (self.chosen, self.share)

    @property
    def key(self) -> tuple[ErrorType | None, str | None]:
        """Error type and operation."""
        return (None, None) if self.chosen is None else (self.chosen.error_type, self.chosen.operation_id)

    @property
    def reach(self) -> tuple[int, float]:
        """How far the piece came, then how surely."""
        return _REACH.get(self.key[0], 1), self.share


def settled(findings: Sequence[Finding]) -> bool:
    """Whether the findings are so sure that no later rule could change the result."""
    left = 1.0
    for one in findings:
        left *= 1.0 - one.likelihood
    return left < 0.1
