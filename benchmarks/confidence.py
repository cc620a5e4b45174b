"""Fits the scores of the rules to the share of right verdicts; writes ``attribution/verdicts/confidence.json``.

``python -m benchmarks.confidence --labelled GRAPHS LABELS [--labelled ...] [--chosen GRAPHS LABELS] --injected GRAPHS``

The failures of ``--labelled`` were drawn from all failures, the failures of ``--chosen`` from one kind of question:
``--chosen`` counts for the curve of this kind, but not for the threshold.

A curve has two parameters (Platt, "Probabilistic outputs for support vector machines", 1999). There is one for each
kind of question; similar kinds with few cases share a curve. Natural failures together weigh as much as injected ones.
The printed figures are cross-validated: each conversation is judged by curves that were fitted to the other
conversations. The last table has, for each set, the number of named verdicts and the share of right ones, with curves
and threshold fitted to all cases, to other conversations, and to other traces.
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

from attribution.benchmark.result import Result
from attribution.benchmark.risk import risk_of
from attribution.benchmark.run import run
from attribution.review.labels import Label, read_labels
from attribution.run import Options
from attribution.verdicts import probabilities
from attribution.verdicts.probabilities import logit
from schema.kinds import QuestionKind

_ENOUGH = 20
"""A kind of question has a curve of its own if it has at least this many cases, at least one of them wrong."""
_RIGHT = 0.9
"""With the default threshold, this share of the named verdicts must be right."""
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
    """One verdict: the rules' score, the kind of question, where the case is from, and whether the verdict is right."""

    share: float
    kind: QuestionKind
    conversation: str
    natural: bool
    right: bool
    trace: str = ""
    name: str = ""
    """The name of its set: of the file of labels, or of the folder."""
    random: bool = True
    """Whether the failure was drawn from all kinds of questions; only such failures count for the threshold."""


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
    slope = float(model.coef_[0][0])
    if slope < 0:
        # A verdict of which the rules are surer is never less likely: then their score says nothing.
        likely = sum(weight if one.natural else 1.0 for one in points if one.right)
        unlikely = sum(weight if one.natural else 1.0 for one in points if not one.right)
        return Curve(0.0, round(math.log(likely / unlikely), 4), len(points))
    return Curve(round(slope, 4), round(float(model.intercept_[0]), 4), len(points))


def validated(points: Sequence[Point]) -> list[tuple[Point, float]]:
    """Each verdict with the confidence that the curves of all other conversations give it."""
    found = []
    for conversation in sorted({one.conversation for one in points}):
        curves = fit([one for one in points if one.conversation != conversation])
        found += [(one, curves[one.kind].at(one.share)) for one in points if one.conversation == conversation]
    return found


def least(points: Sequence[Point], curves: dict[QuestionKind, Curve]) -> float:
    """The smallest confidence from which on that share of the failures that happened by themselves is right."""
    drawn = [one for one in points if one.natural and one.random]
    said = sorted(((curves[one.kind].at(one.share), one.right) for one in drawn), reverse=True)
    kept = len(said)
    while kept and sum(right for _, right in said[:kept]) < _RIGHT * kept:
        # Verdicts of the same confidence stay together.
        lowest = said[kept - 1][0]
        kept = sum(sure > lowest for sure, _ in said)
    return math.floor(said[kept - 1][0] * 1000) / 1000 if kept else 1.0


@dataclass(frozen=True, slots=True)
class Named:
    """How many verdicts of a set are at least as sure as the threshold, and how many of these are right."""

    cases: int
    named: int
    right: int

    def __str__(self) -> str:
        right = f"{self.right / self.named:.1%}" if self.named else "-"
        return f"{self.named} of {self.cases} named, {right} right"


def named_by_set(points: Sequence[Point], part_of: Callable[[Point], str] | None) -> dict[str, Named]:
    """What is named of each set by curves and threshold of the other parts; without parts, by those of all cases."""
    said: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for part in sorted({part_of(one) for one in points}) if part_of else [""]:
        own = [one for one in points if part_of is None or part_of(one) == part]
        others = [one for one in points if part_of is None or part_of(one) != part]
        curves = fit(others)
        threshold = least(others, curves)
        for one in own:
            said[one.name].append((curves[one.kind].at(one.share) >= threshold, one.right))
    return {
        name: Named(len(some), sum(sure for sure, _ in some), sum(sure and right for sure, right in some))
        for name, some in said.items()
    }


def main() -> None:
    """Fit, write, and print how well the curves do on conversations that they were not fitted to."""
    parser = argparse.ArgumentParser(description="Fit confidences to labelled failures.")
    parser.add_argument("--labelled", nargs=2, action="append", type=Path, required=True, metavar=("GRAPHS", "LABELS"))
    parser.add_argument("--injected", nargs="*", type=Path, default=[], metavar="GRAPHS")
    parser.add_argument("--chosen", nargs=2, action="append", type=Path, default=[], metavar=("GRAPHS", "LABELS"))
    given = parser.parse_args()
    points: list[Point] = []
    by_folder: dict[Path, list[Label]] = defaultdict(list)
    names: dict[tuple[str | None, str, str | None], str] = {}
    for folder, labels in [*given.labelled, *given.chosen]:
        for one in read_labels(labels):
            by_folder[folder].append(one.label)
            names[_key(one.label)] = labels.stem
    apart = {labels.stem for _, labels in given.chosen}
    for folder, known in by_folder.items():
        for result in asyncio.run(run(_graphs(folder), Options(min_confidence=0.0), labels=known)).results:
            name = names[_key(Label.model_validate(result.case.record))]
            points.append(_point(result, name, natural=True, random=name not in apart))
    for folder in given.injected:
        labelled = asyncio.run(run(_graphs(folder), Options(min_confidence=0.0))).results
        points += [_point(one, folder.name, natural=False, random=False) for one in labelled if one.case.label]
    curves = fit(points)
    document = {
        "curves": {kind: asdict(curve) for kind, curve in curves.items()},
        "least": least(points, curves),
    }
    place = Path(probabilities.__file__).with_name(probabilities.CURVES)
    place.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")
    _tell(validated(points), "all", lambda one: True)
    _tell(validated(points), "natural", lambda one: one.natural)
    fitted = named_by_set(points, None)
    conversations = named_by_set(points, lambda one: one.conversation)
    traces = named_by_set(points, lambda one: one.trace)
    for name, fit_to_all in fitted.items():
        print(f"{name}: fitted to all {fit_to_all}; to other conversations {conversations[name]}; ", end="")
        print(f"to other traces {traces[name]}")


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


def _key(label: Label) -> tuple[str | None, str, str | None]:
    return label.trace, label.query_id, label.prediction_id


def _point(result: Result, name: str, *, natural: bool, random: bool) -> Point:
    kind = result.verdict.question_kind or QuestionKind.PLAIN
    path = Path(result.case.graph_path)
    trace = path.name.partition(".")[0]
    conversation = trace.rpartition("_")[2]
    # Faults that were put into a trace go with it: they have a folder for each system.
    trace = trace if natural else f"{path.parent.name}_{trace}"
    share = result.verdict.details.get("share", 0.0)
    return Point(share, kind, conversation, natural, result.is_right, trace, name, random)


if __name__ == "__main__":
    main()
