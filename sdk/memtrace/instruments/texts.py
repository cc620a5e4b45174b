"""Finds the known values inside a new text: templates copy texts, and the objects are lost.

A text is compared with the earlier texts of its trace, longest first. A known text inside a longer known text is not
found again.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable

from memtrace.identity import Questions, Variable
from memtrace.recent import Recent
from memtrace.scripts import is_word, letters, may_touch
from memtrace.steps import TraceState

SHORTEST = 3
"""Shortest known text, in letters."""
SHORT = 24
"""A text up to this length must stand alone: no letter or digit may be beside it."""
MAX_TEXTS = 2_000
MAX_BYTES = 16_000_000
MAX_ALIKE = 64

_TEXTS = "texts"
"""The name of the known texts in the notes of a trace."""


class KnownTexts:
    """Texts of a trace and the variables that have them; the least recently used ones are forgotten."""

    def __init__(self) -> None:
        self._texts: Recent[str, tuple[str, list[Variable]]] = Recent(MAX_TEXTS, MAX_BYTES, lambda one: len(one[0]))
        self._lock = threading.Lock()

    def add(self, text: str, variable: Variable) -> None:
        """Let a text stand for a variable."""
        text = text.strip()
        if letters(text) < SHORTEST:
            return
        with self._lock:
            known = self._texts.get(text)
            if known is None:
                self._texts.set(text, (text, [variable]))
                return
            if variable in known[1]:
                known[1].remove(variable)
            known[1].append(variable)
            if len(known[1]) > MAX_ALIKE:
                del known[1][0]

    def take_in(self, other: KnownTexts) -> None:
        """Add the texts of another trace whose variables belong to this trace now."""
        with other._lock:
            more = [*other._texts.old.values(), *other._texts.young.values()]
        for text, variables in more:
            for variable in variables:
                self.add(text, variable)

    def equal(self, text: str, asked: Questions) -> Variable | None:
        """The newest variable with this text, unless it belongs to other questions only."""
        with self._lock:
            known = self._texts.get(text.strip())
            return None if known is None else _newest(known[1], asked)

    def said(self, text: str, kinds: Collection[str]) -> Variable | None:
        """The newest variable of these kinds with this text, of any question."""
        with self._lock:
            known = self._texts.get(text.strip())
            return None if known is None else next((one for one in reversed(known[1]) if one.kind in kinds), None)

    def inside(
        self, text: str, asked: Questions, leave: Collection[Variable] = (), *, is_speech: bool = False
    ) -> list[Variable]:
        """The variables whose text is inside a new text, in the order of the places.

        Args:
            text: the new text.
            asked: ids of the new text's questions; variables that belong to other questions only are left out.
            leave: more variables to leave out.
            is_speech: whether a user may have said the new text: then it may mention a short text, as people mention a
                name, without being made from it.
        """
        with self._lock:
            kept = {**self._texts.old, **self._texts.young}
            known = [(one, list(variables)) for one, variables in kept.values()]
        found: list[tuple[int, Variable]] = []
        taken: list[tuple[int, int]] = []
        for one, variables in sorted(known, key=lambda pair: -len(pair[0])):
            if len(one) > len(text) or is_word(one):
                continue  # a single word could come from anywhere
            place = _place(one, text, taken)
            if place is None or (is_speech and _is_mentioned(one, text)):
                continue
            variable = _newest([item for item in variables if item not in leave], asked)
            if variable is None:
                continue
            found.append((place, variable))
            taken += _places(one, text)
        return [variable for _, variable in sorted(found, key=lambda pair: pair[0])]

    def around(self, text: str, asked: Questions, kinds: Collection[str]) -> Variable | None:
        """The newest variable of these kinds whose text contains ``text``, such as a longer reply."""
        text = text.strip()
        if letters(text) < SHORTEST:
            return None
        with self._lock:
            kept = {**self._texts.old, **self._texts.young}
            known = [(one, list(variables)) for one, variables in kept.values()]
        holders = [
            variable
            for one, variables in known
            if len(one) >= len(text) and _place(text, one, []) is not None
            for variable in variables
            if variable.kind in kinds
        ]
        return _newest(holders, asked)


def texts(trace: TraceState) -> KnownTexts:
    """The known texts of a trace."""
    known = trace.notes.get(_TEXTS)
    if known is None:
        known = trace.notes.setdefault(_TEXTS, KnownTexts())
    return known  # type: ignore[no-any-return]


def inside_of(trace: TraceState, given: Collection[Variable], text: str) -> list[Variable]:
    """The variables among the given ones whose text is inside a longer text."""
    known = trace.identities.texts_of(given) if given else []
    found = outermost((one for one, _ in known if len(one) < len(text) and stands_in(one, text)), text)
    return [variable for one in found for said, variable in known if said == one]


def stands_in(one: str, text: str) -> bool:
    """Whether ``one`` is inside ``text``; a short text must stand alone."""
    return letters(one) >= SHORTEST and bool(_places(one, text))


def outermost(parts: Iterable[str], text: str) -> list[str]:
    """The parts that are inside the text, without parts that only occur inside a longer part."""
    taken: list[tuple[int, int]] = []
    found = []
    for one in sorted(dict.fromkeys(parts), key=len, reverse=True):
        if one and _place(one, text, taken) is not None:
            found.append(one)
            taken += _places(one, text)
    return found


def _newest(variables: Iterable[Variable], asked: Questions) -> Variable | None:
    fitting = [one for one in variables if not one.questions or one.questions & asked]
    return max(fitting, key=lambda one: (bool(one.questions), one.order), default=None)


def _places(one: str, text: str) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []
    start = text.find(one)
    while start >= 0:
        if _stands_alone(one, text, start):
            places.append((start, start + len(one)))
        start = text.find(one, start + len(one))
    return places


def _place(one: str, text: str, taken: list[tuple[int, int]]) -> int | None:
    """The first place of ``one`` in the text that is not inside a ``taken`` range."""
    if one not in text:
        return None
    for start, end in _places(one, text):
        if not any(begin <= start and end <= stop for begin, stop in taken):
            return start
    return None


def _is_mentioned(one: str, text: str) -> bool:
    """Whether a short text stands only within sentences: after a word on the same line, as a name does."""
    befores = [text[:start].rstrip(" ")[-1:] for start, _ in _places(one, text)]
    return len(one) <= SHORT and all(before.isalnum() or before in {"'", "’"} for before in befores)


def _stands_alone(one: str, text: str, start: int) -> bool:
    if len(one) > SHORT:
        return True
    before, after = text[start - 1 : start], text[start + len(one) : start + len(one) + 1]
    return not (_is_joined(before, one[:1]) or _is_joined(one[-1:], after))


def _is_joined(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word, as far as the script tells."""
    return left.isalnum() and right.isalnum() and not may_touch(left) and not may_touch(right)
