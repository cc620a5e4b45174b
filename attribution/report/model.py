"""A report as data. Every number of a report, in whatever form, comes from one ``ReportData``.

Names are public, in camel case in JSON. All lists are in an order of their own, so that the same cases give the same
report, whatever order they came in.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import field

from attribution.report.case import Part, ReportedCase
from schema.kinds import ErrorType

ABSTAINED = "abstained"
WITHOUT_VERDICT = "without verdict"
WRONG = "wrong"
RIGHT = "right"
NOT_JUDGED = "not judged"


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
    """Something that can be changed, and the failures that this would affect.

    Attributes:
        kind: ``prompt``: the text of a prompt; ``settings``: how an operation is set up; ``data``: questions and gold
            answers.
        settings: values of the settings in these failures, each once.
        error_types: failures by error type.
        cases: numbers.
    """

    kind: Literal["prompt", "settings", "data"]
    share: Share
    settings: dict[str, list[Any]] = field(default_factory=dict)
    error_types: dict[str, int]
    cases: list[int]


class Sentence(Part, frozen=True):
    """A sentence of the summary, and the numbers of the cases on which it is based, at least one."""

    text: str
    cases: list[int]


class Summary(Part, frozen=True):
    """A model's summary of the failures.

    Attributes:
        dropped: number of sentences that were left out, because they cite no case or contain a number that is not in
            the data.
    """

    model: str
    sentences: list[Sentence]
    dropped: int
    tokens: int
    cost: float


class HumanAgreement(Part, frozen=True):
    """How far the verdicts agree with those of people, on the cases for which both name an error type."""

    cases: int
    type_accuracy: float | None
    type_kappa: float | None
    operation_accuracy: float | None
    joint_accuracy: float | None
    joint_kappa: float | None = None


class SourcePair(Part, frozen=True):
    """How far two sources of verdicts agree, on the cases on which both name an error type.

    Attributes:
        first: a method, or a person's name.
        second: another one.
        type_kappa: Cohen's kappa of the error types; None where chance alone would agree always.
        joint_kappa: the same of error type and operation together.
    """

    first: str
    second: str
    cases: int
    type_accuracy: float
    type_kappa: float | None
    operation_accuracy: float
    joint_accuracy: float
    joint_kappa: float | None


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
    selection: list[str] = field(default_factory=list)


class Totals(Part, frozen=True):
    """How many failures there are, and what is known about them."""

    failures: int
    attributed: int
    abstained: int
    without_verdict: int


class Stretch(Part, frozen=True):
    """An interval of time, and the number of failures in it."""

    start: datetime
    failures: int


class OverTime(Part, frozen=True):
    """Failures over time.

    Attributes:
        seconds: the length of each interval.
        stretches: the intervals from the first failure to the last, without gaps.
        undated: number of failures without a known time.
    """

    seconds: int
    stretches: list[Stretch]
    undated: int


class OperationErrors(Part, frozen=True):
    """The error types of one operation.

    Attributes:
        key: of the operation, as in ``OperationRef``; empty for verdicts without an operation.
        count: number of failures; in ``Pieces`` of pieces.
        error_types: the same by error type; types with none are left out.
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
    """What was asked in some traces.

    Attributes:
        answers: number of variables of kind Answer.
        elsewhere: number of failures whose answer is not one of these: it was recorded as something else, or not at
            all.
        right: number of answers that were judged right.
        questions: the questions, in the order of the traces; empty if the recording does not have all of them.
    """

    answers: int
    elsewhere: int
    right: int = 0
    questions: list[AskedQuestion] = field(default_factory=list)


class Asked(Part, frozen=True, kw_only=True):
    """How often answers are wrong, of all questions that were asked in the traces of a report.

    Attributes:
        answers: number of answers in the traces: variables of kind Answer.
        wrong: how many of all questions are known to be answered wrongly. All questions are the answers, and the
            failures whose answer was not recorded as an answer.
        right: how many were judged right; None in reports that were made before this was stored.
        not_judged: how many nobody has judged; None like ``right``.
        by_error_type: the same by error type, then abstentions and failures without a verdict. Empty if the traces
            contain no answers, because then it is not known how many questions there were.
        questions: see ``Answered``.
    """

    answers: int
    wrong: Share
    right: Share | None = None
    not_judged: Share | None = None
    by_error_type: list[Share]
    questions: list[AskedQuestion] = field(default_factory=list)


class Pieces(Part, frozen=True, kw_only=True):
    """What the right answers needed, piece by piece, and where it ended.

    Attributes:
        failures: whose verdicts follow pieces.
        total: pieces of all of them.
        lost: how many an operation lost.
        reached: how many reached the answer.
        by_operation: lost pieces by operation and error type, that with most pieces first.
    """

    failures: int
    total: int
    lost: int
    reached: int
    by_operation: list[OperationErrors]


class Harmful(Part, frozen=True):
    """An element and the harm that it did; see ``attribution.blame.model.Blamed``.

    Attributes:
        label: its name, with that of its trace where the report covers several; a prompt may be in all of them.
    """

    id: str
    label: str
    failed: float
    passed: int
    score: float


class Harm(Part, frozen=True):
    """A ranking of elements by the harm that they did.

    Attributes:
        by: operation, prompt, unit or session.
        worst: the first of them.
        total: how many there are.
    """

    by: str
    worst: list[Harmful]
    total: int


class ReportData(Part, frozen=True, kw_only=True, tag_field="format", tag="memtrace-report"):
    """A report.

    Attributes:
        version: version of this format.
        by_operation: failures by blamed operation, which is known by name and kind; verdicts without an operation are
            left out.
        by_prompt: failures by the prompts that the blamed operations used; a failure may be in several.
        families: the most frequent first; abstentions last.
        levers: what to change; the change that affects most failures comes first.
        cases: the cases by number.
        over_time: when the wrong answers were given; None if no time is known.
        errors_by_operation: error types of each operation; the operation with most failures comes first.
        agreements: agreement of each pair of methods and people; the pair with most common cases comes first.
        pieces: None if no verdict follows any piece.
        asked: None if the failures were chosen one by one, because then it is not known what they are a part of.
        harm: of operations, prompts, units and sessions, if any is blamed; empty if the failures were chosen one by
            one, because then it is not known which right answers to set against them.
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
    cases: list[ReportedCase]
    asked: Asked | None = None
    over_time: OverTime | None = None
    errors_by_operation: list[OperationErrors] = field(default_factory=list)
    pieces: Pieces | None = None
    agreements: list[SourcePair] = field(default_factory=list)
    harm: list[Harm] = field(default_factory=list)
