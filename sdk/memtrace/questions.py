"""Which occurrence of a value is meant: the one that answers the same question as its consumer."""

from __future__ import annotations

from memtrace.context import question
from memtrace.identity import NO_QUESTIONS, Variable
from memtrace.steps import Step

_WRITERS = {"Extraction", "Update", "Deletion", "Initialization", "Segmentation", "Embedding"}


def choose(known: list[Variable], step: Step | None) -> Variable:
    """Which of the variables that one object stands for is meant here.

    An object that readers gave back stands for an occurrence for each of them: a consumer means the newest that
    derives from a question of its own. What writes memory, and has no question of its own, means the thing itself.
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
