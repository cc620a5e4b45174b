"""How a method does against labels that also say what else is right, and what kind of question it was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from attribution.benchmark.result import Result
from attribution.benchmark.trivial import Named
from schema.kinds import ErrorType


@dataclass(frozen=True, slots=True)
class Share:
    """Of some cases, how many verdicts are the label's first, and how many the first or another that is as good."""

    cases: int
    primary: int
    accepted: int


@dataclass(frozen=True, slots=True)
class LabelledScores:
    """Numbers against labels.

    Attributes:
        by_type: by the error type of the label.
        by_kind: by the kind of question; one question may be of several.
        by_trace: by the name of the graph's file.
        macro_f1: mean F1 of error types, of those that a label names.
        trivial: what rules without thought reach, by name, with their macro F1.
    """

    whole: Share
    by_type: dict[str, Share]
    by_kind: dict[str, Share]
    by_trace: dict[str, Share]
    macro_f1: float | None
    trivial: dict[str, tuple[Share, float | None]]


def against(results: Sequence[Result], trace_of: Callable[[str], str]) -> LabelledScores:
    """The numbers of some results, of which those without a label don't count."""
    known = [(one, one.case.label) for one in results if one.case.label is not None]
    types: dict[str, list[Result]] = defaultdict(list)
    kinds: dict[str, list[Result]] = defaultdict(list)
    traces: dict[str, list[Result]] = defaultdict(list)
    for one, label in known:
        types[label.error_type].append(one)
        traces[trace_of(one.case.graph_path)].append(one)
        for kind in label.kinds:
            kinds[kind].append(one)
    pairs = [(label.error_type, one.verdict.error_type) for one, label in known]
    names = sorted({name for one, _ in known for name in one.trivial})
    return LabelledScores(
        _share([one for one, _ in known]),
        _shares(types),
        _shares(kinds),
        _shares(traces),
        _macro_f1(pairs),
        {name: _trivial([one for one, _ in known], name) for name in names},
    )


def _shares(parts: Mapping[str, Sequence[Result]]) -> dict[str, Share]:
    return {key: _share(some) for key, some in sorted(parts.items())}


def _share(results: Sequence[Result]) -> Share:
    return Share(len(results), sum(one.is_right for one in results), sum(one.is_accepted for one in results))


def _trivial(results: Sequence[Result], name: str) -> tuple[Share, float | None]:
    said: list[tuple[Named | None, Result]] = [(one.trivial.get(name), one) for one in results]
    primary = accepted = 0
    pairs: list[tuple[ErrorType, ErrorType | None]] = []
    for found, one in said:
        label = one.case.label
        assert label is not None
        is_first = found == (label.error_type, label.operation)
        primary += is_first
        accepted += is_first or found in label.also
        pairs.append((label.error_type, found[0] if found else None))
    return Share(len(results), primary, accepted), _macro_f1(pairs)


def _macro_f1(pairs: Sequence[tuple[ErrorType, ErrorType | None]]) -> float | None:
    """Mean F1 over the error types that labels name; pairs are (label, found)."""
    scores = []
    for kind in sorted({label for label, _ in pairs}):
        hits = sum(label is kind is found for label, found in pairs)
        named = sum((label is kind) + (found is kind) for label, found in pairs)
        scores.append(2 * hits / named)
    return sum(scores) / len(scores) if scores else None
