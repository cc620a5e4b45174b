"""Proofs: what a replay of the program showed about a verdict."""

from datetime import datetime
from typing import Any

import strawberry

from api.graphql import reads
from api.graphql.context import Info
from api.graphql.refs import OperationRef
from api.graphql.scalars import ErrorType, ProofResult
from optimization.proof.model import proof_of
from schema import models
from schema.damage import reading_stored
from store.contract.answers import Label

MOST_REFUTED = 10


@strawberry.type(description="The first call in which two runs of a program differ.")
class Divergence:
    call: str = strawberry.field(
        description="The function, a digest of its arguments, and the number of the call among equal calls."
    )
    given: str = strawberry.field(description="The beginning of its arguments, as JSON.")


@strawberry.type(description="An operation that a verdict named and that a replay refuted.")
class RefutedOperation:
    project_id: strawberry.Private[str]
    error_type: ErrorType | None = strawberry.field(description="The error type that the verdict named.")
    operation_id: strawberry.ID | None = strawberry.field(description="The id of the operation.")
    reason: str = strawberry.field(description="What the replays showed.")

    @strawberry.field(description="The operation.")
    async def operation(self, info: Info) -> OperationRef | None:
        if self.operation_id is None:
            return None
        return await info.context.load(self.project_id, reads.elements, self.operation_id, Label.OPERATION)


@strawberry.type(
    description="What a replay of the program showed about a verdict: whether the answer becomes right when the "
    "operation at fault is corrected from the evidence."
)
class Proof:
    project_id: strawberry.Private[str]
    refuted_before: strawberry.Private[list[dict[str, Any]]]
    result: ProofResult = strawberry.field(description="The result.")
    reason: str = strawberry.field(description="Why, in words.")
    correction: str | None = strawberry.field(description="How the operation was corrected.")
    draws: int = strawberry.field(description="How many runs there were with the correction.")
    null_draws: int = strawberry.field(description="How many runs there were without it.")
    p0: float | None = strawberry.field(description="The share of right answers without the correction.")
    p1: float | None = strawberry.field(description="The share of right answers with it.")
    p: float | None = strawberry.field(
        description="How probable such a difference is if the correction changes nothing: Fisher's exact test."
    )
    interval: list[float] | None = strawberry.field(
        description="The 95 % interval of the difference of both shares: low and high end.",
        metadata={"size": 2},
    )
    placebo: bool | None = strawberry.field(
        description="Whether an unrelated change made the answer right as well; null if no such change was tried."
    )
    answer: str | None = strawberry.field(description="The answer of the first run with the correction.")
    first_divergence: Divergence | None = strawberry.field(
        description="The first call that the correction changed. If the program did not repeat its recorded run, "
        "the first call that differs."
    )
    confidence_before: float | None = strawberry.field(description="The verdict's confidence before it was replayed.")
    runs: int = strawberry.field(description="How often the program was run.")
    calls: int = strawberry.field(description="How many live calls of models there were.")
    tokens: int = strawberry.field(description="How many tokens these calls used.")
    cost: float | None = strawberry.field(description="What these calls cost; null if prices are not known.")
    seconds: float = strawberry.field(description="How long the runs took, in seconds.")
    created_at: datetime | None = strawberry.field(description="When it was replayed.")

    @strawberry.field(
        description="The operations of this verdict and its candidates that were refuted before.",
        metadata={"size": MOST_REFUTED},
    )
    def refuted(self) -> list[RefutedOperation]:
        return [
            RefutedOperation(
                project_id=self.project_id,
                error_type=None if one.get("errorType") is None else ErrorType(one["errorType"]),
                operation_id=one.get("operationId"),
                reason=one.get("reason", ""),
            )
            for one in self.refuted_before[:MOST_REFUTED]
        ]


def proof_in(verdict: models.Attribution) -> Proof | None:
    """The proof of a verdict."""
    found = proof_of(verdict)
    if found is None:
        return None
    with reading_stored(f"proof of verdict {verdict.id}"):
        divergence, created = found.get("firstDivergence"), found.get("createdAt")
        return Proof(
            project_id=verdict.project_id,
            refuted_before=found.get("refuted") or [],
            result=ProofResult(found["result"]),
            first_divergence=None if divergence is None else Divergence(**divergence),
            created_at=None if created is None else datetime.fromisoformat(created),
            **{name: found.get(models.camel_case(name), default) for name, default in _PLAIN.items()},
        )


_PLAIN: dict[str, Any] = {
    "reason": "", "correction": None, "draws": 0, "null_draws": 0, "p0": None, "p1": None, "p": None, "interval": None,
    "placebo": None, "answer": None, "confidence_before": None, "runs": 0, "calls": 0, "tokens": 0, "cost": None,
    "seconds": 0.0,
}  # fmt: skip
"""The fields that are shown as they are stored, with the values of fields that another program left out."""
