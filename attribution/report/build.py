"""Makes a report from cases: a pure function of the set of cases, in any order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import combinations

from msgspec.structs import replace

from attribution.report.failure_report import CitedLoss, FailureReport, OperationRef
from attribution.report.levers import levers
from attribution.report.missed_ranks import MissedRank
from attribution.report.model import (
    ABSTAINED,
    NOT_JUDGED,
    RIGHT,
    WITHOUT_VERDICT,
    WRONG,
    Answered,
    Asked,
    Family,
    Harm,
    HumanAgreement,
    OperationErrors,
    Pieces,
    ReportData,
    Scope,
    Share,
    SourcePair,
    Totals,
)
from attribution.report.over_time import over_time
from attribution.report.shares import share
from attribution.statistics.kappa import cohens_kappa
from schema.error_type_names import error_type_name
from schema.kinds import HUMAN_METHOD, ErrorType

_NOWHERE = ("", "no operation")


def build(
    cases: Iterable[FailureReport],
    scope: Scope,
    created_at: datetime,
    answered: Answered | None = None,
    harm: Sequence[Harm] = (),
    ranks: Mapping[str, MissedRank] | None = None,
) -> ReportData:
    """The report on some cases, without a summary, which needs a model (see ``summary``).

    Args:
        cases: in any order.
        scope: what the cases are.
        created_at: the time of the report, in UTC.
        answered: the questions of the traces; None if the cases are a selection of the traces' failures.
        harm: rankings of elements by blame.
        ranks: of what searches missed, by failure.
    """
    ordered = sorted(cases, key=lambda case: (case.trace_external_id, case.question_external_id or "", case.failure_id))
    numbered = [replace(case, number=number) for number, case in enumerate(ordered, 1)]
    judged = [case for case in numbered if case.attribution_id is not None]
    attributed = [case for case in judged if case.error_type is not None]
    total = len(judged)
    return ReportData(
        created_at=created_at,
        scope=scope,
        totals=Totals(
            failures=len(numbered),
            attributed=len(attributed),
            abstained=total - len(attributed),
            without_verdict=len(numbered) - total,
        ),
        by_error_type=_error_types(judged),
        by_operation=_shares((_operation(case.operation) for case in attributed if case.operation), total),
        by_prompt=_shares(((prompt.key, prompt.key) for case in attributed for prompt in case.prompts), total),
        by_session=_sessions(attributed, total),
        families=_families(judged, total),
        levers=levers(attributed, total, ranks),
        agreement=_agreement(attributed),
        agreements=_agreements(numbered),
        summary=None,
        cases=numbered,
        over_time=over_time(case.failed_at for case in numbered),
        errors_by_operation=_errors_by_operation(attributed),
        pieces=_pieces(judged),
        asked=None if answered is None else _asked(answered, numbered),
        harm=list(harm),
    )


def _shares(named: Iterable[tuple[str, str]], total: int) -> list[Share]:
    """Shares by key, the largest first; each pair of key and label counts once."""
    counts = Counter(named)
    parts = [share(key, label, count, total) for (key, label), count in counts.items()]
    return sorted(parts, key=lambda part: (-part.count, part.label, part.key))


def _error_types(judged: Sequence[FailureReport]) -> list[Share]:
    """All error types in their order, then abstentions."""
    counts = Counter(case.error_type for case in judged)
    total = len(judged)
    parts = [share(kind.value, error_type_name(kind), counts[kind], total) for kind in ErrorType]
    return [*parts, share(ABSTAINED, ABSTAINED, counts[None], total)]


def _asked(answered: Answered, cases: Sequence[FailureReport]) -> Asked:
    """How often answers are wrong, among all questions asked."""
    total, wrong = answered.answers + answered.elsewhere, len(cases)
    named = Counter(_named(case) for case in cases)
    kinds = [*(kind.value for kind in ErrorType), ABSTAINED, WITHOUT_VERDICT]
    return Asked(
        answers=answered.answers,
        wrong=share(WRONG, "known to be wrong", wrong, total),
        right=share(RIGHT, "judged right", answered.right, total),
        not_judged=share(NOT_JUDGED, "not judged", total - wrong - answered.right, total),
        by_error_type=[share(kind, error_type_name(kind), named[kind], total) for kind in kinds]
        if answered.answers
        else [],
        questions=answered.questions,
    )


def _named(case: FailureReport) -> str:
    if case.attribution_id is None:
        return WITHOUT_VERDICT
    return case.error_type.value if case.error_type else ABSTAINED


def _operation(operation: OperationRef) -> tuple[str, str]:
    return operation.key, f"{operation.label} ({operation.kind})"


def _errors_by_operation(attributed: Sequence[FailureReport]) -> list[OperationErrors]:
    """The error types of each operation, most failures first; verdicts without an operation are one more entry."""
    return _errors((_operation(case.operation) if case.operation else _NOWHERE, case.error_type) for case in attributed)


def _pieces(judged: Sequence[FailureReport]) -> Pieces | None:
    """Where pieces ended; None if no verdict follows pieces."""
    losses = [loss for case in judged for loss in case.losses]
    lost = [loss for loss in losses if loss.operation_key is not None]
    if not losses:
        return None
    return Pieces(
        failures=sum(bool(case.losses) for case in judged),
        total=len(losses),
        lost=len(lost),
        reached=sum(loss.reached for loss in losses),
        by_operation=_errors((_place(loss), loss.error_type) for loss in lost),
    )


def _place(loss: CitedLoss) -> tuple[str, str]:
    key = loss.operation_key or ""
    return key, f"{loss.operation} ({key.partition(':')[0]})"


def _errors(told: Iterable[tuple[tuple[str, str], ErrorType | None]]) -> list[OperationErrors]:
    """The number of errors of each type at each operation, the operation with most errors first."""
    counts: dict[tuple[str, str], Counter[ErrorType | None]] = defaultdict(Counter)
    for place, error_type in told:
        counts[place][error_type] += 1
    found = [
        OperationErrors(key, label, each.total(), {kind.value: each[kind] for kind in ErrorType if each[kind]})
        for (key, label), each in counts.items()
    ]
    return sorted(found, key=lambda one: (-one.count, one.label, one.key))


def _sessions(attributed: Sequence[FailureReport], total: int) -> list[Share]:
    several = len({case.trace_id for case in attributed}) > 1
    inside = [(case, case.session) for case in attributed if case.session]
    places = {session.id: (case.trace_external_id, session.sequence) for case, session in inside}
    parts = _shares(
        ((session.id, f"{session.label} of {case.trace}" if several else session.label) for case, session in inside),
        total,
    )
    return sorted(parts, key=lambda part: (-part.count, places[part.key]))


def _families(judged: Sequence[FailureReport], total: int) -> list[Family]:
    """The families of failures, the largest first, then the family of abstentions."""
    members: dict[tuple[ErrorType | None, str], list[FailureReport]] = defaultdict(list)
    for case in judged:
        members[case.error_type, case.operation.label if case.operation else ""].append(case)
    families = [
        Family(
            _family_share(kind, operation, len(cases), total),
            kind,
            operation or None,
            [case.number for case in sorted(cases, key=lambda case: (-(case.confidence or 0.0), case.number))],
        )
        for (kind, operation), cases in members.items()
    ]
    return sorted(families, key=lambda family: (family.error_type is None, -family.share.count, family.share.key))


def _family_share(kind: ErrorType | None, operation: str, count: int, total: int) -> Share:
    key = kind.value if kind else ABSTAINED
    named = error_type_name(key)
    return share(f"{key}:{operation}", f"{named} at {operation}" if operation else named, count, total)


def _agreement(attributed: Sequence[FailureReport]) -> HumanAgreement | None:
    """Agreement with people's newest verdicts; None without them, or if a person is the source."""
    pairs = []
    for case in attributed:
        human = [one for one in case.others if one.method == HUMAN_METHOD and one.error_type is not None]
        if human and case.method != HUMAN_METHOD:
            mine = case.operation.id if case.operation else None
            pairs.append(((case.error_type, human[-1].error_type), (mine, human[-1].operation_id)))
    if not pairs:
        return None
    types, places = [kinds for kinds, _ in pairs], [operations for _, operations in pairs]
    return HumanAgreement(
        cases=len(pairs),
        type_accuracy=sum(a == b for a, b in types) / len(pairs),
        type_kappa=cohens_kappa(types),
        operation_accuracy=sum(a == b for a, b in places) / len(pairs),
        joint_accuracy=sum(a == b and c == d for (a, b), (c, d) in pairs) / len(pairs),
        joint_kappa=cohens_kappa([(f"{a} {c}", f"{b} {d}") for (a, b), (c, d) in pairs]),
    )


