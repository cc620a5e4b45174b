"""Remembers the values that memories and models gave to the application, to recognise them in later prompts.

An object is known by its identity while it is kept. A text that an application has formatted into a prompt is another
object, and is known by its characters. This match is a guess, and callers mark the edge as inferred.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from memtrace.identity import Variable
from memtrace.recent import Recent
from memtrace.scripts import HAN, SYLLABLES, letters
from memtrace.values import has_identity

Proof = Literal["text", "object", "nothing"]

SHORTEST = 12
"""Shortest text, in letters, that is recognised inside another text; "yes" could come from anywhere."""
_DENSE = f"[{HAN}{SYLLABLES}]"
_FEWEST = 4
"""A text of fewer than ``SHORTEST`` characters is found by this number of characters in a script of many letters."""

MAX_TEXTS = 20_000
MAX_BYTES = 32_000_000
MAX_SAME_BEGINNING = 200
MAX_SAME_TEXT = 64
MAX_SAME_TRACES = 5_000
MAX_SEARCHED = 5_000
MAX_SEARCHED_CHARACTERS = 400_000
MAX_DEPTH = 8

_BEGINNINGS = re.compile(r"\b\w|[^\x00-\x7f]")
"""Possible beginnings of a text inside another text: at a word, and anywhere in scripts without spaces."""

_KEYS = re.compile(rf"(?=(.{{{SHORTEST}}}))(?:[A-Za-z0-9_]+|[^\x00-\x7f])", re.DOTALL)
"""Finds the first characters at each possible beginning (and a few more) in one pass: most texts contain nothing
known."""
_DENSE_BEGINNING = re.compile(rf"(?=({_DENSE}.{{{_FEWEST - 1}}}))", re.DOTALL)

FEW = 32
"""Up to this number of known texts, searching for each text is faster than looking at each place of the new text."""

MAX_LOOKED_UP = 64
MAX_NEWEST = 32


_WHOLE = (str, bytes)


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """A value that an instrumented package gave to the application, or a question that the application asked.

    Attributes:
        value: the object, which is kept alive, so that Python does not reuse its identity.
        trace: the id of the trace that recorded the value.
        variable: the value's variable in the trace.
        proof: the evidence that a call with the value belongs to the trace: an equal ``text``, for a memory unit; only
            the same ``object``, for a model's reply, whose words others may get; ``nothing`` by itself, for a question,
            which others may ask.
        is_part: whether the value is only a part of the variable's value, such as one line of a reply.
    """

    value: object
    trace: str
    variable: Variable
    proof: Proof = "text"
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A text and all values with this text.

    Attributes:
        text: the text.
        skipped: number of characters before the first word.
        given: the values, by trace; in each trace the oldest first.
    """

    text: str
    skipped: int
    given: dict[str, list[Given]]

    @property
    def size(self) -> int:
        """An upper bound of the size in bytes."""
        return 64 + 4 * len(self.text)


