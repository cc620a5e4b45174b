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
    settings: dict[str, list[Any]] = field(default_factory=dict)
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
    selection: list[str] = field(default_factory=list)


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
        right: how many of the answers were judged right.
        questions: which they were, in the order of the traces; empty where the recording does not say it of all.
    """

    answers: int
    elsewhere: int
    right: int = 0
    questions: list[AskedQuestion] = field(default_factory=list)


class Asked(Part, frozen=True, kw_only=True):
    """How often answers are wrong, of all questions that the traces of a report were asked.

    Attributes:
        answers: that the traces hold: variables of kind Answer.
        wrong: how many questions are known to have been answered wrongly, of all that were asked; those are the
            answers, and the failures whose answer was not recorded as one.
        right: how many were judged right; None in reports made before this was kept.
        not_judged: how many nobody has judged; None like ``right``.
        by_error_type: the same by error type, then abstentions and failures without verdict; empty where the traces
            hold no answers, for then nobody knows how many questions there were.
        questions: see ``Answered``.
    """

    answers: int
    wrong: Share
    right: Share | None = None
    not_judged: Share | None = None
    by_error_type: list[Share]
    questions: list[AskedQuestion] = field(default_factory=list)


class Harmful(Part, frozen=True):
    """An element and the harm that it did; see ``attribution.blamed.Blamed``.

    Attributes:
        label: its name, with that of its trace where the report covers several; a prompt may be in all of them.
    """

    id: str
    label: str
    failed: float
    passed: int
    score: float


class Harm(Part, frozen=True):
    """What did harm.

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
        version: of this form.
        by_operation: of the blamed operations, by name and kind; a verdict without operation is in none of these.
        by_prompt: of the prompts that blamed operations used; a failure may be in several.
        families: the most frequent first; last that of abstentions.
        levers: what to change, that which touches most failures first.
        cases: by number.
        over_time: when the wrong answers were given; None where no time is known.
        errors_by_operation: error types of each operation, that with most failures first.
        asked: None where the failures were chosen one by one: of what they are a part is not known then.
        harm: of operations, prompts, units and sessions, as far as any is blamed; none where the failures were chosen
            one by one, for the right answers to set against them are not known then.
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
    harm: list[Harm] = field(default_factory=list)
