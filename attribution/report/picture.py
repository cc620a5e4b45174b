"""The path of a case as boxes: message, fact, unit, answer, with the step that lost the fact."""

from __future__ import annotations

from dataclasses import dataclass

from attribution.report import words
from attribution.report.failure_report import CitedStep, FailureReport
from schema.kinds import ErrorType, VariableKind


@dataclass(frozen=True, slots=True)
class Box:
    """One variable on the way from the evidence to the answer.

    Attributes:
        by: the operation that led here from the previous box; empty if unknown.
        kind: the kind of the variable.
        name: the variable's label for people, without digests.
        about: the variable's ids.
        quote: the text about the fact.
        holds: whether the variable contains the fact.
        is_break: whether the fact was lost in this box.
    """

    by: str
    kind: str
    name: str
    about: str
    quote: str
    holds: bool
    is_break: bool = False

    @property
    def state(self) -> str:
        """Whether the variable contains the fact, in words."""
        if self.is_break:
            is_gold = self.kind == VariableKind.GOLD_ANSWER.value
            return "✕ says something else" if is_gold else "✕ the fact is lost here"
        return "has the fact" if self.holds else "does not have the fact"


def whole_path(case: FailureReport) -> list[Box]:
    """All boxes of a case: one for each step of the path, and one for the answer; empty if the verdict has no path.

    If every step of the path has the fact, the break is the answer, or the contradicting gold answer.
    """
    if not case.path:
        return []
    broken = broken_step(case)
    boxes = [_box(step, place == broken) for place, step in enumerate(case.path)]
    if not _has_answer(case):
        is_annotation = case.error_type is ErrorType.ANNOTATION
        boxes.append(_answer(case, is_annotation, broken is None and not is_annotation))
        if is_annotation:
            gold = " / ".join(case.gold_answers)
            boxes.append(Box("annotation", VariableKind.GOLD_ANSWER.value, "", "", gold, False, broken is None))
    return boxes


def broken_step(case: FailureReport) -> int | None:
    """The index of the step that lost the fact; None if every step of the path has it.

    Of several such steps, the blamed operation's step is taken, else the last.
    """
    lost = [place for place, step in enumerate(case.path) if place and not step.holds and case.path[place - 1].holds]
    blamed = [place for place in lost if case.operation and case.path[place].operation_id == case.operation.id]
    return max(blamed or lost, default=None)


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


def _has_answer(case: FailureReport) -> bool:
    answers = {VariableKind.ANSWER, VariableKind.RESPONSE}
    known = case.answer_external_id
    return any(step.kind in answers and known is not None and step.external_id == known for step in case.path)


def _answer(case: FailureReport, holds: bool, is_break: bool) -> Box:
    about = words.ids(case.answer_external_id, None)
    return Box("", VariableKind.ANSWER.value, "", about, case.prediction or "", holds, is_break)
