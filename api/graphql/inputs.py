"""Inputs of mutations."""

from typing import Annotated

import strawberry

from api.graphql.scalars import CaseOrder, ErrorType, Method
from attribution.review.annotation.queues import ANNOTATORS, CASES, RESERVATION_MINUTES
from schema.annotation import MAX_ANNOTATORS, MAX_CASES

ProjectName = Annotated[str, strawberry.argument(description="The project.")]


@strawberry.input(description="A wrong answer. Ids may be unique prefixes, or ids in the source.")
class FailureInput:
    """See ``ingest.events.feedback.Complaint``."""

    question: strawberry.ID | None = strawberry.field(
        default=None,
        description="The variable that holds the question. You may leave it out if exactly one question in the graph "
        "led to the answer.",
    )
    answer: strawberry.ID | None = strawberry.field(
        default=None, description="The variable that holds the wrong answer."
    )
    gold_answers: list[str] = strawberry.field(
        default_factory=list, description="The gold answers (the known right answers), if known."
    )
    evidence: list[strawberry.ID] = strawberry.field(
        default_factory=list, description="The evidence: messages that hold the right answer, if known."
    )
    comment: str | None = strawberry.field(default=None, description="Any comment.")


@strawberry.input(description="Another verdict that a person would accept.")
class AcceptedInput:
    error_type: ErrorType = strawberry.field(description="The error type.")
    operation: strawberry.ID | None = strawberry.field(default=None, description="The id of the operation at fault.")


@strawberry.input(description="A variable that shows why an answer is wrong.")
class EvidenceInput:
    variable: strawberry.ID = strawberry.field(
        description="The variable: an id, a unique prefix, or an id in the source."
    )
    quote: str = strawberry.field(default="", description="The relevant words, exactly as in the variable's value.")


@strawberry.input(
    description="A person's verdict: why an answer is wrong. Ids may be unique prefixes, or ids in the source."
)
class VerdictInput:
    """See ``attribution.review.people.Judgement``."""

    failure: strawberry.ID = strawberry.field(description="The id of the failure.")
    error_type: ErrorType | None = strawberry.field(
        default=None, description="Why the answer is wrong; null if you abstain."
    )
    operation: strawberry.ID | None = strawberry.field(
        default=None,
        description="The id of the operation at fault. Every error type but AnnotationError and LLMAsAJudgeError "
        "needs one.",
    )
    also: list[AcceptedInput] = strawberry.field(
        default_factory=list,
        description="Verdicts that you would accept as well. They become the candidates of your verdict.",
    )
    reason: str | None = strawberry.field(default=None, description="The reason, in words.")
    confidence: float | None = strawberry.field(default=None, description="How sure you are, from 0 to 1.")
    evidence: list[EvidenceInput] = strawberry.field(
        default_factory=list, description="The variables that show the fault, with quotes."
    )


@strawberry.input(
    description="Which failures to attribute: the named failures, or all failures of the named trace; all failures "
    "of the project if neither is named. Ids may be unique prefixes, or ids in the source."
)
class AttributeInput:
    """See ``api.jobs.arguments.AttributeArguments``."""

    failures: list[strawberry.ID] = strawberry.field(default_factory=list, description="Ids of failures.")
    trace: strawberry.ID | None = strawberry.field(
        default=None, description="The id of a trace, to take only its failures."
    )
    method: Method = strawberry.field(
        default=Method.FLOW, description="How to find the cause. flow costs nothing: it asks no language model."
    )
    gold_free: bool = strawberry.field(
        default=False, description="Work without the gold answers (the known right answers), even if there are some."
    )
    retrieve_evidence: bool = strawberry.field(
        default=False, description="Search for the evidence messages, even if the failure names them."
    )
    min_confidence: float | None = strawberry.field(
        default=None,
        description="Verdicts with a lower confidence (0 to 1) become abstentions, which show their candidates. If "
        "null: the fitted threshold for flow with gold answers, 0 for all else.",
    )


@strawberry.input(
    description="What a report is about: the traces and failures named here, or all of the project if none is "
    "named. Ids may be unique prefixes, or ids in the source."
)
class ReportInput:
    """See ``api.jobs.arguments.ReportArguments``."""

    traces: list[strawberry.ID] = strawberry.field(default_factory=list, description="Ids of traces.")
    failures: list[strawberry.ID] = strawberry.field(default_factory=list, description="Ids of failures.")
    source: str | None = strawberry.field(
        default=None,
        description="Whose verdicts the report uses: a method or a person. If null, the method with the newest "
        "verdict.",
    )


@strawberry.input(description="A small graph file. Send larger ones to `POST /v1/import`.")
class ImportInput:
    content: str = strawberry.field(
        description="The text of the file: JSON in the format of the program that recorded it."
    )
    name: str = strawberry.field(default="upload.json", description="A name for the file, which error messages show.")
    timezone: str = strawberry.field(
        default="UTC", description="The time zone of times in the file that don't name a zone."
    )


@strawberry.input(description="What people say of failures: the lines of a file of labels.")
class LabelsInput:
    """See ``attribution.review.labels``."""

    content: str = strawberry.field(description="The text of the file: a JSON object a line.")
    name: str = strawberry.field(default="labels.jsonl", description="A name for the file, which error messages show.")


@strawberry.input(description="Which failures people are to judge, and how many people each.")
class AnnotationQueueInput:
    """See ``attribution.review.annotation.queues.QueueWish``."""

    name: str = strawberry.field(description="Its name. A project has one queue of a name.")
    ordering: CaseOrder = strawberry.field(default=CaseOrder.RANDOM, description="Which failures come first.")
    seed: str | None = strawberry.field(
        default=None, description="With the same seed the same failures are drawn again. If null, one is drawn."
    )
    count: int = strawberry.field(default=CASES, description=f"How many failures at most, 1 to {MAX_CASES:,}.")
    annotators: int = strawberry.field(
        default=ANNOTATORS, description=f"How many people judge each failure, 1 to {MAX_ANNOTATORS}."
    )
    people: list[str] = strawberry.field(
        default_factory=list,
        description="The names of the annotators (see `Viewer.person`). If empty, anybody with the role writer may "
        "annotate. From now on a named annotator sees no verdicts on cases that he or she has still to "
        "judge.",
    )
    traces: list[strawberry.ID] = strawberry.field(
        default_factory=list,
        description="Only failures of these traces. Ids may be unique prefixes, or ids in the source.",
    )
    failures: list[strawberry.ID] = strawberry.field(
        default_factory=list, description="Only these failures. Ids may be unique prefixes."
    )
    reservation_minutes: int = strawberry.field(
        default=RESERVATION_MINUTES, description="For how many minutes a case is kept for a person."
    )
