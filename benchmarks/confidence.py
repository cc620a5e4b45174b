"""Fits the scores of the rules to how often they are right, and writes ``attribution/confidence.json``.

``python -m benchmarks.confidence --labelled GRAPHS LABELS [--labelled ...] --injected GRAPHS [GRAPHS ...]``

A curve has two parameters (Platt, "Probabilistic outputs for support vector machines", 1999). There is one for each
kind of question; a kind with few cases has the curve of all kinds like it. Failures that happened by themselves weigh
as much together as those that were injected. What is printed is cross-validated: each conversation is judged by the
curves that were fitted to the others.
"""

from __future__ import annotations

import argparse
import asyncio
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from attribution import probabilities
from attribution.benchmark.result import Result
from attribution.benchmark.risk import risk_of
from attribution.benchmark.run import run
from attribution.labels import read_labels
from attribution.probabilities import logit
from attribution.run import Options
from schema.kinds import QuestionKind

_ENOUGH = 20
"""A kind with at least so many cases has a curve of its own; at least one of them must be wrong."""
_RIGHT = 0.9
"""The share of verdicts that must be right among those that are named by default."""
_SAID = (QuestionKind.PLAIN, QuestionKind.SEVERAL, QuestionKind.INFERRED)
_APART = (QuestionKind.CONVERSATIONAL, QuestionKind.UNANSWERABLE)
"""Kinds that share a curve if they have few cases, and kinds that never do."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The probability is 1 / (1 + exp(-slope * log odds - intercept))."""

    slope: float
    intercept: float
    cases: int

    def at(self, share: float) -> float:
        """The probability for a share."""
        return 1.0 / (1.0 + math.exp(-self.slope * logit(share) - self.intercept))


@dataclass(frozen=True, slots=True)
class Point:
    """One verdict: the rules' score, the kind of question, the conversation, and whether the verdict is right."""

    share: float
    kind: QuestionKind
    conversation: str
    natural: bool
    right: bool


def fit(points: Sequence[Point]) -> dict[QuestionKind, Curve]:
    """The curve of each kind of question."""
    together = [one for one in points if one.kind in _SAID]
    found = {}
    for kind in (*_SAID, *_APART):
        own = [one for one in points if one.kind == kind]
        wrong = sum(not one.right for one in own)
        found[kind] = _curve(own if kind in _APART or (len(own) >= _ENOUGH and wrong) else together)
    return found


def _curve(points: Sequence[Point]) -> Curve:
    right = sum(one.right for one in points)
    if right in {0, len(points)}:
        # Where all are right, or all wrong, nothing can be fitted; this is Laplace's rule of succession.
        return Curve(0.0, math.log((right + 1) / (len(points) - right + 1)), len(points))
    from sklearn.linear_model import LogisticRegression

    natural = sum(one.natural for one in points)
    injected = len(points) - natural
    weight = injected / natural if natural and injected else 1.0
    model = LogisticRegression()
    model.fit(
        [[logit(one.share)] for one in points],
        [one.right for one in points],
        [weight if one.natural else 1.0 for one in points],
    )
    return Curve(round(float(model.coef_[0][0]), 4), round(float(model.intercept_[0]), 4), len(points))


def validated(points: Sequence[Point]) -> list[tuple[Point, float]]:
    """Each verdict with the confidence that the curves of all other conversations give it."""
    found = []
    for conversation in sorted({one.conversation for one in points}):
        curves = fit([one for one in points if one.conversation != conversation])
        found += [(one, curves[one.kind].at(one.share)) for one in points if one.conversation == conversation]
    return found


def least(points: Sequence[Point], curves: dict[QuestionKind, Curve]) -> float:
    """The smallest confidence from which on that share of the failures that happened by themselves is right."""
    said = sorted(((curves[one.kind].at(one.share), one.right) for one in points if one.natural), reverse=True)
    kept = len(said)
    while kept and sum(right for _, right in said[:kept]) < _RIGHT * kept:
        # Verdicts of the same confidence stay together.
        lowest = said[kept - 1][0]
        kept = sum(sure > lowest for sure, _ in said)
    return math.floor(said[kept - 1][0] * 1000) / 1000 if kept else 1.0


def main() -> None:
    """Fit, write, and print how well the curves do on conversations that they were not fitted to."""
    parser = argparse.ArgumentParser(description="Fit confidences to labelled failures.")
    parser.add_argument("--labelled", nargs=2, action="append", type=Path, required=True, metavar=("GRAPHS", "LABELS"))
    parser.add_argument("--injected", nargs="*", type=Path, default=[], metavar="GRAPHS")
    given = parser.parse_args()
    points: list[Point] = []
    for folder, labels in given.labelled:
        known = [one.label for one in read_labels(labels)]
        found = asyncio.run(run(_graphs(folder), Options(min_confidence=0.0), labels=known))
        points += [_point(one, natural=True) for one in found.results if one.case.label is not None]
    for folder in given.injected:
        found = asyncio.run(run(_graphs(folder), Options(min_confidence=0.0)))
        points += [_point(one, natural=False) for one in found.results if one.case.label is not None]
    curves = fit(points)
    document = {
        "curves": {kind: asdict(curve) for kind, curve in curves.items()},
        "least": least(points, curves),
    }
    place = Path(probabilities.__file__).with_name(probabilities.CURVES)
    place.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")
    _tell(validated(points), "all", lambda one: True)
    _tell(validated(points), "natural", lambda one: one.natural)


def _tell(said: Sequence[tuple[Point, float]], name: str, wanted: Callable[[Point], bool]) -> None:
    some = sorted(((sure, one.right) for one, sure in said if wanted(one)), reverse=True)
    bins: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for sure, right in some:
        bins[min(9, int(sure * 10))].append((sure, right))
    error = sum(abs(sum(sure for sure, _ in one) - sum(right for _, right in one)) for one in bins.values()) / len(some)
    high = [right for sure, right in some if sure >= 0.9]
    risk = risk_of(some)
    shares = ", ".join(f"{share:.1%} right at {part} %" for part, share in risk.accuracy.items() if share is not None)
    print(
        f"{name}: {len(some)} verdicts, {sum(right for _, right in some)} right; expected calibration error {error:.3f}"
    )
    print(f"  of confidence 0.9 and more: {sum(high)} of {len(high)}; {shares}; area {risk.area:.4f}")


def _graphs(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.json*"))


def _point(result: Result, *, natural: bool) -> Point:
    kind = result.verdict.question_kind or QuestionKind.PLAIN
    conversation = Path(result.case.graph_path).name.partition(".")[0].rpartition("_")[2]
    return Point(result.verdict.details.get("share", 0.0), kind, conversation, natural, result.is_right)


if __name__ == "__main__":
    main()
