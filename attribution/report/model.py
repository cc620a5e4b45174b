"""A report as data. Every number of a report, in any format, comes from one ``ReportData``.

Names are public, in camel case in JSON. All lists have a fixed order: the same cases give the same report.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import field

from attribution.report.failure_report import FailureReport, Part
from schema.kinds import ErrorType

ABSTAINED = "abstained"
WITHOUT_VERDICT = "without verdict"
WRONG = "wrong"
RIGHT = "right"
NOT_JUDGED = "not judged"


class Share(Part, frozen=True):
    """A share of the failures with a verdict, and the 95 % interval of the rate (Wilson).

    Attributes:
        key: equal in all reports.
        label: for people.
        total: the number of failures with a verdict, abstentions included; in ``Asked`` the number of questions asked.
        rate: ``count / total``; 0 if the total is 0.
    """

    key: str
    label: str
    count: int
    total: int
    rate: float
    low: float
    high: float


class Family(Part, frozen=True):
    """Failures with the same error type at the same kind of operation.

    Attributes:
        error_type: None for abstentions.
        cases: numbers, the surest verdicts first.
    """

    share: Share
    error_type: ErrorType | None
    operation: str | None
    cases: list[int]


class Reach(Part, frozen=True, kw_only=True):
    """How many units a search would have to return.

    Attributes:
        setting: the name of the setting that says how many it returns; None if no setting has this number.
        now: the number of units that it returned, at most.
        k: the number of units that would have contained the needed unit in ``finds`` of ``of`` failures.
    """

    setting: str | None
    now: int
    k: int
    finds: int
    of: int


class Lever(Part, frozen=True, kw_only=True):
    """A possible change, and the failures that it would affect.

    Attributes:
        kind: ``prompt``: the text of a prompt; ``settings``: the configuration of an operation; ``data``: questions and
            gold answers.
        settings: distinct values of the settings in these failures.
        locations: where the code of the blamed operations is, as recorded, the most frequent first; at most three.
        reach: for the settings of a search, if the ranks of what it missed are known.
        error_types: failures by error type.
        cases: numbers.
    """

    kind: Literal["prompt", "settings", "data"]
    share: Share
    settings: dict[str, list[Any]] = field(default_factory=dict)
    locations: list[str] = field(default_factory=list)
    reach: Reach | None = None
    error_types: dict[str, int]
    cases: list[int]


class Sentence(Part, frozen=True):
    """A sentence of the summary, and the numbers of its cases, at least one."""

    text: str
    cases: list[int]


class Summary(Part, frozen=True):
    """A model's summary of the failures.

    Attributes:
        dropped: number of sentences left out because they cite no case, or contain a number that is not in the data.
    """

    model: str
    sentences: list[Sentence]
    dropped: int
    tokens: int
    cost: float


class HumanAgreement(Part, frozen=True):
    """How far the verdicts agree with people's, on the cases for which both name an error type."""

    cases: int
    type_accuracy: float | None
    type_kappa: float | None
    operation_accuracy: float | None
    joint_accuracy: float | None
    joint_kappa: float | None = None


class SourcePair(Part, frozen=True):
    """How far two sources of verdicts agree, on the cases for which both name an error type.

    Attributes:
        first: a method, or a person's name.
        second: another source.
        type_kappa: Cohen's kappa of the error types; None if chance alone would always agree.
        joint_kappa: Cohen's kappa of error type and operation together.
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
    """The subject of a report.

    Attributes:
        source: the method or author whose verdicts count; None for the newest verdict by a method.
        selection: ids of the chosen failures; empty for all.
    """

    project: str
    traces: list[TraceRef]
    source: str | None
    selection: list[str] = field(default_factory=list)


class Totals(Part, frozen=True):
    """The number of failures, and of failures by what is known about them."""

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
        key: as in ``OperationRef``; empty for verdicts without an operation.
        count: the number of failures; in ``Pieces`` the number of pieces.
        error_types: the number by error type, without zeros.
    """

    key: str
    label: str
    count: int
    error_types: dict[str, int]