class _Memory:
    """The values and texts that are recognised in this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.objects: Recent[int, Given] = Recent(MAX_TEXTS, MAX_BYTES, lambda given: 64 + sys.getsizeof(given.value))
        self.texts: Recent[str, list[Text]] = Recent(MAX_TEXTS, MAX_BYTES, lambda same: same[-1].size)
        """Texts by their first characters, for a fast look-up at each place of a long text."""
        self.changes = 0
        """Number of new texts so far."""
        self.newest: deque[str] = deque(maxlen=MAX_NEWEST)
        self.looked_up: Recent[str, tuple[int, list[Text]]] = Recent(MAX_LOOKED_UP)
        """Results of the newest searches, each with the number of changes at that moment: a call is searched to be
        placed and again to be recorded, and many prompts are sent again and again."""


_memory = _Memory()


def remember(given: Given, *, is_own: bool = False) -> None:
    """Recognise a value from now on. ``is_own``: the object was made for this value alone."""
    value = given.value
    if is_own or has_identity(value):
        _memory.objects.set(id(value), given)
    if not isinstance(value, str):
        return
    found = _key(value)
    if found is None:
        return
    start, key = found
    with _memory.lock:
        same = _memory.texts.get(key) or []
        for known in same:
            if known.text == value:
                _add(known.given, given)
                return
        same = [*same[1 - MAX_SAME_BEGINNING :], Text(value, start, {given.trace: [given]})]
        _memory.texts.set(key, same)
        _memory.newest.append(value)
        _memory.changes += 1


def _key(text: str) -> tuple[int, str] | None:
    """The beginning by which a text is found, and its place; None for a text that is too short."""
    begin = _BEGINNINGS.search(text)
    if begin is None:
        return None
    start = begin.start()
    if len(text) - start >= SHORTEST:
        return start, text[start : start + SHORTEST]
    dense = _DENSE_BEGINNING.search(text, start)
    if dense is None or letters(text) < SHORTEST:
        return None
    return dense.start(), dense[1]


def _add(known: dict[str, list[Given]], given: Given) -> None:
    here = known.pop(given.trace, [])  # put back at the end: the first trace is the least recently used
    if not here or here[-1].variable is not given.variable:
        here.append(given)
        del here[:-MAX_SAME_TEXT]
    known[given.trace] = here
    if len(known) > MAX_SAME_TRACES:
        del known[next(iter(known))]


def same_object(value: object) -> Given | None:
    """The record of an object that was given out; None if the object is unknown or forgotten."""
    given = _memory.objects.get(id(value))
    return given if given is not None and given.value is value else None


def traces_of(text: str) -> list[str]:
    """The traces that gave out a text."""
    found = _key(text)
    same = [] if found is None else _memory.texts.get(found[1]) or []
    return [trace for one in same if one.text == text for trace in list(one.given)]


def rename(trace: str, to: str) -> None:
    """Count what a trace gave out as given out by the trace of which the first has become a part."""
    with _memory.lock:
        for half in (_memory.texts.young, _memory.texts.old):
            for one in (one for same in list(half.values()) for one in same if trace in one.given):
                one.given[to] = [*one.given.get(to, ()), *one.given.pop(trace)][-MAX_SAME_TEXT:]


def inside(text: str) -> list[Text]:
    """The known texts inside a text, in the order of first occurrence.

    A text within a longer text at the same place is left out.
    """
    memory = _memory
    if letters(text) < SHORTEST or not len(memory.texts):
        return []
    changes = memory.changes
    known = memory.looked_up.get(text)
    if known is not None:
        if known[0] == changes:
            return known[1]
        found = known[1] if _has_no_newer(text, changes - known[0]) else _search(text)
    else:
        found = _search(text) if _may_have(text) else []
    memory.looked_up.set(text, (changes, found))
    return found


def _has_no_newer(text: str, count: int) -> bool:
    """Whether none of the newest ``count`` texts is inside a text."""
    if count > MAX_NEWEST:
        return False
    newest = list(_memory.newest)  # a copy: other threads append
    return not any(one in text for one in newest[-count:])


def _may_have(text: str) -> bool:
    """Whether a text contains the first characters of a known text; for most texts it does not."""
    texts = _memory.texts
    if len(texts) <= FEW:
        return any(key in text for key in [*texts.young, *texts.old])
    keys = set(_KEYS.findall(text, 0, MAX_SEARCHED_CHARACTERS))
    if not text.isascii():
        keys.update(_DENSE_BEGINNING.findall(text, 0, MAX_SEARCHED_CHARACTERS))
    # ``isdisjoint`` goes through its argument: a prompt has far fewer words than there are known texts.
    return not texts.young.keys().isdisjoint(keys) or not texts.old.keys().isdisjoint(keys)


def _search(text: str) -> list[Text]:
    found: dict[str, Text] = {}
    covered = 0
    for begin in _BEGINNINGS.finditer(text, 0, MAX_SEARCHED_CHARACTERS):
        place = begin.start()
        same = _memory.texts.get(text[place : place + SHORTEST]) or []
        short = [] if text[place] < "\x80" else _memory.texts.get(text[place : place + _FEWEST]) or []
        if not same and not short:
            continue
        both = (*same, *short)
        here = [one for one in both if one.skipped <= place and text.startswith(one.text, place - one.skipped)]
        if not here:
            continue
        longest = max(here, key=lambda one: len(one.text))
        end = place - longest.skipped + len(longest.text)
        if end > covered:
            found.setdefault(longest.text, longest)
            covered = end
    return list(found.values())


def leaves(value: object) -> Iterator[object]:
    """The value and all objects inside: elements of lists and dictionaries, and fields of pydantic models."""
    stack: list[tuple[object, int]] = [(value, 0)]
    left = MAX_SEARCHED
    while stack and left:
        item, depth = stack.pop()
        left -= 1
        yield item
        if isinstance(item, _WHOLE) or depth >= MAX_DEPTH:
            continue
        parts = item.values() if type(item) is dict else _parts(item)
        stack += [(one, depth + 1) for one in reversed(list(parts))]


def forget() -> None:
    """Forget everything."""
    global _memory  # noqa: PLW0603 (one recorder a process)
    _memory = _Memory()


if hasattr(os, "register_at_fork"):
    # A thread that does not exist in the child may hold the lock during the fork.
    os.register_at_fork(after_in_child=lambda: setattr(_memory, "lock", threading.Lock()))


def _parts(item: object) -> Iterable[object]:
    if isinstance(item, Mapping):
        return item.values()
    if isinstance(item, list | tuple | set | frozenset | deque):
        return item
    # Only plain fields: a property of an application's object could do anything.
    fields = getattr(item, "__dict__", None) if hasattr(type(item), "model_fields") else None
    return fields.values() if isinstance(fields, dict) else ()
