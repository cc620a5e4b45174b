"""Chooses the occurrence of a value that is meant: the one that belongs to the same question as its consumer."""

from __future__ import annotations

from memtrace.context import question
from memtrace.identity import NO_QUESTIONS, Variable
from memtrace.steps import Step

_WRITERS = {"Extraction", "Update", "Deletion", "Initialization", "Segmentation", "Embedding"}


def choose(known: list[Variable], step: Step | None) -> Variable:
    """Choose which of the variables for which one object stands is meant here.

    An object that several readers returned stands for an occurrence of each of them. A consumer means the newest one
    that derives from one of its own questions. An operation that writes memory and has no question means the variable
    itself.
    """
    if len(known) == 1:
        return known[0]
    for variable in reversed(known):
        if step is not None and step.made(variable):
            return variable
    asked = step.asked if step is not None else NO_QUESTIONS
    if not asked:
        if step is not None and step.maker[1] in _WRITERS:
            return known[0]
        current = question.get()
        asked = frozenset((current,)) if current is not None else NO_QUESTIONS
    if not asked:
        return known[-1]
    return next((variable for variable in reversed(known[1:]) if variable.questions & asked), known[0])
