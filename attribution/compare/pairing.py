"""Finds the same question in two runs, by the source's id or by the text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Sequence
from typing import Protocol, TypeVar

MOST_CHARACTERS = 500
"""Texts of questions are compared by this many characters, ignoring spaces and capitals."""


class Question(Protocol):
    """A question that was asked in a trace."""

    @property
    def failure_id(self) -> str:
        """Unique within the run; the failure's id if the question failed."""
        ...

    @property
    def trace_external_id(self) -> str:
        """The external id of the trace."""
        ...

    @property
    def question_external_id(self) -> str | None:
        """The id that the source gave to the question."""
        ...

    @property
    def question(self) -> str:
        """The text of the question."""
        ...


Q = TypeVar("Q", bound=Question)


class Places:
    """The scope in which ids and texts of questions are unique: a trace that both runs cover, or all other traces."""

    def __init__(self, before: Collection[str], after: Collection[str]) -> None:
        """Take the external ids of the traces of both runs."""
        self._common = set(before) & set(after)

    def id(self, trace: str, external_id: str | None) -> Hashable:
        """The key of a question by its id; None without an id."""
        return None if external_id is None else (self._place(trace), external_id)

    def text(self, trace: str, question: str) -> Hashable:
        """The key of a question by its text."""
        return (self._place(trace), " ".join(question[:MOST_CHARACTERS].split()).casefold())

    def _place(self, trace: str) -> str | None:
        return trace if trace in self._common else None


def pairs(before: Sequence[Q], after: Sequence[Q], places: Places) -> list[tuple[Q | None, Q | None]]:
    """The same questions of two runs, in the order of the first run; then the questions of the second run only.

    The most certain matches go first: the same id and text; then an id that only one question of each run has, because
    some recorders count ids anew in each trace; then the text.
    """

    def id_of(case: Q) -> Hashable:
        return places.id(case.trace_external_id, case.question_external_id)

    def text_of(case: Q) -> Hashable:
        return places.text(case.trace_external_id, case.question)

    counts = [Counter(map(id_of, cases)) for cases in (before, after)]

    def own_id(case: Q) -> Hashable:
        known = id_of(case)
        return known if all(count[known] == 1 for count in counts) else None

    found: dict[str, Q] = {}
    left, others = list(before), list(after)
    for key in (lambda case: (id_of(case), text_of(case)), own_id, text_of):
        waiting: dict[Hashable, list[Q]] = defaultdict(list)
        for case in reversed(others):
            waiting[key(case)].append(case)
        for case in left:
            known = key(case)
            if known is not None and waiting.get(known):
                found[case.failure_id] = waiting[known].pop()
        taken = {case.failure_id for case in found.values()}
        left = [case for case in left if case.failure_id not in found]
        others = [case for case in others if case.failure_id not in taken]
    return [*((case, found.get(case.failure_id)) for case in before), *((None, case) for case in others)]
