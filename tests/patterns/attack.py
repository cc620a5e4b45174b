"""Looks for an input on which a pattern takes more than linear time.

An attack is a beginning, a pump that is repeated, and an end on which the match fails. Pumps are made of the literals
and character classes of the pattern itself. The time at four times the length says how the cost grows: four times for
linear patterns, sixteen times for quadratic ones. Only ratios within one run are compared, never seconds.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from re import _constants as op
from re import _parser as parser
from typing import Any

from tests.patterns.collect import Use, is_anchored

_RUNGS = (20, 200, 2_000)
"""Repetitions of the pump: 20 show exponential patterns, which would not end at 200; 200 cubic ones; 2,000 the rest."""
_NOTICEABLE = 0.002
"""Seconds of the processor. What takes less at all rungs is linear: 16 million steps take longer on any machine."""
_GROWTH = 8
"""The least ratio of times at lengths 4 n and n that is called more than linear."""
_CATEGORIES = {
    op.CATEGORY_DIGIT: "1",
    op.CATEGORY_NOT_DIGIT: "a",
    op.CATEGORY_SPACE: " ",
    op.CATEGORY_NOT_SPACE: "a",
    op.CATEGORY_WORD: "a",
    op.CATEGORY_NOT_WORD: "-",
}
_REPEATS = frozenset({op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT})
_MOST_TOKENS = 12
_ENDS = ("", "\x00")


@dataclass(frozen=True)
class Attack:
    """An input on which a pattern takes more than linear time."""

    start: str
    pump: str
    end: str
    growth: float

    def text(self, times: int) -> str:
        """The input with the pump repeated."""
        return self.start + self.pump * times + self.end


def attack(use: Use) -> Attack | None:
    """The first attack that succeeds; None where none does."""
    if not _is_unbounded(_parsed(use.pattern)):
        return None  # a bounded number of steps at each place of a text
    tokens = _tokens(use.pattern)
    pumps = [*tokens, *("".join(pair) for pair in itertools.product(tokens, repeat=2))]
    for start in ("", *_beginnings(use.pattern)):
        for pump in pumps:
            for end in _ENDS:
                found = _try(use, Attack(start, pump, end, 0))
                if found is not None:
                    return found
    return None


def _is_unbounded(items: Any) -> bool:
    """Whether something is repeated without a limit."""
    for kind, value in items:
        if kind in _REPEATS and value[1] == op.MAXREPEAT:
            return True
        if any(_is_unbounded(part) for part in _parts(kind, value)):
            return True
    return False


def _parts(kind: Any, value: Any) -> list[Any]:
    """The patterns inside a part of a pattern."""
    if kind in _REPEATS:
        return [value[2]]
    if kind is op.SUBPATTERN:
        return [value[3]]
    if kind is op.BRANCH:
        return list(value[1])
    if kind in {op.ASSERT, op.ASSERT_NOT}:
        return [value[1]]
    return [value] if kind is op.ATOMIC_GROUP else []


def _try(use: Use, one: Attack) -> Attack | None:
    for rung in _RUNGS:
        took = _seconds(use, one.text(rung))
        if took < _NOTICEABLE:
            continue
        is_first = rung == _RUNGS[0]
        fewer, more = (rung - 4, rung + 4) if is_first else (rung // 4, 4 * rung)  # 2 to the power of 4 is 16, too
        if took < _GROWTH * _seconds(use, one.text(fewer)):
            continue
        growth = min(_ratio(use, one, rung, more) for _ in range(3))
        if growth > _GROWTH:
            return Attack(one.start, one.pump, one.end, growth)
    return None


def _ratio(use: Use, one: Attack, few: int, many: int) -> float:
    return _seconds(use, one.text(many)) / max(_seconds(use, one.text(few)), 1e-9)


def _seconds(use: Use, text: str) -> float:
    subject: Any = text.encode("latin-1", "replace") if isinstance(use.pattern.pattern, bytes) else text
    call = use.pattern.fullmatch if is_anchored(use) else use.pattern.search
    started = time.thread_time()
    if is_anchored(use) and "match" in use.methods:
        use.pattern.match(subject)
    elif is_anchored(use) or use.methods <= {"search"}:
        call(subject)
    else:
        for _ in use.pattern.finditer(subject):
            pass
    return time.thread_time() - started


def _tokens(pattern: re.Pattern[Any]) -> list[str]:
    """Literals and one character of each class of a pattern, and some that few patterns have."""
    found: dict[str, None] = {}
    for run in _runs(_parsed(pattern)):
        found.setdefault(run)
    singles = {character: None for run in found for character in run[:2]}
    return list(dict.fromkeys([*found, *singles, " ", "a", "1"]))[:_MOST_TOKENS]


def _parsed(pattern: re.Pattern[Any]) -> Any:
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    return parser.parse(pattern.pattern, flags)


def _runs(items: Any) -> Iterator[str]:
    """Runs of literals, and a character of each class, in the order of the pattern."""
    run = ""
    for kind, value in items:
        if kind is op.LITERAL:
            run += chr(value)
            continue
        if run:
            yield run
            run = ""
        yield from _of(kind, value)
    if run:
        yield run


def _of(kind: Any, value: Any) -> Iterator[str]:
    if kind is op.NOT_LITERAL:
        yield "a" if chr(value) != "a" else "b"
    elif kind is op.ANY:
        yield "a"
    elif kind is op.IN:
        yield from _members(value)
    else:
        for part in _parts(kind, value):
            yield from _runs(part)


def _members(items: Any) -> Iterator[str]:
    excluded = {chr(value) for kind, value in items if kind is op.LITERAL}
    if items and items[0][0] is op.NEGATE:
        yield next(one for one in 'a1 "x' if one not in excluded)
        return
    for kind, value in items[:6]:
        if kind is op.LITERAL:
            yield chr(value)
        elif kind is op.RANGE:
            yield chr(value[0])
        elif kind is op.CATEGORY:
            yield _CATEGORIES.get(value, "a")


def _beginnings(pattern: re.Pattern[Any]) -> list[str]:
    """Starts of the shortest text that the pattern matches, up to each of its unbounded repetitions."""
    found: list[str] = []
    _shortest(_parsed(pattern), "", found)
    return [one for one in dict.fromkeys(found) if one][:4]


def _shortest(items: Any, text: str, found: list[str]) -> str:
    for kind, value in items:
        if kind in _REPEATS:
            low, high, inner = value
            for _ in range(min(low, 40)):
                text = _shortest(inner, text, found)
            if high == op.MAXREPEAT:
                found.append(text)
                _shortest(inner, text, found)
        elif kind in {op.SUBPATTERN, op.ATOMIC_GROUP, op.BRANCH}:
            ways = [_shortest(part, text, found) for part in _parts(kind, value)]
            text = ways[0]
        elif kind is op.LITERAL:
            text += chr(value)
        elif kind not in {op.AT, op.ASSERT, op.ASSERT_NOT}:
            text += next(_of(kind, value), "")
    return text
