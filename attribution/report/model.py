"""A report as data. Every number of a report, in whatever form, comes from one ``ReportData``.

Names are public, in camel case in JSON. All lists are in an order of their own, so that the same cases give the same
report, whatever order they came in.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from schema.kinds import ErrorType, OperationKind, VariableKind

ABSTAINED = "abstained"
WITHOUT_VERDICT = "without verdict"
WRONG = "wrong"


class Part(Struct, frozen=True, rename="camel"):
    """A part of a report: names in camel case in JSON."""


class Share(Part, frozen=True):
    """A part of the failures that have a verdict, with the 95 % interval of its rate (Wilson).

    Attributes:
        key: the same in every report.
        label: for people.
        total: failures of the report that have a verdict, abstentions among them; in ``Asked`` all questions asked.
        rate: ``count / total``; 0 where there are none.
    """

    key: str
    label: str
    count: int
    total: int
    rate: float
    low: float
    high: float


class OperationRef(Part, frozen=True):
    """The operation that a verdict blames.

    Attributes:
        key: name and kind, which its like in other traces share.
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
    """A step of the path that proves a verdict; see ``attribution.verdict.Step``.

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
    """Another explanation that was weighed."""

    error_type: ErrorType
    operation_id: str | None
    operation_external_id: str | None
    operation: str | None
    confidence: float
    reason: str


class OtherVerdict(Part, frozen=True):
    """What another source says of the same failure."""

    method: str
    author: str | None
    error_type: ErrorType | None
    operation_id: str | None
    operation_external_id: str | None
    reason: str | None
    operation: str | None = None


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
    """What a search had before it.

    Attributes:
        rank: its place, from 1.
        label: for people.
        score: on a scale of the search's own; None where it told none.
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
    """How the blamed search rated what it had before it.

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


class Case(Part, frozen=True, kw_only=True):
    """A failure with its verdict.

    Attributes:
        number: by which the report cites it, from 1.
        attribution_id: None where it has no verdict.
        error_type: None where the verdict is an abstention, or there is none.
        revision: what the blamed operation made of the text that had the fact; like ``ranking``, only of cases that
            pages show whole, and only where the trace has it.
        ranking: how the blamed search rated what it had before it.
        failed_at: when the answer was given, else when it was found to be wrong.
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
    failed_at: datetime | None = None


class Family(Part, frozen=True):
    """Failures with the same error type at the same kind of place.

    Attributes:
        error_type: None for those on which the method abstained.
        cases: numbers, the surest verdicts first.
    """

    share: Share
    error_type: ErrorType | None
    operation: str | None
    cases: list[int]


class Lever(Part, frozen=True, kw_only=True):
    """Something that can be changed, and the failures that this would touch.

    Attributes:
        kind: ``prompt``: the text of a prompt; ``settings``: how an operation is set up; ``data``: questions and gold
            answers.
        settings: values of the settings in these failures, each once.
        error_types: failures by error type.
        cases: numbers.
    """

    kind: Literal["prompt", "settings", "data"]
    share: Share
    settings: dict[str, list[Any]] = {}
    error_types: dict[str, int]
    cases: list[int]


class Sentence(Part, frozen=True):
    """A sentence of the summary and the numbers of the cases that it rests on, at least one."""

    text: str
    cases: list[int]


class Summary(Part, frozen=True):
    """What a model says of the failures.

    Attributes:
        dropped: sentences that were left out because they cite no case, or hold a number that stands nowhere.
    """

    model: str
    sentences: list[Sentence]
    dropped: int
    tokens: int
    cost: float


class HumanAgreement(Part, frozen=True):
    """How far the verdicts agree with those of people, on the cases on which both name an error type."""

    cases: int
    type_accuracy: float | None
    type_kappa: float | None
    operation_accuracy: float | None
    joint_accuracy: float | None


class TraceRef(Part, frozen=True):
    """A trace that the report covers."""

    id: str
    external_id: str
    name: str | None


class Scope(Part, frozen=True):
    """What the report is about.

    Attributes:
        source: the method or author whose verdicts count; None for the newest verdict that is not a person's.
        selection: ids of the failures that were chosen; empty for all.
    """

    project: str
    traces: list[TraceRef]
    source: str | None
    selection: list[str] = []


class Totals(Part, frozen=True):
    """How many failures there are, and what is known about them."""

    failures: int
    attributed: int
    abstained: int
    without_verdict: int


class Stretch(Part, frozen=True):
    """A stretch of time and how many failures fell into it."""

    start: datetime
    failures: int


class OverTime(Part, frozen=True):
    """Failures over time.

    Attributes:
        seconds: the length of each stretch.
        stretches: from the first failure to the last, without gaps.
        undated: failures of which no time is known.
    """

    seconds: int
    stretches: list[Stretch]
    undated: int


class OperationErrors(Part, frozen=True):
    """What went wrong at one kind of place.

    Attributes:
        key: of the operation, as in ``OperationRef``; empty for verdicts that name none.
        error_types: failures by error type; those that there are.
    """

    key: str
    label: str
    count: int
    error_types: dict[str, int]


class AskedQuestion(Part, frozen=True):
    """A question that was asked, whether its answer was right or wrong.

    Attributes:
        text: its first 500 characters.
    """

    trace_external_id: str
    external_id: str
    text: str


class Answered(Part, frozen=True, kw_only=True):
    """What some traces were asked.

    Attributes:
        answers: variables of kind Answer.
        elsewhere: failures whose answer is none of these: it was recorded as something else, or not at all.
        questions: which they were, in the order of the traces; empty where the recording does not say it of all.
    """

    answers: int
    elsewhere: int
    questions: list[AskedQuestion] = []


class Asked(Part, frozen=True, kw_only=True):
    """How often answers are wrong, of all questions that the traces of a report were asked.

    Attributes:
        answers: that the traces hold: variables of kind Answer.
        wrong: how many questions are known to have been answered wrongly, of all that were asked; those are the
            answers, and the failures whose answer was not recorded as one.
        by_error_type: the same by error type, then abstentions and failures without verdict; empty where the traces
            hold no answers, for then nobody knows how many questions there were.
        questions: see ``Answered``.
    """

    answers: int
    wrong: Share
    by_error_type: list[Share]
    questions: list[AskedQuestion] = []


class ReportData(Part, frozen=True, kw_only=True, tag_field="format", tag="memtrace-report"):
    """A report.

    Attributes:
        version: of this form.
        by_operation: of the blamed operations, by name and kind; a verdict without operation is in none of these.
        by_prompt: of the prompts that blamed operations used; a failure may be in several.
        families: the most frequent first; last that of abstentions.
        levers: what to change, that which touches most failures first.
        cases: by number.
        over_time: when the wrong answers were given; None where no time is known.
        errors_by_operation: error types of each operation, that with most failures first.
        asked: None where the failures were chosen one by one: of what they are a part is not known then.
    """

    version: Literal[1] = 1
    created_at: datetime
    scope: Scope
    totals: Totals
    by_error_type: list[Share]
    by_operation: list[Share]
    by_prompt: list[Share]
    by_session: list[Share]
    families: list[Family]
    levers: list[Lever]
    agreement: HumanAgreement | None
    summary: Summary | None
    cases: list[Case]
    asked: Asked | None = None
    over_time: OverTime | None = None
    errors_by_operation: list[OperationErrors] = []
