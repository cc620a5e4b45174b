"""A case as a row of boxes: message, fact, unit, answer, with the step at which the fact was lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attribution.report import words
from attribution.report.case import CitedStep, ReportedCase
from schema.kinds import ErrorType, VariableKind

MOST_BOXES = 8


@dataclass(frozen=True, slots=True)
class Box:
    """One thing on the way from the evidence to the answer.

    Attributes:
        by: the operation that led here from the box before; empty where none is known.
        kind: what it is.
        name: its name for people, without digests.
        about: its ids, for who looks closer.
        quote: what it says of the fact.
        holds: whether it has the fact.
        is_break: whether it is what the fact was lost in.
        skipped: boxes between the one before and this one that are not drawn.
    """

    by: str
    kind: str
    name: str
    about: str
    quote: str
    holds: bool
    is_break: bool = False
    skipped: int = 0

    @property
    def state(self) -> str:
        """Whether it has the fact, in words."""
        if self.is_break:
            return "✕ breaks here"
        return "has it" if self.holds else "without it"


def picture(case: ReportedCase) -> list[Box]:
    """The boxes of a case; none where its verdict has no path.

    What one operation made in several steps is one box: its last. Where the path has the fact to its end, the break is
    the answer, or the gold answer that says something else.
    """
    if not case.path:
        return []
    broken = broken_step(case)
    boxes = [_box(step, place == broken) for place, step in enumerate(case.path) if _is_shown(case.path, place)]
    if not _has_answer(case):
        is_annotation = case.error_type is ErrorType.ANNOTATION
        boxes.append(_answer(case, is_annotation, broken is None and not is_annotation))
        if is_annotation:
            gold = " / ".join(case.gold_answers)
            boxes.append(Box("annotation", VariableKind.GOLD_ANSWER.value, "", "", gold, False, broken is None))
    return _shortened(boxes)


def broken_step(case: ReportedCase) -> int | None:
    """The place in its path at which the fact was lost; None where the path has it to its end.

    Of several that of the blamed operation, else the last.
    """
    lost = [place for place, step in enumerate(case.path) if place and not step.holds and case.path[place - 1].holds]
    blamed = [place for place in lost if case.operation and case.path[place].operation_id == case.operation.id]
    return max(blamed or lost, default=None)


def _is_shown(path: Sequence[CitedStep], place: int) -> bool:
    """Whether a step is the last of those that one operation made alike, or the first of all."""
    if place in {0, len(path) - 1}:
        return True
    step, following = path[place], path[place + 1]
    return step.operation_id != following.operation_id or step.holds != following.holds


def _box(step: CitedStep, is_break: bool) -> Box:
    return Box(
        by=step.operation or "",
        kind=step.kind.value if step.kind else "",
        name=words.named(step),
        about=words.ids(step.external_id, step.variable_id),
        quote=step.quote,
        holds=step.holds,
        is_break=is_break,
    )


def _has_answer(case: ReportedCase) -> bool:
    answers = {VariableKind.ANSWER, VariableKind.RESPONSE}
    known = case.answer_external_id
    return any(step.kind in answers and known is not None and step.external_id == known for step in case.path)


def _answer(case: ReportedCase, holds: bool, is_break: bool) -> Box:
    about = words.ids(case.answer_external_id, None)
    return Box("", VariableKind.ANSWER.value, "", about, case.prediction or "", holds, is_break)


def _shortened(boxes: list[Box]) -> list[Box]:
    """The first boxes and the last, where they are too many."""
    extra = len(boxes) - MOST_BOXES
    if extra <= 0:
        return boxes
    last = boxes[extra + 2 :]
    return [*boxes[:2], replace(last[0], skipped=extra), *last[1:]]
