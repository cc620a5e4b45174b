"""Scores against labels that accept several verdicts, and that name the kind of the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct

from attribution.benchmark.cases import CaseLabel
from attribution.benchmark.labels import Named
from attribution.benchmark.result import Result
from attribution.statistics.intervals import Interval, bootstrap, wilson
from attribution.statistics.kappa import cohens_kappa
from schema.kinds import ErrorType

_Numbers = tuple[int, float | None, float | None, Interval, Interval]


class Share(Struct, frozen=True, rename="camel"):
    """The share of right verdicts on some cases.

    Attributes:
        primary: the share of verdicts equal to the label's first.
        accepted: the share of verdicts equal to any that the label accepts.
        primary_interval: 95 % (Wilson), as of independent cases.
        accepted_interval: 95 % (Wilson), as of independent cases.
    """

    cases: int
    primary: float | None
    accepted: float | None
    primary_interval: Interval
    accepted_interval: Interval


class Trivial(Share, frozen=True, rename="camel"):
    """The shares of a trivial rule."""

    macro_f1: float | None


class LabelAgreement(Struct, frozen=True, rename="camel"):
    """Agreement of method and labels beyond chance (Cohen's kappa), with abstention as a class.

    Attributes:
        type: of the error types.
        joint: of error type and operation together.
    """

    type: float | None
    joint: float | None


class LabelledScores(Share, frozen=True, rename="camel"):
    """Scores against labels: of all cases, and of groups of cases.

    Attributes:
        by_type: by the label's error type.
        by_kind: by the kind of question; a question may have several kinds.
        by_system: by the recorded memory system.
        by_trace: by the name of the graph's file.
        conversation_intervals: of ``primary`` and ``accepted``, by a bootstrap over whole conversations, because cases
            of a conversation are dependent. None with fewer than two conversations.
        trivial: the shares of trivial rules, by name.
    """

    by_type: dict[str, Share]
    by_kind: dict[str, Share]
    by_system: dict[str, Share]
    by_trace: dict[str, Share]
    conversation_intervals: dict[str, Interval | None] | None
    kappa: LabelAgreement
    trivial: dict[str, Trivial]


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of cases.

    Attributes:
        trace: the name of the graph's file.
        system: the memory system.
        conversation: the remembered conversation.
    """

    trace: str
    system: str
    conversation: str


def against(results: Sequence[Result], origins: Mapping[str, Origin]) -> LabelledScores:
    """The scores of the labelled results.

    Args:
        results: of any number of files.
        origins: of each file's cases, by the file's path.
    """
    known = [(one, one.case.label) for one in results if one.case.label is not None]
    types: dict[str, list[Result]] = defaultdict(list)
    kinds: dict[str, list[Result]] = defaultdict(list)
    systems: dict[str, list[Result]] = defaultdict(list)
    traces: dict[str, list[Result]] = defaultdict(list)
    conversations: dict[str, list[Result]] = defaultdict(list)
    for one, label in known:
        origin = origins[one.case.graph_path]
        types[label.error_type].append(one)
        systems[origin.system].append(one)
        traces[origin.trace].append(one)
        conversations[origin.conversation].append(one)
        for kind in label.kinds:
            kinds[kind].append(one)
    pairs = [(label.error_type, one.verdict.error_type) for one, label in known]
    names = sorted({name for one, _ in known for name in one.trivial})
    return LabelledScores(
        *_share([one for one, _ in known]),
        by_type=_shares(types),
        by_kind=_shares(kinds),
        by_system=_shares(systems),
        by_trace=_shares(traces),
        conversation_intervals=_by_conversation([conversations[name] for name in sorted(conversations)]),
        kappa=LabelAgreement(cohens_kappa(pairs), cohens_kappa([_joint(one, label) for one, label in known])),
        trivial={name: _trivial(known, name) for name in names},
    )


def _shares(parts: Mapping[str, Sequence[Result]]) -> dict[str, Share]:
    return {key: Share(*_share(some)) for key, some in sorted(parts.items())}


def _share(results: Sequence[Result]) -> _Numbers:
    return _numbers(*_counts(results))


def _counts(results: Sequence[Result]) -> tuple[int, int, int]:
    """The number of cases, of verdicts equal to the label's first, and of accepted verdicts."""
    return len(results), sum(one.is_right for one in results), sum(one.is_accepted for one in results)


def _numbers(cases: int, primary: int, accepted: int) -> _Numbers:
    """The fields of a share."""
    rates = (primary / cases, accepted / cases) if cases else (None, None)
    return cases, *rates, wilson(primary, cases), wilson(accepted, cases)


def _by_conversation(conversations: Sequence[Sequence[Result]]) -> dict[str, Interval | None] | None:
    return bootstrap([_counts(some) for some in conversations], _rates) if len(conversations) > 1 else None


def _rates(counts: Sequence[tuple[int, int, int]]) -> dict[str, float | None]:
    cases, primary, accepted = (sum(column) for column in zip(*counts, strict=True))
    return {"primary": primary / cases, "accepted": accepted / cases}


def _joint(one: Result, label: CaseLabel) -> tuple[str, str]:
    """Error type and operation as one class, of label and verdict; a right operation counts as the label's."""
    wanted = f"{label.error_type} {label.operation}"
    return wanted, wanted if one.is_right else f"{one.verdict.error_type} {one.operation}"


def _trivial(known: Sequence[tuple[Result, CaseLabel]], name: str) -> Trivial:
    primary = accepted = 0
    pairs: list[tuple[ErrorType, ErrorType | None]] = []
    for one, label in known:
        found: Named | None = one.trivial.get(name)
        is_first = found == (label.error_type, label.operation)
        primary += is_first
        accepted += is_first or found in label.also
        pairs.append((label.error_type, found[0] if found else None))
    return Trivial(*_numbers(len(known), primary, accepted), macro_f1=_macro_f1(pairs))


def _macro_f1(pairs: Sequence[tuple[ErrorType, ErrorType | None]]) -> float | None:
    """Mean F1 over the error types of the labels; pairs are (label, found)."""
    scores = []
    for kind in sorted({label for label, _ in pairs}):
        hits = sum(label is kind is found for label, found in pairs)
        named = sum((label is kind) + (found is kind) for label, found in pairs)
        scores.append(2 * hits / named)
    return sum(scores) / len(scores) if scores else None
