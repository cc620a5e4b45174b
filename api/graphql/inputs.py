"""What mutations take."""

from __future__ import annotations

import strawberry

from api.graphql.scalars import ErrorType, Method


@strawberry.input(description="A wrong answer. Ids may be prefixes, or ids in the source.")
class FailureInput:
    """See ``ingest.events.complaints.Complaint``."""

    question: strawberry.ID | None = strawberry.field(
        default=None,
        description="The variable that was asked; it may be left out where the graph says what led to the answer.",
    )
    answer: strawberry.ID | None = strawberry.field(default=None, description="The variable that was answered.")
    gold_answers: list[str] = strawberry.field(
        default_factory=list, description="Answers that would have been right, where they are known."
    )
    evidence: list[strawberry.ID] = strawberry.field(
        default_factory=list, description="The messages that hold the answer, where they are known."
    )
    comment: str | None = strawberry.field(default=None, description="What else there is to say.")


@strawberry.input(description="Why an answer is wrong, as a person sees it. Ids may be prefixes, or ids in the source.")
class VerdictInput:
    """See ``attribution.people.Judgement``."""

    failure: strawberry.ID = strawberry.field(description="The id of the failure.")
    error_type: ErrorType | None = strawberry.field(default=None, description="Why; null is an abstention.")
    operation: strawberry.ID | None = strawberry.field(default=None, description="The id of the operation at fault.")
    reason: str | None = strawberry.field(default=None, description="Why, in words.")
    confidence: float | None = strawberry.field(default=None, description="How sure you are, 0 to 1.")


@strawberry.input(
    description="Failures to attribute: those that are named, or a trace's, or all. Ids may be prefixes, or ids in the "
    "source."
)
class AttributeInput:
    """See ``api.jobs.arguments.AttributeArguments``."""

    failures: list[strawberry.ID] = strawberry.field(default_factory=list, description="Ids of failures.")
    trace: strawberry.ID | None = strawberry.field(default=None, description="The id of a trace.")
    method: Method = strawberry.field(default=Method.FLOW, description="How; flow is free.")
    gold_free: bool = strawberry.field(default=False, description="Do without the gold answers.")
    retrieve_evidence: bool = strawberry.field(default=False, description="Find the evidence, also where it is given.")


@strawberry.input(
    description="What a report is about; everything where nothing is named. Ids may be prefixes, or ids in the source."
)
class ReportInput:
    """See ``api.jobs.arguments.ReportArguments``."""

    traces: list[strawberry.ID] = strawberry.field(default_factory=list, description="Ids of traces.")
    failures: list[strawberry.ID] = strawberry.field(default_factory=list, description="Ids of failures.")
    source: str | None = strawberry.field(
        default=None, description="Whose verdicts count: a method or an author; null is the newest method's."
    )


@strawberry.input(description="A small graph file; larger ones go to `POST /v1/import`.")
class ImportInput:
    """A file as text."""

    content: str = strawberry.field(description="The file's text, JSON in the source's own format.")
    name: str = strawberry.field(default="upload.json", description="What you call it; it stands in errors.")
    timezone: str = strawberry.field(default="UTC", description="The zone of times that do not say theirs.")
