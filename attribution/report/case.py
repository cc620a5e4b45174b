"""A case as data: a failure with its verdict, and all that a report shows of it.

Names are public, in camel case in JSON.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from attribution.why_not.model import WhyNot
from schema.kinds import ErrorType, OperationKind, QuestionKind, VariableKind


class Part(Struct, frozen=True, rename="camel"):
    """A part of a report: names in camel case in JSON."""


class OperationRef(Part, frozen=True):
    """The operation that a verdict blames.

    Attributes:
        key: name and kind, by which the same operation is known in other traces.
        settings: its own metadata with plain values, such as a retrieval's ``top_k``.
    """

    id: str
    external_id: str
    key: str
    label: str
    kind: OperationKind
    settings: dict[str, Any] = {}


class SessionRef(Part, frozen=True):
    """The session of the operation that a verdict blames."""

    id: str
    external_id: str
    label: str
    sequence: int


class PromptRef(Part, frozen=True):
    """A prompt that the blamed operation used.

    Attributes:
        key: the prompt's name; prompts that are made for one call are known by their class.
        variable_id: of the variable that held it.
    """

    key: str
    variable_id: str
    external_id: str


class CitedStep(Part, frozen=True):
    """A step of the path that proves a verdict; see ``attribution.verdicts.verdict.Step``.

    Attributes:
        label: of its variable, for people.
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
    """Where one piece of what the answer needs ended; see ``attribution.verdicts.verdict.PieceLoss``.

    Attributes:
        operation: name of what lost it.
        operation_key: name and kind, as in ``OperationRef``.
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
    """What replaying the program showed of the verdict.

    Attributes:
        result: proved, refuted or unsettled.
        p0: the share of right answers without the correction, and ``p1`` with it; None where there were no runs.
        draws: runs with the correction; None where there were none.
    """

    result: str
    reason: str
    p0: float | None
    p1: float | None
    draws: int | None


class OtherVerdict(Part, frozen=True):
    """What another source says about the same failure."""

    method: str
    author: str | None
    error_type: ErrorType | None
    operation_id: str | None
    operation_external_id: str | None
    reason: str | None
    operation: str | None = None
    on_earlier_gold: bool = False


class Revision(Part, frozen=True, kw_only=True):
    """What the blamed operation made of a text.

    Attributes:
        before, after: the two versions, for people.
        lines: of a unified diff, sentence by sentence: ``+`` only in the new text, ``-`` only in the old, a space in
            both, ``@@`` where something is left out.
        added, removed: sentences or lines only in the new text, only in the old.
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
        rank: its place, from 1.
        label: for people.
        score: on a scale of the search's own; None where it recorded none.
        text: the beginning of its value.
        is_missed: whether it is the unit that has the fact.
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
        units: the first, and that which was missed; by rank.
        considered: how many were rated.
        returned: how many of them were returned.
        missed: the rank of the unit that has the fact; None where it was not rated.
    """

    units: list[RankedUnit]
    considered: int
    returned: int
    missed: int | None


class ReportedCase(Part, frozen=True, kw_only=True):
    """A failure with its verdict.

    Attributes:
        number: by which the report cites it, from 1.
        attribution_id: None where it has no verdict.
        error_type: None where the verdict is an abstention, or there is none.
        revision: what the blamed operation made of the text that had the fact; like ``ranking``, only of cases that
            pages show whole, and only where the trace has it.
        ranking: how the blamed search rated its candidates.
        losses: where each piece of what the answer needs ended; empty where the method follows none.
        question_kind: what the answer needs; None where nobody said it.
        why_not: what was there and was not chosen, for each piece that the answer needed; only for cases that pages
            show whole.
        failed_at: when the answer was given, else when it was found to be wrong.
        on_earlier_gold: whether the gold answers were changed since the verdict was given.
        question_label: what people know the question by.
        proof: what replaying the program showed of the verdict; None where it was not replayed.
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
    failed_at: datetime | None = None
    on_earlier_gold: bool = False
    question_label: str = ""
    proof: ReportedProof | None = None
    columns: dict[str, Any] = {}