class AskedQuestion(Part, frozen=True):
    """A question that was asked, whether its answer was right or wrong.

    Attributes:
        text: its first 500 characters.
        answer: the answer, or its first 500 characters; None if the report does not say.
        right: whether the answer was judged right; None if nobody judged it, or if the report does not say.
    """

    trace_external_id: str
    external_id: str
    text: str
    answer: str | None = None
    right: bool | None = None


class Answered(Part, frozen=True, kw_only=True):
    """The questions and answers of some traces.

    Attributes:
        answers: the number of variables of kind Answer.
        elsewhere: the number of failures with an answer that is not among them, because it was recorded as something
            else or not at all.
        right: the number of answers that were judged right.
        questions: in the order of the traces; empty if the recording does not have all of them.
    """

    answers: int
    elsewhere: int
    right: int = 0
    questions: list[AskedQuestion] = field(default_factory=list)


class Asked(Part, frozen=True, kw_only=True):
    """How often answers are wrong, among all questions of a report's traces.

    Attributes:
        answers: the number of answers in the traces: variables of kind Answer.
        wrong: the share of questions with a known wrong answer. All questions are the answers, and the failures whose
            answer was not recorded as an answer.
        right: the share of answers judged right; None in reports by older versions.
        not_judged: the share of answers that nobody judged; None in reports by older versions.
        by_error_type: shares by error type, then of abstentions and failures without a verdict. Empty if the traces
            contain no answers, because then the number of questions is unknown.
        questions: see ``Answered``.
    """

    answers: int
    wrong: Share
    right: Share | None = None
    not_judged: Share | None = None
    by_error_type: list[Share]
    questions: list[AskedQuestion] = field(default_factory=list)


class Pieces(Part, frozen=True, kw_only=True):
    """The pieces that right answers needed, counted by their end.

    Attributes:
        failures: the number of failures whose verdicts follow pieces.
        total: the number of pieces.
        lost: the number of pieces lost by an operation.
        reached: the number of pieces that reached the answer.
        by_operation: lost pieces by operation and error type, the operation with most pieces first.
    """

    failures: int
    total: int
    lost: int
    reached: int
    by_operation: list[OperationErrors]


class Harmful(Part, frozen=True):
    """An element with its blame; see ``attribution.blame.model.Blamed``.

    Attributes:
        label: the element's name; in a report on several traces also the trace's name, except for prompts.
    """

    id: str
    label: str
    failed: float
    passed: int
    score: float


class Harm(Part, frozen=True):
    """A ranking of elements by blame.

    Attributes:
        by: operation, prompt, unit or session.
        worst: the first elements of the ranking.
        total: the number of elements.
    """

    by: str
    worst: list[Harmful]
    total: int


class ReportData(Part, frozen=True, kw_only=True, tag_field="format", tag="memtrace-report"):
    """A report.

    Attributes:
        version: version of this format.
        by_operation: failures by name and kind of the blamed operation; without verdicts that name no operation.
        by_prompt: failures by the prompts that the blamed operations used; a failure may be in several.
        families: the most frequent first; abstentions last.
        levers: possible changes, the change with most affected failures first.
        cases: by number.
        over_time: when the wrong answers were given; None if no time is known.
        errors_by_operation: error types of each operation, the operation with most failures first.
        agreements: agreement of each pair of methods and people, the pair with most common cases first.
        pieces: None if no verdict follows pieces.
        asked: None if the failures were chosen one by one, because then the number of questions is unknown.
        harm: rankings of operations, prompts, units and sessions, if any is blamed; empty if the failures were chosen
            one by one, because then the right answers to compare with are unknown.
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
    cases: list[FailureReport]
    asked: Asked | None = None
    over_time: OverTime | None = None
    errors_by_operation: list[OperationErrors] = field(default_factory=list)
    pieces: Pieces | None = None
    agreements: list[SourcePair] = field(default_factory=list)
    harm: list[Harm] = field(default_factory=list)
