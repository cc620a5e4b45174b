"""The data of a reported case: a failure, its verdict, and everything that a report shows about them.

Names are public, in camel case in JSON.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from attribution.report.story_model import Story
from attribution.why_not.model import WhyNot
from schema.kinds import ErrorType, OperationKind, QuestionKind, VariableKind


class Part(Struct, frozen=True, rename="camel"):
    """A part of a report: names in camel case in JSON."""


class OperationRef(Part, frozen=True):
    """The operation that a verdict blames.

    Attributes:
        key: by name and kind, equal for the same operation of other traces.
        settings: the operation's own metadata with plain values, such as a retrieval's ``top_k``.
        location: the recorded place of the operation's code.
    """

    id: str
    external_id: str
    key: str
    label: str
    kind: OperationKind
    settings: dict[str, Any] = {}
    location: str | None = None


class SessionRef(Part, frozen=True):
    """The session of the operation that a verdict blames."""

    id: str
    external_id: str
    label: str
    sequence: int


class PromptRef(Part, frozen=True):
    """A prompt that the blamed operation used.

    Attributes:
        key: the prompt's name; the class of a prompt made for one call.
        variable_id: of the prompt's variable.
    """

    key: str
    variable_id: str
    external_id: str


class CitedStep(Part, frozen=True):
    """A step of the path that proves a verdict; see ``attribution.verdicts.verdict.Step``.

    Attributes:
        label: the variable's label for people.
    """

    variable_id: str
    external_id: str | None
    kind: VariableKind | None
    operation_id: str | None
    operation_external_id: str | None
    operation: str | None
    link: str
    quote: str
    holds: bool
    label: str = ""


class CitedCandidate(Part, frozen=True):
    """Another possible explanation; see ``attribution.verdicts.verdict.Candidate``."""

    error_type: ErrorType
    operation_id: str | None
    operation_external_id: str | None
    operation: str | None
    confidence: float | None
    reason: str


class CitedLoss(Part, frozen=True, kw_only=True):
    """The ending of one needed piece; see ``attribution.verdicts.verdict.PieceLoss``.

    Attributes:
        operation: name of the operation that lost the piece.
        operation_key: as in ``OperationRef``.
    """

    piece: str
    error_type: ErrorType | None
    operation_id: str | None
    operation_external_id: str | None
    operation: str | None
    operation_key: str | None
    confidence: float
    reason: str
    reached: bool
    path: list[CitedStep]


class ReportedProof(Part, frozen=True, kw_only=True):
    """The result of replaying the program for a verdict.

    Attributes:
        result: proved, refuted or unsettled.
        p0: the share of right answers without the correction, and ``p1`` with it; None without runs.
        draws: the number of runs with the correction; None without runs.
    """

    result: str
    reason: str
    p0: float | None
    p1: float | None
    draws: int | None


class OtherVerdict(Part, frozen=True):
    """Another source's verdict on the same failure."""

    method: str
    author: str | None
    error_type: ErrorType | None
    operation_id: str | None
    operation_external_id: str | None
    reason: str | None
    operation: str | None = None
    on_earlier_gold: bool = False


class Revision(Part, frozen=True, kw_only=True):
    """How the blamed operation changed a text.

    Attributes:
        before, after: labels of the two versions.
        lines: of a unified diff, sentence by sentence: ``+`` only in the new text, ``-`` only in the old, a space in
            both, ``@@`` for left out lines.
        added, removed: the number of sentences or lines only in the new text, and only in the old text.
        is_cut: whether there are more lines.
    """

    before: str
    before_id: str
    before_external_id: str
    after: str
    after_id: str
    after_external_id: str
    lines: list[str]
    added: int
    removed: int
    is_cut: bool


class RankedUnit(Part, frozen=True, kw_only=True):
    """A candidate of a search.

    Attributes:
        rank: from 1.
        label: for people.
        score: on the search's own scale; None if not recorded.
        text: the beginning of the value.
        is_missed: whether the unit has the needed fact.
    """

    rank: int
    label: str
    variable_id: str
    external_id: str
    text: str
    score: float | None
    is_returned: bool
    is_missed: bool


class Ranking(Part, frozen=True, kw_only=True):
    """How the blamed search rated its candidates.

    Attributes:
        units: the first units and the missed unit, by rank.
        considered: the number of rated units.
        returned: the number of returned units.
        missed: the rank of the unit with the needed fact; None if it was not rated.
    """

    units: list[RankedUnit]
    considered: int
    returned: int
    missed: int | None


class FailureReport(Part, frozen=True, kw_only=True):
    """A failure with its verdict.

    Attributes:
        number: cited by the report, from 1.
        attribution_id: None without a verdict.
        error_type: None for an abstention and without a verdict.
        revision: how the blamed operation changed the text with the needed fact. Like ``ranking``, only for cases that
            pages show whole, and if the trace has it.
        ranking: how the blamed search rated its candidates.
        losses: the ending of each piece of what the answer needs; empty for methods that follow no pieces.
        question_kind: what the answer needs; None if unknown.
        why_not: for each needed piece, what the memory had and did not choose; only for cases that pages show whole.
        story: what went wrong, in one sentence and a few cards; only for cases that pages show whole.
        failed_at: the time of the answer, else of the judgement.
        on_earlier_gold: whether the gold answers changed after the verdict.
        question_label: the question's name for people.
        proof: the result of replaying the program; None without a replay.
        columns: the failure's columns that are listed for people, as JSON has them, by key; see
            ``attribution.verdicts.failure_columns``.
    """

    number: int = 0
    failure_id: str
    trace_id: str
    trace_external_id: str
    trace: str
    question_id: str
    question_external_id: str | None
    answer_external_id: str | None
    question: str
    prediction: str | None
    gold_answers: list[str]
    attribution_id: str | None = None
    method: str | None = None
    author: str | None = None
    model: str | None = None
    error_type: ErrorType | None = None
    confidence: float | None = None
    reason: str | None = None
    operation: OperationRef | None = None
    session: SessionRef | None = None
    prompts: list[PromptRef] = []
    path: list[CitedStep] = []
    candidates: list[CitedCandidate] = []
    others: list[OtherVerdict] = []
    revision: Revision | None = None
    ranking: Ranking | None = None
    losses: list[CitedLoss] = []
    question_kind: QuestionKind | None = None
    why_not: list[WhyNot] = []
    story: Story | None = None
    failed_at: datetime | None = None
    on_earlier_gold: bool = False
    question_label: str = ""
    proof: ReportedProof | None = None
    columns: dict[str, Any] = {}