def _agreements(cases: Sequence[FailureReport]) -> list[SourcePair]:
    """Agreement of each pair of methods and people, by their newest verdicts."""
    said: dict[str, dict[str, tuple[ErrorType, str | None]]] = defaultdict(dict)
    for case in cases:
        for one in case.others:
            if one.error_type is not None:
                said[_source(one.method, one.author)][case.failure_id] = one.error_type, one.operation_id
        if case.method is not None and case.error_type is not None:
            blamed = case.operation.id if case.operation else None
            said[_source(case.method, case.author)][case.failure_id] = case.error_type, blamed
    found = []
    for first, second in combinations(sorted(said), 2):
        common = sorted(said[first].keys() & said[second].keys())
        if common:
            found.append(_pair(first, second, [(said[first][one], said[second][one]) for one in common]))
    return sorted(found, key=lambda pair: (-pair.cases, pair.first, pair.second))


def _pair(
    first: str, second: str, verdicts: Sequence[tuple[tuple[ErrorType, str | None], tuple[ErrorType, str | None]]]
) -> SourcePair:
    return SourcePair(
        first=first,
        second=second,
        cases=len(verdicts),
        type_accuracy=sum(one[0] is other[0] for one, other in verdicts) / len(verdicts),
        type_kappa=cohens_kappa([(one[0], other[0]) for one, other in verdicts]),
        operation_accuracy=sum(one[1] == other[1] for one, other in verdicts) / len(verdicts),
        joint_accuracy=sum(one == other for one, other in verdicts) / len(verdicts),
        joint_kappa=cohens_kappa([(" ".join(map(str, one)), " ".join(map(str, other))) for one, other in verdicts]),
    )


def _source(method: str, author: str | None) -> str:
    """A method, or the name of a person."""
    return author or method if method == HUMAN_METHOD else method
